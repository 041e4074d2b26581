"""Parquet files as record batches. Executor side."""
