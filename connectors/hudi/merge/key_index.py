"""Where the keys of base rows are among those of the logs. Pure."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["KeyIndex", "key_index"]


class KeyIndex(Protocol):
    """Finds keys of the logs, each of which is there once."""

    def find(self, keys: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """Looks up the keys of base rows.

        Args:
            keys: Of the type of the log's keys; positions come in ascending order.

        Returns:
            The numbers of the rows whose key is in the logs, ascending, and of each of these the number of the key.
        """
        ...


def key_index(keys: pa.Array) -> KeyIndex:
    """An index of record keys (texts), or of positions in the base file (int64)."""
    return _Positions(keys) if pa.types.is_int64(keys.type) else _Texts(keys)


class _Texts:
    def __init__(self, keys: pa.Array) -> None:
        self._keys = keys

    def find(self, keys: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        found = pc.index_in(keys, value_set=self._keys)
        rows = np.flatnonzero(np.asarray(found.is_valid()))
        return rows, np.asarray(found.drop_null()).astype(np.int64)


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
        at = np.searchsorted(rows, wanted)
        found = rows[at] == wanted
        return at[found], self._order[start:end][found]
