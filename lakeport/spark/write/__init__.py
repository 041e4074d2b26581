"""Writing through Spark: the write side of its second interface for tables."""
