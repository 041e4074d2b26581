"""Values as bytes, many at a time. Executor side."""
