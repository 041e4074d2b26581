"""The queries of TPC-H, by Spark and by DuckDB."""
