"""Pairs of write id and bucket property, of which the keys of rows begin. Executor side, numpy only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Int64s", "KeyPairs"]

Int64s = npt.NDArray[np.int64]


class KeyPairs:
    """Sorted pairs of write id and bucket property, searchable.

    Args:
        write_ids: Write id of each pair.
        buckets: Bucket property of each pair.
    """

    def __init__(self, write_ids: Int64s, buckets: Int64s) -> None:
        self._write_ids = write_ids
        self._buckets = buckets
        self._known_writes = np.unique(write_ids)
        self._known_buckets = np.unique(buckets)
        self._codes = self._code(write_ids, buckets)

    @property
    def count(self) -> int:
        """Number of pairs."""
        return int(self._write_ids.size)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return int(self._codes.nbytes * 3 + self._known_writes.nbytes + self._known_buckets.nbytes)

    def find(self, write_ids: Int64s, buckets: Int64s) -> Int64s:
        """The position of each pair; -1 where it is missing."""
        if not self.count:
            return np.full(write_ids.size, -1, dtype=np.int64)
        codes = self._code(write_ids, buckets)
        positions = np.minimum(np.searchsorted(self._codes, codes), self.count - 1)
        found = (self._write_ids[positions] == write_ids) & (self._buckets[positions] == buckets)
        result: Int64s = np.where(found, positions, -1)
        return result

    def locate(self, write_id: int, bucket: int) -> tuple[int, bool]:
        """The number of pairs before a pair, and whether the pair exists."""
        low, high = (int(np.searchsorted(self._write_ids, write_id, side=side)) for side in ("left", "right"))
        position = low + int(np.searchsorted(self._buckets[low:high], bucket))
        return position, position < high and int(self._buckets[position]) == bucket

    def _code(self, write_ids: Int64s, buckets: Int64s) -> Int64s:
        # A missing pair may get the code of an existing one, so callers compare the pair itself.
        high = np.searchsorted(self._known_writes, write_ids).astype(np.int64)
        return high * self._known_buckets.size + np.searchsorted(self._known_buckets, buckets)
