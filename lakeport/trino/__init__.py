"""Trino's SQL translated into Spark's."""
