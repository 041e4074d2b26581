"""Partitions of a table: which ones a scan reads, their columns, and their definition. Driver side."""
