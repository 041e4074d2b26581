"""Which rows to decode the other columns for: the columns of a filter are read first. Executor side."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain

__all__ = ["RowFilter", "domain_mask", "one_array"]

_MANY_RANGES = 32
_FEW_GROUPS = 2
# Above this part of rows, decoding in two steps costs more than it saves.
_SELECTIVE = 0.5


class RowFilter:
    """The rows of a predicate, as far as some columns tell them. Rows that are not in it may pass.

    Args:
        columns: Columns that are read.
        predicate: Of these and other columns, in the values that reading gives.

    Attributes:
        first: Columns of the predicate, to be read first.
        rest: The other ones.
    """

    def __init__(self, columns: Sequence[ColumnHandle], predicate: TupleDomain[ColumnHandle]) -> None:
        domains = dict(predicate.domains or {})
        self._domains = {column: domains[column] for column in columns if _is_told(domains.get(column))}
        self.first = tuple(column for column in columns if column in self._domains)
        self.rest = tuple(column for column in columns if column not in self._domains)
        self._groups = self._rows = self._kept = 0

    @property
    def useful(self) -> bool:
        """Whether reading in two steps can save something, also by what was seen of the file so far."""
        if not self.first or not self.rest:
            return False
        return self._groups < _FEW_GROUPS or self._kept <= self._rows * _SELECTIVE

    def seen(self, rows: int, kept: int) -> None:
        """Notes what was kept of a group of rows."""
        self._groups += 1
        self._rows += rows
        self._kept += kept

    def places(self, arrays: Sequence[pa.Array]) -> npt.NDArray[np.int64]:
        """Places of the rows that pass, in order.

        Args:
            arrays: One for each of ``first``, in the table's types.
        """
        masks = [domain_mask(array, self._domains[column]) for array, column in zip(arrays, self.first, strict=True)]
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


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A short column as one array, copied only where it has to be."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _is_told(domain: Domain | None) -> bool:
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
