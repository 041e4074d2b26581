"""Rows into tables with no Spark, and what Spark's writes share with that."""
