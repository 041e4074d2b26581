"""Late materialization: the columns of a filter are decoded first, the other ones for the rows that pass.

Executor side.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.open_file import ColumnarFile, FileColumns
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.read.stages import Rows, adapted
from connectors.toolkit.schema.schema_adapter import SchemaAdapter

__all__ = ["FilterColumns", "decode_late", "domain_mask"]

_MANY_RANGES = 32
_FEW_PARTS = 2
# Above this part of rows, decoding in two steps costs more than it saves.
_SELECTIVE = 0.5


def decode_late(file: ColumnarFile, rows: Iterator[FileRows]) -> Rows:
    """Decodes and adapts the rows that a reader sees and that pass the predicate; all rows that a reader sees where
    leaving others out costs more than it saves.

    Of a stripe or row group in which no row passes, only the columns of the predicate are touched.
    """
    steps: _TwoSteps | None = None
    for number, part in enumerate(rows):
        if number == 0:
            steps = _two_steps(file)
        if steps is not None and steps.filter.useful:
            yield from _late_rows(file.read, part, steps)
        else:
            yield from _all_rows(file, part)


class FilterColumns:
    """Which columns of a predicate to decode first, and which rows they let pass. Rows outside of it may pass.

    Args:
        columns: Columns that are read.
        predicate: Of these and other columns, in the values that reading gives.

    Attributes:
        first: Columns of the predicate, to be decoded first.
        rest: The other ones.
    """

    def __init__(self, columns: Sequence[ColumnHandle], predicate: TupleDomain[ColumnHandle]) -> None:
        domains = dict(predicate.domains or {})
        # A list of many values is made an array once.
        self._tests = {column: _test(domains[column]) for column in columns if _can_mask(domains.get(column))}
        self.first = tuple(column for column in columns if column in self._tests)
        self.rest = tuple(column for column in columns if column not in self._tests)
        self._parts = self._rows = self._kept = 0

    @property
    def useful(self) -> bool:
        """Whether decoding in two steps can save something, also by what was seen of the file so far."""
        if not self.first or not self.rest:
            return False
        return self._parts < _FEW_PARTS or self._kept <= self._rows * _SELECTIVE

    def seen(self, rows: int, kept: int) -> None:
        """Notes what was kept of a stripe or row group."""
        self._parts += 1
        self._rows += rows
        self._kept += kept

    def mask(self, arrays: Mapping[str, pa.Array]) -> pa.BooleanArray | None:
        """Which rows pass, by the columns ``first`` in the table's types; ``None`` without such columns."""
        masks = [self._tests[column](arrays[column.name]) for column in self.first]
        return functools.reduce(pc.and_, masks) if masks else None


def domain_mask(array: pa.Array, domain: Domain) -> pa.BooleanArray:
    """Whether each value may be in a domain; never NULL.

    Args:
        array: Of the domain's type.
        domain: Not of a nested type.
    """
    return _test(domain)(array)


@dataclass(frozen=True, slots=True)
class _TwoSteps:
    filter: FilterColumns
    first: FileColumns
    rest: FileColumns


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The rows of a stripe or row group to give.

    Attributes:
        arrays: Their values in the columns of the first step.
        positions: Their positions, ascending; ``None`` for all rows.
        few: They are so few that other columns are adapted for them alone.
    """

    arrays: Mapping[str, pa.ChunkedArray]
    positions: npt.NDArray[np.int64] | None
    few: bool

    def of(self, rows: FileRows, offset: int) -> FileRows:
        """Those of some rows of the part, of which the first is at ``offset``."""
        if self.positions is None:
            return rows
        low, high = np.searchsorted(self.positions, (offset, offset + rows.count)).tolist()
        return rows.take(self.positions[low:high] - offset)

    def adapted(self, decoded: FileRows, offset: int, adapter: SchemaAdapter, read: FileRead) -> Iterator[FileRows]:
        """Those of some decoded rows, in the table's types."""
        if self.few:
            yield from adapted(self.of(decoded, offset), adapter, read)
            return
        for rows in adapted(decoded, adapter, read):
            yield self.of(rows, offset)
            offset += rows.count


def _two_steps(file: ColumnarFile) -> _TwoSteps | None:
    """What to decode in which step; ``None`` where columns cannot be decoded apart."""
    chosen = FilterColumns(file.read.file_columns, file.read.file_predicate)
    if not file.columns.separable or not chosen.useful:
        return None
    first, rest = file.select(chosen.first), file.select(chosen.rest)
    return _TwoSteps(chosen, file.with_visibility(first), rest) if first.is_read and rest.is_read else None


def _all_rows(file: ColumnarFile, part: FileRows) -> Iterator[FileRows]:
    for decoded in file.with_visibility(file.columns).decode(part):
        for rows in adapted(decoded, file.adapter, file.read):
            yield rows if rows.kept is None else rows.filter(rows.kept)
        # A stripe goes before the next one is decoded.
        del decoded


def _late_rows(read: FileRead, part: FileRows, steps: _TwoSteps) -> Iterator[FileRows]:
    """The rows of a stripe or row group that pass; all that a reader sees where most pass."""
    chosen = _chosen(read, part, steps)
    if chosen is None:
        return
    given = 0
    for decoded in steps.rest.decode(part):
        for rows in chosen.adapted(decoded, decoded.start - part.start, steps.rest.adapter, read):
            first = {name: _one_array(column.slice(given, rows.count)) for name, column in chosen.arrays.items()}
            given += rows.count
            yield rows.with_arrays(first)


def _chosen(read: FileRead, part: FileRows, steps: _TwoSteps) -> _Chosen | None:
    """Decodes the columns of the filter, and chooses rows by them; ``None`` where no row passes."""
    decoded = [rows for one in steps.first.decode(part) for rows in adapted(one, steps.first.adapter, read)]
    passing = [_both(steps.filter.mask(rows.arrays), rows.kept) for rows in decoded]
    passed = sum(rows.count if mask is None else mask.true_count for rows, mask in zip(decoded, passing, strict=True))
    steps.filter.seen(part.count, passed)
    if not passed:
        return None
    few = passed <= part.count * _SELECTIVE
    found = [_positions(mask if few else rows.kept) for rows, mask in zip(decoded, passing, strict=True)]
    some = [rows if at is None else rows.take(at) for rows, at in zip(decoded, found, strict=True)]
    arrays = {name: pa.chunked_array([rows.arrays[name] for rows in some]) for name in some[0].arrays}
    if all(at is None for at in found):
        return _Chosen(arrays, None, few)
    numbers = [
        (np.arange(rows.count) if at is None else at) + (rows.start - part.start)
        for rows, at in zip(decoded, found, strict=True)
    ]
    return _Chosen(arrays, np.concatenate(numbers), few)


def _both(one: pa.BooleanArray | None, other: pa.BooleanArray | None) -> pa.BooleanArray | None:
    if one is None or other is None:
        return other if one is None else one
    return pc.and_(one, other)


def _positions(mask: pa.BooleanArray | None) -> npt.NDArray[np.int64] | None:
    return None if mask is None else np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    """A short column as one array, copied only where it has to be."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _can_mask(domain: Domain | None) -> bool:
    if domain is None or domain.is_all or pa.types.is_nested(domain.type):
        return False
    return domain.values.is_none or domain.values.is_all or domain.values.ranges() is not None


def _test(domain: Domain) -> Callable[[pa.Array], pa.BooleanArray]:
    """Whether each value may be in a domain; never NULL."""
    test = _present(domain)
    return (lambda array: pc.or_(test(array), array.is_null())) if domain.null_allowed else test


def _present(domain: Domain) -> Callable[[pa.Array], pa.BooleanArray]:
    if domain.values.is_none:
        return lambda array: pa.repeat(pa.scalar(False), len(array))
    if domain.values.is_all:
        return lambda array: array.is_valid()
    discrete = None if pa.types.is_floating(domain.type) else domain.values.discrete_values()
    if discrete is not None:
        return functools.partial(pc.is_in, value_set=pa.array(list(discrete), domain.type))
    ranges = domain.values.ranges() or ()
    if len(ranges) > _MANY_RANGES:
        ranges = (ranges[0].span(ranges[-1]),)
    return functools.partial(_in_ranges, ranges=ranges, floating=pa.types.is_floating(domain.type))


def _in_ranges(array: pa.Array, ranges: Sequence[Range], floating: bool) -> pa.BooleanArray:
    found = functools.reduce(pc.or_, [_in_range(array, one) for one in ranges])
    if floating:
        # Spark's NaN is above all numbers, Arrow's is in no order.
        found = pc.or_(found, pc.is_nan(array))
    return pc.fill_null(found, False)


def _in_range(array: pa.Array, wanted: Range) -> pa.BooleanArray:
    parts = []
    for bound, compare, or_equal, inclusive in (
        (wanted.low, pc.greater, pc.greater_equal, wanted.low_inclusive),
        (wanted.high, pc.less, pc.less_equal, wanted.high_inclusive),
    ):
        if bound is not None and bound == bound:
            parts.append((or_equal if inclusive else compare)(array, pa.scalar(bound, wanted.type)))
    return functools.reduce(pc.and_, parts) if parts else array.is_valid()
