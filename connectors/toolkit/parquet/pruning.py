"""Which row groups of a Parquet file to read, by their statistics. Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import ColumnReference, Reference, TupleDomain, Value
from connectors.toolkit.parquet.footer import leaf_starts
from connectors.toolkit.parquet.value_order import keeps_order
from connectors.toolkit.read.pruning import ColumnBounds, may_match
from connectors.toolkit.schema.column_sources import find_column
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
    pa.string().id: str,
}
"""Types whose statistics may be exact, and what they are in Python."""


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
        return [group for group in groups if self._may_match(group, predicate)]

    def bounds(self, group: int, reference: Reference, data_type: pa.DataType) -> ColumnBounds:
        """What is known of a column, or of a field of structs, in a row group.

        Args:
            group: The row group.
            reference: The column or field; fields are found by name.
            data_type: The table's type of it.
        """
        row_group, position = self._metadata.row_group(group), self._types.position(reference.column.name)
        rows = int(row_group.num_rows)
        if position is None:
            return ColumnBounds(None, None, rows, rows)
        source, leaf = self._types.schema.field(position).type, self._leaves[position]
        for name in reference.path:
            at = find_column(pa.schema(list(source)), name) if pa.types.is_struct(source) else None
            if at is None:
                return ColumnBounds()
            source, leaf = source[at].type, leaf_starts(list(source), leaf)[at]
        if pa.types.is_nested(source):
            return ColumnBounds()
        chunk = row_group.column(leaf)
        found = _bounds(chunk, rows, source, data_type, self._types.conventions)
        return self._of_field(found, leaf, chunk) if reference.path else found

    def exact_bounds(self, group: int, column: ColumnHandle, *, counted: bool) -> ColumnBounds | None:
        """The least and the greatest value of a column in a row group, and its NULLs; ``None`` on any doubt.

        Of integers, dates and decimals that are stored as integers, and of booleans: their statistics are never cut.
        Of texts that are all the same: a bound that is cut is below or above them, so the two are not equal.

        Args:
            group: The row group.
            column: The column.
            counted: Whether its NULLs are all that is asked; bounds say nothing then. Else bounds that are ``None``
                say that there is no value.
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
        if nulls == rows or counted:
            return ColumnBounds(None, None, nulls, rows)
        if source != column.type or source.id not in _VALUES or not statistics.has_min_max:
            return None
        found = _bounds(chunk, rows, source, column.type, self._types.conventions)
        if not all(type(value) is _VALUES[source.id] for value in (found.low, found.high)):
            return None
        return found if leaf.physical_type in _UNCUT or found.low == found.high else None

    def _may_match(self, group: int, predicate: TupleDomain[ColumnHandle]) -> bool:
        domains = dict(predicate.domains or {})
        return all(
            may_match(domain, self.bounds(group, ColumnReference(column), domain.type))
            for column, domain in domains.items()
        )

    def _of_field(self, found: ColumnBounds, leaf: int, chunk: pq.ColumnChunkMetaData) -> ColumnBounds:
        """Of a field: not every writer counts the rows whose struct is NULL, so few NULLs say nothing."""
        rows, nulls = found.row_count, found.null_count
        if rows is None or self._metadata.schema.column(leaf).max_repetition_level or chunk.num_values != rows:
            return ColumnBounds()
        return replace(found, null_count=nulls if nulls is not None and nulls >= rows else None)


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
