"""Completion of SQL and of commands."""
