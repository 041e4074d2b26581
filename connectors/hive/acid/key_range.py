"""The range of keys in each stripe of an ACID file, without reading a row. Executor side.

Two things tell it: the key index of Hive's writers (``OrcRecordUpdater``), and the statistics of the key columns, which
writers without an index have, too (Trino's). Hive takes both (``VectorizedOrcAcidRowBatchReader.findMinMaxKeys``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.orc.integer_bounds import IntegerBounds, file_bounds, stripe_bounds

__all__ = ["ALL_KEYS", "Key", "KeyRange", "StripeRanges"]

Key = tuple[int, int, int]
"""Write id, bucket property and row id: the sort order of ACID files."""

_INDEX = "hive.acid.key.index"
_JAVA_WRITER = 0
_COLUMNS = (0, 1, 2, 3, 4)
"""Operation, the three of the key, and the current transaction."""


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Keys from ``low`` to ``high``, both inclusive; ``None`` is no bound."""

    low: Key | None = None
    high: Key | None = None

    def overlaps(self, other: KeyRange) -> bool:
        """Whether a key may be in both."""
        above = self.high is not None and other.low is not None and self.high < other.low
        below = self.low is not None and other.high is not None and other.high < self.low
        return not above and not below

    def intersect(self, other: KeyRange) -> KeyRange:
        """The keys of both, of the same rows; all keys where the two contradict each other."""
        if not self.overlaps(other):
            return ALL_KEYS
        low = max((one for one in (self.low, other.low) if one is not None), default=None)
        high = min((one for one in (self.high, other.high) if one is not None), default=None)
        return KeyRange(low, high)


ALL_KEYS = KeyRange()


class StripeRanges:
    """What footers say of the ACID columns of an ACID file; statistics of stripes are read when they are asked for.

    Args:
        source: The open file.
        footer: Its footer.
    """

    def __init__(self, source: pa.NativeFile, footer: OrcFooter) -> None:
        self._source = source
        self._footer = footer
        self._indexed = _indexed_ranges(footer)
        self._whole = _key_range(file_bounds(footer, _COLUMNS)[1:4])

    def within(self, first: int, last: int) -> KeyRange:
        """Keys that the stripes from ``first`` to ``last`` can hold, by the file's footer alone."""
        return KeyRange(self._indexed[first].low, self._indexed[last].high).intersect(self._whole)

    def of(self, index: int) -> KeyRange:
        """Keys that a stripe can hold."""
        return self._indexed[index].intersect(_key_range(self._stripes[index][1:4]))

    def overlaps(self, index: int, keys: KeyRange) -> bool:
        """Whether a stripe can hold one of some keys."""
        # What the footer says costs nothing more.
        return self.within(index, index).overlaps(keys) and self.of(index).overlaps(keys)

    def operations(self, index: int) -> IntegerBounds | None:
        """Operations that a stripe can hold; ``None`` is unknown."""
        return self._stripes[index][0]

    def transactions(self, index: int) -> IntegerBounds | None:
        """Current transactions that a stripe can hold; ``None`` is unknown."""
        return self._stripes[index][4]

    def constant_pair(self, index: int) -> tuple[int, int] | None:
        """The write id and the bucket property that all keys of a stripe have; ``None`` where there may be others."""
        write_ids, buckets = self._stripes[index][1:3]
        if write_ids is None or buckets is None or write_ids.low < write_ids.high or buckets.low < buckets.high:
            return None
        return write_ids.low, buckets.low

    @cached_property
    def _stripes(self) -> Sequence[Sequence[IntegerBounds | None]]:
        return stripe_bounds(self._source, self._footer, _COLUMNS)


def _key_range(bounds: Sequence[IntegerBounds | None]) -> KeyRange:
    write_ids, buckets, row_ids = bounds
    if write_ids is None or buckets is None or row_ids is None:
        return ALL_KEYS
    # Each part of a key is within its own bounds, so the key as a whole is in their order, too.
    return KeyRange((write_ids.low, buckets.low, row_ids.low), (write_ids.high, buckets.high, row_ids.high))


def _indexed_ranges(footer: OrcFooter) -> tuple[KeyRange, ...]:
    """The range of keys in each stripe by the key index, which has the last key of each stripe.

    The index is used only where it has an entry for each stripe (some writers leave the last one out), its keys ascend,
    and Hive's library wrote the file: other writers did not sort by key.
    """
    keys = _index_keys(footer)
    count = len(footer.stripes)
    if footer.writer != _JAVA_WRITER or len(keys) != count or list(keys) != sorted(keys):
        return (ALL_KEYS,) * count
    # A key may occur twice, also across two stripes: so the bound is the last key before, not the one after it.
    return tuple(KeyRange(keys[at - 1] if at else None, keys[at]) for at in range(count))


def _index_keys(footer: OrcFooter) -> Sequence[Key]:
    text = dict(footer.metadata).get(_INDEX, b"").decode("ascii", "replace")
    keys: list[Key] = []
    for entry in filter(None, text.split(";")):
        parts = entry.split(",")
        try:
            write_id, bucket, row_id = (int(part) for part in parts)
        except ValueError:
            return ()
        keys.append((write_id, bucket, row_id))
    return keys
