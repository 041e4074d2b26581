"""Which parts of a query surely mean the same in Spark and in DuckDB, and how they are written in DuckDB."""

from lakeport.duckdb.rules.check import FUNCTIONS, checked
from lakeport.duckdb.rules.constructors import keep_field_names

__all__ = ["FUNCTIONS", "checked", "keep_field_names"]
