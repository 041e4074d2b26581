"""From record batches to files. Executor side."""
