"""Tables in other libraries: Polars and DuckDB, with pushdown of columns, filters and limits."""
