"""DuckDB as an engine over the catalogs: SQL in this process, with no Java."""
