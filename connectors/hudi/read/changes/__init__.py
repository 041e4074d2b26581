"""Reads what writes changed in file groups. Executor side."""
