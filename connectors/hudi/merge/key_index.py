"""Where the keys of base rows are among those of the logs. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["KeyIndex", "key_hashes", "key_index"]

# Arrow builds its table of the logs' keys anew for every batch of base rows: from so many keys on, that costs more
# than hashes of our own, which are made once.
_MANY_KEYS = 1 << 14
# Of a hash that spreads badly, buckets would be searched key by key.
_DEEPEST_BUCKET = 64


class KeyIndex(Protocol):
    """Finds keys of the logs, each of which is there once."""

    def find(self, keys: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Looks up the keys of base rows.

        Args:
            keys: Of the type of the log's keys; positions come in ascending order, each once.

        Returns:
            The numbers of the rows whose key is in the logs, ascending, and of each of these the number of the key.
        """
        ...


def key_hashes(keys: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Hashes of keys, uint64, the same ones for equal keys within one process."""
    import polars as pl  # a tenth of a second, which reads without logs do without

    return np.asarray(pl.Series("key", keys).hash(seed=0).to_numpy())


def key_index(keys: pa.Array, hashes: Callable[[pa.Array], np.ndarray] = key_hashes) -> KeyIndex:
    """An index of record keys (texts), or of positions in the base file (int64).

    Args:
        keys: None is NULL, and none is there twice.
        hashes: Hashes texts.
    """
    if pa.types.is_int64(keys.type):
        return _Positions(keys)
    return (_HashedTexts.of(keys, hashes) if len(keys) >= _MANY_KEYS else None) or _Texts(keys)


class _Texts:
    def __init__(self, keys: pa.Array) -> None:
        self._keys = keys

    def find(self, keys: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        found = pc.index_in(keys, value_set=self._keys)
        rows = np.flatnonzero(np.asarray(found.is_valid()))
        return rows, np.asarray(found.drop_null()).astype(np.int64)


class _HashedTexts:
    """Texts in the order of their hashes, which all differ, in buckets by the first bits of the hash.

    Args:
        keys: The texts.
        order: Their numbers, by hash.
        hashes: Their hashes, ascending.
        hash_texts: Hashes other texts.
    """

    def __init__(
        self, keys: pa.Array, order: np.ndarray, hashes: np.ndarray, hash_texts: Callable[[pa.Array], np.ndarray]
    ) -> None:
        self._keys, self._order, self._hashes, self._hash_texts = keys, order, hashes, hash_texts
        # Four buckets a key at least: most are of one key, and small enough for the processor's cache.
        bits = len(hashes).bit_length() + 2
        self._shift = np.uint64(64 - bits)
        sizes = np.bincount(self._buckets(hashes), minlength=1 << bits)
        self._filled = sizes > 0
        self._ends = np.cumsum(sizes, dtype=np.int32)
        self.deepest = int(sizes.max())

    @classmethod
    def of(cls, keys: pa.Array, hash_texts: Callable[[pa.Array], np.ndarray]) -> _HashedTexts | None:
        """The index; ``None`` where the hashes do not separate the keys, or badly."""
        hashes = hash_texts(keys)
        order = np.argsort(hashes)
        hashes = hashes[order]
        if (hashes[1:] == hashes[:-1]).any():
            return None
        made = cls(keys, order, hashes, hash_texts)
        return made if made.deepest <= _DEEPEST_BUCKET else None

    def find(self, keys: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        hashes = self._hash_texts(keys)
        buckets = self._buckets(hashes)
        # Most keys are not in the logs, and most of these would be in an empty bucket.
        left = np.flatnonzero(self._filled[buckets])
        # From the last key of the bucket backwards. What lies before the bucket has other hashes, so it does no harm.
        at = self._ends[buckets[left]] - 1
        places = np.full(len(hashes), -1, dtype=np.int64)
        for _ in range(self.deepest):
            same = self._hashes[at] == hashes[left]
            places[left[same]] = at[same]
            left, at = left[~same], at[~same] - 1
        found = np.flatnonzero(places >= 0)
        numbers = self._order[places[found]]
        # Keys that are not in the logs may have the hash of one that is.
        equal = pc.equal(keys.take(pa.array(found)), self._keys.take(pa.array(numbers)))
        real = np.asarray(pc.fill_null(equal, False).to_numpy(zero_copy_only=False))
        return found[real], numbers[real]

    def _buckets(self, hashes: np.ndarray) -> np.ndarray:
        return (hashes >> self._shift).astype(np.int64)


class _Positions:
    def __init__(self, positions: pa.Array) -> None:
        values = np.asarray(positions)
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]

    def find(self, keys: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        rows = np.asarray(keys)
        if not len(rows):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        # A batch is a stretch of the file: what falls into it lies together.
        start, end = np.searchsorted(self._sorted, [rows[0], rows[-1] + 1])
        wanted = self._sorted[start:end]
        if int(rows[-1]) - int(rows[0]) == len(rows) - 1:
            return wanted - rows[0], self._order[start:end]
        at = np.searchsorted(rows, wanted)
        found = rows[at] == wanted
        return at[found], self._order[start:end][found]
