"""Tables read by other libraries: Polars and DuckDB, with what they push down."""
