"""What is counted of the columns of a file while it is written. Both sides."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from connector_spi.predicate import Value
from connector_spi.serializable import Serializable
from connectors.hive.schema.counted_types import has_statistics, is_text
from connectors.hive.write.statistics.distinct_values import DistinctCounter, DistinctValues

__all__ = ["MOST_PARTITIONS", "FileStatistics", "WrittenColumn", "has_written_statistics"]

_LOG = logging.getLogger(__name__)
_FEW_ROWS = 256
"""Rows of a file whose values are kept themselves: for so few nothing is imported that hashes."""
MOST_PARTITIONS = 200
"""Partitions of one write whose statistics are set: each is a call of some milliseconds."""


def has_written_statistics(kind: pa.DataType) -> bool:
    """Whether a metastore keeps statistics of a column of this type; none of times with a zone, nor of nested ones."""
    if pt.is_timestamp(kind) and kind.tz is not None:
        return False
    return has_statistics(kind)


@dataclass(frozen=True, slots=True)
class WrittenColumn(Serializable):
    """What was counted of one column of a file.

    Attributes:
        name: Of the column.
        nulls: NULLs.
        is_null: No row has a value.
        low: Smallest value of numbers and times; ``None`` where there is none, or some are NaN.
        high: Largest value, likewise.
        text_bytes: Bytes of all texts together.
        max_length: Most bytes of a text.
        true_count: True values of a boolean.
        distinct: Different values; ``None`` for booleans and binary.
    """

    name: str
    nulls: int
    is_null: bool
    low: Value | None = None
    high: Value | None = None
    text_bytes: int | None = None
    max_length: int | None = None
    true_count: int | None = None
    distinct: DistinctValues | None = None

    def cut(self, most: int) -> WrittenColumn:
        """With no more hashes than ``most``."""
        return self if self.distinct is None else replace(self, distinct=self.distinct.cut(most))


class FileStatistics:
    """Counts the columns of one file. No write fails by it: where values cannot be counted, nothing is known.

    Args:
        columns: Names of the columns.
        path: The file, for messages.
    """

    def __init__(self, columns: Sequence[str], path: str) -> None:
        self._columns = [_Column(name) for name in columns]
        self._names = list(columns)
        self._path = path
        self._waiting: list[pa.Table] | None = []

    def add(self, rows: pa.Table) -> None:
        """Counts rows of the file."""
        if self._columns:
            with self._forgetting():
                self._add(rows)

    def result(self) -> tuple[WrittenColumn, ...]:
        """What was counted, of all columns; none where there were no rows, or they could not be counted."""
        found: tuple[WrittenColumn, ...] = ()
        with self._forgetting():
            found = self._result()
        return found

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            _LOG.warning(
                "the columns of %s have no statistics, since its values cannot be counted: %s", self._path, error
            )
            self._columns, self._waiting = [], []

    def _add(self, rows: pa.Table) -> None:
        if self._waiting is not None:
            self._waiting.append(rows.select(self._names))
            if sum(some.num_rows for some in self._waiting) <= _FEW_ROWS:
                return
            rows, self._waiting = pa.concat_tables(self._waiting), None
        for column in self._columns:
            column.add(rows.column(column.name))

    def _result(self) -> tuple[WrittenColumn, ...]:
        if not self._waiting:
            return tuple(column.result() for column in self._columns) if self._waiting is None else ()
        rows = pa.concat_tables(self._waiting)
        return tuple(column.of_few(rows.column(column.name)) for column in self._columns)


class _Column:
    """Counts one column."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._nulls = 0
        self._rows = 0
        self._bounds: list[tuple[Value, Value] | None] = []
        self._text_bytes: int | None = None
        self._max_length: int | None = None
        self._true_count: int | None = None
        self._distinct: DistinctCounter | None = None

    def add(self, column: pa.ChunkedArray) -> None:
        self._count(column)
        if _has_distinct(column.type):
            self._distinct = self._distinct or DistinctCounter()
            self._distinct.add(column)

    def of_few(self, column: pa.ChunkedArray) -> WrittenColumn:
        self._count(column)
        return replace(self.result(), distinct=DistinctValues.of_few(column) if _has_distinct(column.type) else None)

    def result(self) -> WrittenColumn:
        known = [bounds for bounds in self._bounds if bounds is not None]
        low, high = None, None
        if known and len(known) == len(self._bounds):
            # All are of one type.
            low, high = min(one[0] for one in known), max(one[1] for one in known)
        distinct = None if self._distinct is None else self._distinct.result()
        return WrittenColumn(
            self.name,
            self._nulls,
            self._nulls == self._rows,
            low,
            high,
            text_bytes=self._text_bytes,
            max_length=self._max_length,
            true_count=self._true_count,
            distinct=distinct,
        )

    def _count(self, column: pa.ChunkedArray) -> None:
        self._rows += len(column)
        self._nulls += column.null_count
        if pt.is_boolean(column.type):
            self._true_count = (self._true_count or 0) + (pc.sum(column).as_py() or 0)
        elif is_text(column.type):
            lengths = pc.binary_length(column)
            self._text_bytes = (self._text_bytes or 0) + (pc.sum(lengths).as_py() or 0)
            self._max_length = max(self._max_length or 0, pc.max(lengths).as_py() or 0)
        elif column.null_count < len(column):
            self._bounds.append(_bounds(column))


def _has_distinct(kind: pa.DataType) -> bool:
    return not (pt.is_boolean(kind) or pt.is_binary(kind) or pt.is_large_binary(kind))


def _bounds(column: pa.ChunkedArray) -> tuple[Value, Value] | None:
    """The least and the greatest value; NaN has no place in an order."""
    if pt.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        return None
    # Nanoseconds have no place in Python's times; the metastore keeps seconds.
    found = pc.min_max(column.cast(pa.timestamp("us"), safe=False) if pt.is_timestamp(column.type) else column)
    try:
        return found["min"].as_py(), found["max"].as_py()
    except (ValueError, OverflowError):
        # Python has no year above 9999.
        return None
