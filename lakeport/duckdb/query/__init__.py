"""Parsed queries: the tables, columns and parameters that they name, and the same in DuckDB's SQL."""
