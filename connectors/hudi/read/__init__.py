"""Reads file slices: base files, logs, bootstraps, evolved columns. Executor side."""
