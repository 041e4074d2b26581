"""Avro files that are written. Executor side."""
