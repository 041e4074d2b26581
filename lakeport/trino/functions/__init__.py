"""Functions, operators and casts of Trino in Spark's words."""

from lakeport.trino.functions.table import FUNCTION_RULES, SAME_FUNCTIONS, SAME_NAMES

__all__ = ["FUNCTION_RULES", "SAME_FUNCTIONS", "SAME_NAMES"]
