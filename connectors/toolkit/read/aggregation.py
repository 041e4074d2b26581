"""Aggregates of one range of a file: by its footer where that is exact, else by reading. Both sides.

Statistics are exact only for some types. Those of texts may be cut where the texts differ, those of floating-point
columns leave NaN out, and those of times are in other units and zones than the table's. So such columns are never
aggregated here, but for partition keys, whose texts in a file are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.handles import ColumnHandle
from connector_spi.optional.aggregation import AggregateFunction, AggregateKind, Aggregation
from connector_spi.page_source import PageSource
from connector_spi.predicate import Value
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.pruning import ColumnBounds
from connectors.toolkit.read.summary import RangeSummary

__all__ = ["AggregatedPageSource", "aggregated_columns", "file_columns", "is_aggregated_by_footers"]

_EMPTY = ColumnBounds(None, None, 0, 0)


def is_aggregated_by_footers(aggregation: Aggregation, keys: frozenset[ColumnHandle]) -> bool:
    """Whether footers of files may answer an aggregation.

    Args:
        aggregation: What is asked; only constants of files can be grouped by.
        keys: The table's columns that are constants of files, or whose values in a file are all the same as a rule:
            its partition keys.
    """
    if not all(key in keys and _is_exact(key.type, constant=True) for key in aggregation.keys):
        return False
    return all(_is_answered(function, keys) for function in aggregation.functions)


def aggregated_columns(aggregation: Aggregation) -> tuple[ColumnHandle, ...]:
    """The columns of the groups: of the keys, then of the functions."""
    types = [*(key.type for key in aggregation.keys), *(one.type for one in aggregation.functions)]
    return tuple(ColumnHandle(f"group_{number}", data_type) for number, data_type in enumerate(types))


def file_columns(aggregation: Aggregation, keys: frozenset[ColumnHandle]) -> tuple[ColumnHandle, ...]:
    """The columns of files that have to be known; each once."""
    asked = (function.column for function in aggregation.functions)
    return tuple(dict.fromkeys(column for column in asked if column is not None and column not in keys))


@dataclass(slots=True)
class AggregatedPageSource(PageSource):
    """One group of the rows of a range.

    Args:
        source: Gives the columns of ``file_columns``.
        aggregation: What is asked.
        columns: What to give, by names of ``aggregated_columns``.
        constants: Values of the partition keys, by name.
    """

    source: PageSource
    aggregation: Aggregation
    columns: tuple[ColumnHandle, ...]
    constants: Mapping[str, Value | None]
    _given: bool = False

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column.type) for column in self.columns])

    @property
    def completed_bytes(self) -> int:
        return self.source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        if self._given:
            raise StopIteration
        self._given = True
        counted = self._counted()
        found = self.source.summary(counted) if isinstance(self.source, FilePageSource) else None
        if found is None:
            found = _summary(self.source, counted)
        if self.aggregation.keys and not found.rows:
            return pa.RecordBatch.from_pylist([], schema=self.schema)
        values = [self.constants[key.name] for key in self.aggregation.keys]
        values += [self._value(function, found) for function in self.aggregation.functions]
        by_name = dict(zip((column.name for column in aggregated_columns(self.aggregation)), values, strict=True))
        arrays = [pa.array([by_name[column.name]], column.type) for column in self.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def close(self) -> None:
        self.source.close()

    def _counted(self) -> frozenset[ColumnHandle]:
        """The columns of which no least or greatest value is asked."""
        functions = self.aggregation.functions
        bounded = {function.column for function in functions if function.kind is not AggregateKind.COUNT}
        return frozenset(function.column for function in functions if function.column is not None) - bounded

    def _value(self, function: AggregateFunction, found: RangeSummary) -> Value | None:
        if function.column is None:
            return found.rows
        name = function.column.name
        if name in self.constants:
            value = self.constants[name]
            rows = 0 if value is None else found.rows
            bounds = ColumnBounds(value if rows else None, value if rows else None, found.rows - rows, found.rows)
        else:
            bounds = found.columns[name]
        if function.kind is AggregateKind.COUNT:
            return found.rows - (bounds.null_count or 0)
        return bounds.low if function.kind is AggregateKind.MIN else bounds.high


def _is_answered(function: AggregateFunction, keys: frozenset[ColumnHandle]) -> bool:
    if function.column is None:
        return True
    if function.kind is AggregateKind.COUNT:
        return not pa.types.is_nested(function.column.type)
    if function.kind in (AggregateKind.MIN, AggregateKind.MAX):
        return _is_exact(function.column.type, constant=function.column in keys)
    return False


def _is_exact(data_type: pa.DataType, *, constant: bool) -> bool:
    types = pa.types
    tests = (types.is_boolean, types.is_signed_integer, types.is_date32, types.is_decimal)
    return any(test(data_type) for test in tests) or (constant and bool(types.is_string(data_type)))


def _summary(batches: Iterable[pa.RecordBatch], counted: frozenset[ColumnHandle]) -> RangeSummary:
    only_counted = {column.name for column in counted}
    rows, columns = 0, dict[str, ColumnBounds]()
    for batch in batches:
        rows += batch.num_rows
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            columns[name] = columns.get(name, _EMPTY).union(_bounds(column, counted=name in only_counted))
    return RangeSummary(rows, _Known(columns))


class _Known(dict[str, ColumnBounds]):
    """Nothing is known to be in a column of which no batch came."""

    def __missing__(self, name: str) -> ColumnBounds:
        return _EMPTY


def _bounds(column: pa.Array, *, counted: bool) -> ColumnBounds:
    if counted:
        return ColumnBounds(None, None, column.null_count, len(column))
    low, high = (cast(Value | None, bound.as_py()) for bound in pc.min_max(column).values())
    return ColumnBounds(low, high, column.null_count, len(column))
