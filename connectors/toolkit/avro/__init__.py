"""Avro records as Arrow arrays. Executor side."""
