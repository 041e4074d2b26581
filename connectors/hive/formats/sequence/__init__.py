"""SequenceFile. Executor side."""
