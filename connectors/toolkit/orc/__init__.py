"""ORC files as record batches. Executor side."""
