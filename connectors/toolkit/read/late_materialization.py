"""Late materialization: the columns of a filter are decoded first, the other ones for the rows that pass.

Executor side.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
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

__all__ = ["FilterColumns", "decode_late", "domain_mask"]

_MANY_RANGES = 32
_FEW_PARTS = 2
# Above this part of rows, decoding in two steps costs more than it saves.
_SELECTIVE = 0.5


def decode_late(file: ColumnarFile, rows: Iterator[FileRows]) -> Rows:
    """Decodes and adapts the rows that pass the predicate, and all rows where that costs more than it saves.

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
        self._domains = {column: domains[column] for column in columns if _can_mask(domains.get(column))}
        self.first = tuple(column for column in columns if column in self._domains)
        self.rest = tuple(column for column in columns if column not in self._domains)
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

    def positions(self, rows: FileRows) -> npt.NDArray[np.int64]:
        """Positions of the rows that pass, in order; the columns ``first`` are in the table's types."""
        masks = [domain_mask(rows.arrays[column.name], self._domains[column]) for column in self.first]
        return np.flatnonzero(functools.reduce(pc.and_, masks).to_numpy(zero_copy_only=False))


def domain_mask(array: pa.Array, domain: Domain) -> pa.BooleanArray:
    """Whether each value may be in a domain; never NULL.

    Args:
        array: Of the domain's type.
        domain: Not of a nested type.
    """
    if domain.values.is_none:
        present = pa.repeat(pa.scalar(False), len(array))
    elif domain.values.is_all:
        present = array.is_valid()
    else:
        present = _present(array, domain)
    return pc.or_(present, array.is_null()) if domain.null_allowed else present


@dataclass(frozen=True, slots=True)
class _TwoSteps:
    filter: FilterColumns
    first: FileColumns
    rest: FileColumns


def _two_steps(file: ColumnarFile) -> _TwoSteps | None:
    """What to decode in which step; ``None`` where columns cannot be decoded apart."""
    chosen = FilterColumns(file.read.file_columns, file.read.file_predicate)
    if not file.columns.separable or not chosen.useful:
        return None
    first, rest = file.select(chosen.first), file.select(chosen.rest)
    return _TwoSteps(chosen, first, rest) if first.is_read and rest.is_read else None


def _all_rows(file: ColumnarFile, part: FileRows) -> Iterator[FileRows]:
    for decoded in file.columns.decode(part):
        yield from adapted(decoded, file.adapter, file.read)


def _late_rows(read: FileRead, part: FileRows, steps: _TwoSteps) -> Iterator[FileRows]:
    """The rows of a stripe or row group that pass."""
    positions, filtered = _filtered(read, part, steps)
    steps.filter.seen(part.count, len(positions))
    if not len(positions):
        return
    passed = 0
    for decoded in steps.rest.decode(part):
        before = decoded.start - part.start
        low, high = np.searchsorted(positions, (before, before + decoded.count)).tolist()
        for rows in adapted(decoded.take(positions[low:high] - before), steps.rest.adapter, read):
            first = {name: _one_array(column.slice(passed, rows.count)) for name, column in filtered.items()}
            passed += rows.count
            yield rows.with_arrays(first)


def _filtered(
    read: FileRead, part: FileRows, steps: _TwoSteps
) -> tuple[npt.NDArray[np.int64], dict[str, pa.ChunkedArray]]:
    """The positions of the rows that pass, and their values in the columns of the filter."""
    positions = [np.zeros(0, np.int64)]
    kept: dict[str, list[pa.Array]] = {column.name: [] for column in steps.filter.first}
    for decoded in steps.first.decode(part):
        for rows in adapted(decoded, steps.first.adapter, read):
            chosen = steps.filter.positions(rows)
            passed = rows.take(chosen)
            for name, parts in kept.items():
                parts.append(passed.arrays[name])
            positions.append(chosen + (rows.start - part.start))
    types = {column.name: column.type for column in steps.filter.first}
    return np.concatenate(positions), {name: pa.chunked_array(parts, types[name]) for name, parts in kept.items()}


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    """A short column as one array, copied only where it has to be."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _can_mask(domain: Domain | None) -> bool:
    if domain is None or domain.is_all or pa.types.is_nested(domain.type):
        return False
    return domain.values.is_none or domain.values.is_all or domain.values.ranges() is not None


def _present(array: pa.Array, domain: Domain) -> pa.BooleanArray:
    floating = pa.types.is_floating(domain.type)
    discrete = None if floating else domain.values.discrete_values()
    if discrete is not None:
        return pc.is_in(array, value_set=pa.array(list(discrete), domain.type))
    ranges = domain.values.ranges() or ()
    if len(ranges) > _MANY_RANGES:
        ranges = (ranges[0].span(ranges[-1]),)
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
