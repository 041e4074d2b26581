"""Spark's servers for JDBC and Spark Connect over the catalogs (ADR 16)."""
