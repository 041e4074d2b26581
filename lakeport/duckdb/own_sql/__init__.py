"""Queries in DuckDB's own SQL, over the tables of the catalogs alone."""
