"""Filters of reads with no Spark: their forms, and what they need of a table."""
