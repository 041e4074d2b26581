"""Hive's JSON SerDes. Executor side."""
