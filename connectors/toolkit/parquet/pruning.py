"""Which row groups of a Parquet file to read, by their statistics. Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain, Value
from connectors.toolkit.parquet.footer import leaf_starts
from connectors.toolkit.parquet.value_order import keeps_order
from connectors.toolkit.read.pruning import ColumnBounds, may_match
from connectors.toolkit.schema.file_types import FileTypes
from connectors.toolkit.schema.time_conventions import TimeConventions

__all__ = ["RowGroupStatistics"]

_GREGORIAN_START = date(1582, 10, 15)
_UNCUT = ("BOOLEAN", "INT32", "INT64")
_VALUES = {
    pa.bool_().id: bool,
    pa.int8().id: int,
    pa.int16().id: int,
    pa.int32().id: int,
    pa.int64().id: int,
    pa.date32().id: date,
    pa.decimal128(1).id: Decimal,
}
"""Types whose statistics are exact, and what they are in Python."""


class RowGroupStatistics:
    """The statistics of a file's row groups.

    Args:
        metadata: The file's footer.
        types: Its columns.
    """

    def __init__(self, metadata: pq.FileMetaData, types: FileTypes) -> None:
        self._metadata = metadata
        self._types = types
        self._leaves = leaf_starts(types.schema)

    def matching(self, groups: Sequence[int], predicate: TupleDomain[ColumnHandle]) -> list[int]:
        """The row groups that may hold rows of the predicate; all of them on doubt."""
        return [group for group in groups if self._may_match(self._metadata.row_group(group), predicate)]

    def exact_bounds(self, group: int, column: ColumnHandle) -> ColumnBounds | None:
        """The least and the greatest value of a column in a row group, and its NULLs; ``None`` on any doubt.

        Only of integers, dates and decimals that are stored as integers, and of booleans: their statistics are never
        cut. Bounds that are ``None`` say that there is no value.
        """
        row_group, position = self._metadata.row_group(group), self._types.position(column.name)
        rows = int(row_group.num_rows)
        if position is None:
            return ColumnBounds(None, None, rows, rows)
        source = self._types.schema.field(position).type
        leaf = self._metadata.schema.column(self._leaves[position])
        chunk = row_group.column(self._leaves[position])
        is_flat = not pa.types.is_nested(source) and leaf.max_repetition_level == 0 and leaf.max_definition_level <= 1
        statistics = chunk.statistics
        if not is_flat or chunk.num_values != rows or statistics is None or not statistics.has_null_count:
            return None
        nulls = int(statistics.null_count)
        if not 0 <= nulls <= rows:
            return None
        if nulls == rows or not _has_exact_type(column.type):
            return ColumnBounds(None, None, nulls, rows)
        if source != column.type or leaf.physical_type not in _UNCUT or not statistics.has_min_max:
            return None
        found = _bounds(chunk, rows, source, column.type, self._types.conventions)
        values = (found.low, found.high)
        return found if all(type(value) is _VALUES[source.id] for value in values) else None

    def _may_match(self, row_group: pq.RowGroupMetaData, predicate: TupleDomain[ColumnHandle]) -> bool:
        schema = self._types.schema
        for column, domain in dict(predicate.domains or {}).items():
            position = self._types.position(column.name)
            if position is None:
                bounds = ColumnBounds(None, None, row_group.num_rows, row_group.num_rows)
            elif pa.types.is_nested(schema.field(position).type):
                continue
            else:
                chunk, source = row_group.column(self._leaves[position]), schema.field(position).type
                bounds = _bounds(chunk, row_group.num_rows, source, domain.type, self._types.conventions)
            if not may_match(domain, bounds):
                return False
        return True


def _bounds(
    chunk: pq.ColumnChunkMetaData, rows: int, source: pa.DataType, target: pa.DataType, conventions: TimeConventions
) -> ColumnBounds:
    """Bounds of the values as the table shows them."""
    statistics = chunk.statistics
    if statistics is None or not keeps_order(source, target):
        return ColumnBounds()
    nulls = statistics.null_count if statistics.has_null_count else None
    if not statistics.has_min_max:
        return ColumnBounds(None, None, nulls, rows)
    try:
        low, high = (_as_target(value, target) for value in (statistics.min, statistics.max))
    except (ValueError, OverflowError, ArithmeticError, NotImplementedError, pa.ArrowException):
        return ColumnBounds(None, None, nulls, rows)
    hybrid = conventions.hybrid_dates if pa.types.is_date(source) else conventions.legacy_instants
    if hybrid and _before_gregorian(low):
        return ColumnBounds(None, None, nulls, rows)
    return ColumnBounds(low, high, nulls, rows)


def _as_target(value: object, target: pa.DataType) -> Value:
    if pa.types.is_floating(target):
        return float(value)  # type: ignore[arg-type]  # a number, by keeps_order
    if isinstance(value, datetime):
        if target.tz is None:
            return value.replace(tzinfo=None)
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return value  # type: ignore[return-value]  # of the target's kind, by keeps_order


def _before_gregorian(low: Value) -> bool:
    if isinstance(low, datetime):
        return low.date() < _GREGORIAN_START
    return isinstance(low, date) and low < _GREGORIAN_START


def _has_exact_type(data_type: pa.DataType) -> bool:
    return data_type.id in _VALUES
