"""RCFiles and SequenceFiles that are written. Executor side."""
