"""Calls of a metastore: repeated where that is safe, counted, and shown as a table."""
