"""Merging base files with logs: which row of a key is the newest. Pure functions on Arrow (invariant I6)."""
