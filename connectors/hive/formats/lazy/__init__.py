"""Hive's LazySimple, LazyBinary and multi-delimiter SerDes. Executor side."""
