"""How many different values a column has, counted in parts: by the least hashes of its values. Both sides.

The k smallest different hashes are kept ("k minimum values", Bar-Yossef and others, "Counting distinct elements in a
data stream", 2002). Up to k values are counted exactly, more of them with an error of about 1 / sqrt(k); the hashes of
two parts together are those of all their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connector_spi.predicate import Value
from connector_spi.serializable import Serializable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_HASHES", "DistinctCounter", "DistinctValues", "most_hashes"]

MOST_HASHES = 1024
_LEAST_HASHES = 16
_FIRST_HASHES = 4 * MOST_HASHES
_MOST_BYTES = 4 << 20
_ALL = 2**64
_Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class DistinctValues(Serializable):
    """The different values of some rows of a column, without NULL.

    Attributes:
        hashes: Hashes of values, ascending, of eight bytes each.
        bound: All hashes below it are there; 2**64: all that there are.
        values: The values themselves, where they are few enough not to be hashed: then there are no hashes.
    """

    hashes: bytes = b""
    bound: int = _ALL
    values: tuple[Value, ...] | None = None

    @classmethod
    def of_few(cls, column: pa.ChunkedArray) -> DistinctValues:
        """Those of a column of few rows."""
        try:
            return cls(values=tuple(column.drop_null().unique().to_pylist()))
        except (ValueError, OverflowError):
            # Python has no year above 9999, and no text of bytes that are none.
            counter = DistinctCounter()
            counter.add(column)
            return counter.result()

    def cut(self, most: int) -> DistinctValues:
        """With no more hashes than ``most``."""
        if len(self.hashes) <= 8 * most:
            return self
        kept, bound = _least(np.frombuffer(self.hashes, "<u8"), self.bound, most)
        return replace(self, hashes=kept.tobytes(), bound=bound)

    @staticmethod
    def count(parts: Sequence[DistinctValues], kind: pa.DataType) -> int:
        """How many different values the rows of all parts have, about.

        Args:
            parts: Of the same column.
            kind: Its type, with which values are hashed.
        """
        few = [part.values for part in parts if part.values is not None]
        if len(few) == len(parts):
            return len(pa.array(chain.from_iterable(few), kind).unique())
        hashed = [part for part in parts if part.values is None]
        found = [np.frombuffer(part.hashes, "<u8") for part in hashed]
        if few:
            found.append(_hashes(pa.chunked_array([pa.array(chain.from_iterable(few), kind)])).to_numpy())
        bound = min(part.bound for part in hashed)
        kept, bound = _least(np.unique(np.concatenate(found)), bound, MOST_HASHES)
        return round(len(kept) * (_ALL / bound))


class DistinctCounter:
    """Counts the different values of a column whose rows come in batches."""

    def __init__(self) -> None:
        self._kept: _Hashes = np.empty(0, np.uint64)
        self._bound = _ALL

    def add(self, column: pa.ChunkedArray) -> None:
        """Counts rows."""
        hashes, start = _hashes(column), 0
        # The first few of many values lower the bound, by which nearly all others are left out: the rest costs little.
        length = _FIRST_HASHES
        while start < len(hashes):
            self._add(hashes.slice(start, length))
            start, length = start + length, length * 8

    def _add(self, hashes: pl.Series) -> None:
        if self._bound < _ALL:
            hashes = hashes.filter(hashes < self._bound)
        if len(hashes):
            self._kept = np.union1d(self._kept, hashes.unique().to_numpy())
            self._kept, self._bound = _least(self._kept, self._bound, MOST_HASHES)

    def result(self) -> DistinctValues:
        """What was counted."""
        return DistinctValues(self._kept.astype("<u8").tobytes(), self._bound)


def most_hashes(columns: int) -> int:
    """How many hashes are kept of each of so many columns, of all files of a task together."""
    return max(_LEAST_HASHES, min(MOST_HASHES, _MOST_BYTES // (8 * max(1, columns))))


def _least(hashes: _Hashes, bound: int, most: int) -> tuple[_Hashes, int]:
    """No more than ``most`` of ascending hashes below a bound, and the bound that they have then."""
    kept = hashes if bound == _ALL else hashes[: np.searchsorted(hashes, np.uint64(bound))]
    return (kept, bound) if len(kept) <= most else (kept[:most], int(kept[most]))


def _hashes(column: pa.ChunkedArray) -> pl.Series:
    import polars as pl  # a tenth of a second, which writes of few rows do without
    from polars.exceptions import PanicException

    try:
        found = pl.from_arrow(column)
        assert isinstance(found, pl.Series), "of a column"
        # Of one version of polars they are the same in all processes.
        return found.drop_nulls().hash()
    except PanicException as error:
        # It is no Exception of Python's.
        raise ValueError(f"values of {column.type} cannot be hashed: {error}") from error
