"""Views of rows that come as Arrow, of which DuckDB does not know how many there are."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

import pyarrow as pa

from connector_spi.metadata import SupportsStatistics
from connector_spi.statistics import TableStatistics
from lakeport.duckdb.kinds import column_type_name
from lakeport.planning.scan_plan import ScanPlan, plan_splits
from lakeport.plugin_errors import table_words

__all__ = ["KeptEstimates", "estimated_rows", "sized_view"]

# Compressed, in the mean of many columns; what counts is which of two tables is larger.
_BYTES_OF_VALUE = 2
# DuckDB expects a fifth of the rows where it does not know what a filter passes.
_FACTOR, _PASSED = 1000, 5
_MOST_KEPT, _KEPT_SECONDS = 512, 60.0


class KeptEstimates:
    """How many rows tables have, for a minute: only how DuckDB joins them depends on it. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()

    def of(self, table: Hashable, make: Callable[[], int]) -> int:
        """The rows of a table, which are estimated where that was not done lately."""
        now = time.monotonic()
        with self._lock:
            made, rows = self._kept.get(table, (now - _KEPT_SECONDS, 0))
        if now - made < _KEPT_SECONDS:
            return rows
        rows = make()
        with self._lock:
            self._kept[table] = now, rows
            self._kept.move_to_end(table)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return rows


def estimated_rows(plan: ScanPlan, columns: int) -> int:
    """About how many rows a scan has, of a table with so many columns.

    Raises:
        ConnectorError: The catalog or its storage failed.
    """
    access = plan.access
    known = TableStatistics()
    if isinstance(access.metadata, SupportsStatistics):
        with access.lock.asking(f"estimate the rows of table {table_words(plan.table)}"):
            known = access.metadata.get_table_statistics(access.session, plan.table)
    if known.row_count is not None:
        return int(known.row_count)
    size = plan_splits(plan).size_bytes if known.size_bytes is None else known.size_bytes
    return size // (_BYTES_OF_VALUE * max(columns, 1))


def sized_view(view: str, schema: pa.Schema, rows: int) -> str:
    """A query that gives the rows of a view, and has DuckDB expect so many of them.

    It takes an Arrow stream for one row, and would keep the largest table of a join in memory, to look the smallest one
    up in it. The second part of the query has no rows, which DuckDB cannot know, and is over before it begins.
    """
    if any("VARIANT" in column_type_name(field.type) for field in schema):
        return f"SELECT {', '.join(map(_quoted, schema.names))} FROM {view}"  # NULLs of such types cannot be written
    nothing = ", ".join(f"CASE WHEN a.i < -1 THEN {null} ELSE {null} END" for null in map(_null, schema))
    width = max(1, rows * _PASSED // _FACTOR)
    return (
        f"SELECT {', '.join(map(_quoted, schema.names))} FROM {view} UNION ALL SELECT {nothing}"
        f" FROM range({_FACTOR}) AS a(i), range({width}) AS b(i) WHERE a.i < 0"
    )


def _null(field: pa.Field) -> str:
    return f"CAST(NULL AS {column_type_name(field.type)})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
