"""The keys of deleted rows in memory, and lookup of a stripe's rows in them. Executor side, numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from connector_spi.properties import data_size_property
from connectors.hive.acid.key_pairs import Int64s, KeyPairs
from connectors.hive.acid.key_range import Key, KeyRange

__all__ = ["EVENT_BYTES", "MAX_DELETE_MEMORY", "DeleteSet", "Int64s", "KeyRuns", "Mask"]

MAX_DELETE_MEMORY = data_size_property(
    "hive.max-delete-memory",
    "Most bytes of keys of deleted rows that a process keeps; more of them are read again for each stripe.",
    256 << 20,
    minimum=1,
    session="max_delete_memory",
)
"""Most bytes of keys of deleted rows that a process keeps."""


EVENT_BYTES = 24
"""Peak bytes per event while a set is built; the finished set takes 8."""

_CODE_BITS = 62
_FEW_RUNS = 64
_LEAST, _GREATEST = -(2**63), 2**63 - 1

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class KeyRuns:
    """Keys, run-length encoded by write id and bucket property.

    Attributes:
        write_ids: Write id of each run.
        buckets: Bucket property of each run as stored in the file, without regard to its version.
        starts: Position of each run's first row, followed by the number of rows.
        row_ids: Row id of each row.
    """

    write_ids: Int64s
    buckets: Int64s
    starts: Int64s
    row_ids: Int64s

    @classmethod
    def of(cls, write_ids: Int64s, buckets: Int64s, row_ids: Int64s) -> KeyRuns:
        """Finds the runs of three columns of one length."""
        changes = np.flatnonzero((write_ids[1:] != write_ids[:-1]) | (buckets[1:] != buckets[:-1])) + 1
        firsts = np.concatenate(([0], changes)) if row_ids.size else changes
        starts = np.append(firsts, row_ids.size).astype(np.int64)
        return cls(write_ids[firsts], buckets[firsts], starts, row_ids)

    @classmethod
    def of_pair(cls, write_id: int, bucket: int, row_ids: Int64s) -> KeyRuns:
        """The keys of rows that share write id and bucket property."""
        return cls(_one(write_id), _one(bucket), np.array([0, row_ids.size], dtype=np.int64), row_ids)

    @property
    def counts(self) -> Int64s:
        """Rows of each run."""
        counts: Int64s = np.diff(self.starts)
        return counts


class DeleteSet:
    """The keys of delete events as one sorted array of numbers.

    A number is the ordinal of the pair of write id and bucket property, shifted, plus the row id. Where row ids are
    too large, the ordinal of the row id stands in for it. So a key is looked up by one binary search.

    Args:
        runs: Keys of events, in any order, with duplicates.
    """

    def __init__(self, runs: Sequence[KeyRuns]) -> None:
        write_ids = _concatenate([one.write_ids for one in runs])
        buckets = _concatenate([one.buckets for one in runs])
        row_ids = _concatenate([one.row_ids for one in runs])
        counts = _concatenate([one.counts for one in runs])
        order = np.lexsort((buckets, write_ids))
        write_ids, buckets = write_ids[order], buckets[order]
        new = np.ones(order.size, dtype=bool)
        new[1:] = (write_ids[1:] != write_ids[:-1]) | (buckets[1:] != buckets[:-1])
        positions = np.empty(order.size, dtype=np.int64)
        positions[order] = np.cumsum(new) - 1
        self._pairs = KeyPairs(write_ids[new], buckets[new])
        self._values: Int64s | None = None
        self._shift = int(row_ids.max(initial=0)).bit_length()
        if row_ids.min(initial=0) < 0 or self._shift + self._pairs.count.bit_length() > _CODE_BITS:
            self._values = np.unique(row_ids)
            self._shift = self._values.size.bit_length()
            row_ids = np.searchsorted(self._values, row_ids).astype(np.int64)
        codes = np.repeat(positions, counts)
        codes <<= self._shift
        codes |= row_ids
        if (codes[1:] < codes[:-1]).any():
            codes.sort(kind="stable")
        self._codes = codes

    @property
    def size(self) -> int:
        """Number of events."""
        return int(self._codes.size)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self._codes.nbytes + self._pairs.nbytes + (0 if self._values is None else self._values.nbytes)

    def within(self, keys: KeyRange) -> DeleteSet:
        """The events of a range: a view, not a copy."""
        low = 0 if keys.low is None else self._position(keys.low, after=False)
        high = self.size if keys.high is None else self._position(keys.high, after=True)
        if low == 0 and high == self.size:
            return self
        part = object.__new__(DeleteSet)
        part._pairs, part._values, part._shift = self._pairs, self._values, self._shift
        part._codes = self._codes[low : max(low, high)]
        return part

    def deleted(self, keys: KeyRuns) -> Mask | None:
        """A mask of the deleted rows, of rows in any order; ``None`` where no row is deleted."""
        if keys.write_ids.size <= _FEW_RUNS:
            return self._deleted_of_runs(keys)
        pairs = self._pairs.find(keys.write_ids, keys.buckets)
        if not self.size or not (pairs >= 0).any():
            return None
        codes, known = self._encode(np.repeat(pairs, keys.counts), keys.row_ids)
        hits = _members(codes, self._codes)
        if not hits.any():
            return None
        if known is None:
            return hits
        mask = np.zeros(keys.row_ids.size, dtype=bool)
        mask[known[hits]] = True
        return mask

    def deleted_range(self, write_id: int, bucket: int, first: int, count: int) -> Mask | None:
        """A mask of the deleted rows, of ``count`` rows from row id ``first``; ``None`` where no row is deleted."""
        keys = KeyRange((write_id, bucket, first), (write_id, bucket, first + count - 1))
        row_ids = self.within(keys)._row_ids()
        if not row_ids.size:
            return None
        mask = np.zeros(count, dtype=bool)
        mask[row_ids - first] = True
        return mask

    def positions(self, keys: KeyRuns) -> Int64s:
        """The position of each row's first event; -1 for rows without one."""
        found = np.full(keys.row_ids.size, -1, dtype=np.int64)
        pairs = self._pairs.find(keys.write_ids, keys.buckets)
        if not self.size or not (pairs >= 0).any():
            return found
        codes, known = self._encode(np.repeat(pairs, keys.counts), keys.row_ids)
        positions = np.minimum(np.searchsorted(self._codes, codes), self.size - 1)
        hits = self._codes[positions] == codes
        found[np.flatnonzero(hits) if known is None else known[hits]] = positions[hits]
        return found

    def _deleted_of_runs(self, keys: KeyRuns) -> Mask | None:
        """As ``deleted``, run by run: of each the row ids alone are compared."""
        mask: Mask | None = None
        runs = zip(keys.write_ids.tolist(), keys.buckets.tolist(), keys.starts.tolist(), strict=False)
        for (write_id, bucket, start), end in zip(runs, keys.starts[1:].tolist(), strict=True):
            pair = self.within(KeyRange((write_id, bucket, _LEAST), (write_id, bucket, _GREATEST)))
            if not pair.size:
                continue
            hits = _members(keys.row_ids[start:end], pair._row_ids())
            if hits.any():
                mask = np.zeros(keys.row_ids.size, dtype=bool) if mask is None else mask
                mask[start:end] = hits
        return mask

    def _row_ids(self) -> Int64s:
        """The row ids of the events, of one pair in order."""
        low: Int64s = self._codes & ((1 << self._shift) - 1)
        return low if self._values is None else self._values[low]

    def _encode(self, pairs: Int64s, row_ids: Int64s) -> tuple[Int64s, Int64s | None]:
        """Codes of the rows that can be among the events, and their positions; ``None`` where it is all rows."""
        if self._values is None:
            low = row_ids
            possible = (pairs >= 0) & (row_ids >= 0) & (row_ids < (1 << self._shift))
        else:
            low = np.minimum(np.searchsorted(self._values, row_ids), self._values.size - 1).astype(np.int64)
            possible = (pairs >= 0) & (self._values[low] == row_ids)
        if possible.all():
            return (pairs << self._shift) | low, None
        known = np.flatnonzero(possible)
        return (pairs[known] << self._shift) | low[known], known

    def _position(self, key: Key, *, after: bool) -> int:
        """Number of events before a key, or up to it."""
        write_id, bucket, row_id = key
        position, exact = self._pairs.locate(write_id, bucket)
        code = position << self._shift
        if not exact:
            return int(np.searchsorted(self._codes, code))
        if self._values is not None:
            code += int(np.searchsorted(self._values, row_id, side="right" if after else "left"))
            return int(np.searchsorted(self._codes, code))
        below = min(max(row_id + after, 0), 1 << self._shift)
        return int(np.searchsorted(self._codes, code + below))


def _members(codes: Int64s, events: Int64s) -> Mask:
    """Which of ``codes`` are among the sorted ``events``."""
    hits = np.zeros(codes.size, dtype=bool)
    if not codes.size:
        return hits
    if (codes[1:] > codes[:-1]).all():
        low, high = np.searchsorted(events, codes[0]), np.searchsorted(events, codes[-1], side="right")
        events = events[low:high]
        if int(codes[-1]) - int(codes[0]) == codes.size - 1:
            # Nothing is left out between the first and the last one.
            hits[events - codes[0]] = True
            return hits
        if events.size < codes.size:
            positions = np.searchsorted(codes, events)
            hits[positions[codes[np.minimum(positions, codes.size - 1)] == events]] = True
            return hits
    if events.size:
        positions = np.minimum(np.searchsorted(events, codes), events.size - 1)
        hits = events[positions] == codes
    return hits


def _one(value: int) -> Int64s:
    return np.array([value], dtype=np.int64)


def _concatenate(arrays: list[Int64s]) -> Int64s:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64)
