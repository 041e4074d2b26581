"""The read of one file range: what is asked, pruning, late materialization. Executor side."""
