"""Compressed files and blocks, Hadoop's among them. Executor side."""
