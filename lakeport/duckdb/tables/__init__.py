"""Tables of a query as DuckDB reads them: as Arrow, or their Parquet files."""
