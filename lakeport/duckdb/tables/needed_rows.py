"""The rows of a table that a query needs at most."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connector_spi.errors import ConnectorError
from lakeport.arrow.filters.column_names import FindColumn
from lakeport.arrow.filters.conditions import RowTest
from lakeport.arrow.filters.expression_filter import row_filters
from lakeport.arrow.filters.pruning import EVERY_ROW, both

__all__ = ["needed_rows"]


def needed_rows(conditions: Sequence[str], known: pa.Schema, find: FindColumn) -> RowTest:
    """The rows for which conditions may be true; one that is not understood keeps all rows.

    Args:
        conditions: In Spark's SQL. DuckDB checks them anyway.
        known: The columns that they may name.
        find: Finds a column by its name in any letters.
    """
    needed: RowTest = EVERY_ROW
    for condition in conditions:
        try:
            found = row_filters((condition,), known, find)
        except ConnectorError:
            continue
        for rows in found:
            needed = both(needed, rows.needed)
    return needed
