"""Aggregates."""

from lakeport.duckdb.rules.aggregates.chosen import CHOSEN
from lakeport.duckdb.rules.aggregates.groups import GROUPS
from lakeport.duckdb.rules.aggregates.lists import LISTS
from lakeport.duckdb.rules.aggregates.sums import SUMS, typed_average

__all__ = ["CHOSEN", "GROUPS", "LISTS", "SUMS", "typed_average"]
