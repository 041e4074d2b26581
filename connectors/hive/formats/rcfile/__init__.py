"""RCFile. Executor side."""
