"""Rows as lines of texts, as Hive's SerDes write them. Executor side."""
