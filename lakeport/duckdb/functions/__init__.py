"""Functions of Spark by their names: what they take, what they give, and the same in DuckDB's SQL."""

from lakeport.duckdb.functions.called import FUNCTION_NAMES, call_checked, call_rewritten
from lakeport.duckdb.functions.used_macros import UsedMacros

__all__ = ["FUNCTION_NAMES", "UsedMacros", "call_checked", "call_rewritten"]
