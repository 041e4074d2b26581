"""The rows of keys whose merger makes new rows of two. Pure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from connector_spi.errors import InternalError

__all__ = ["Combine", "CombinedRows", "combine_checked"]

Combine = Callable[[pa.Table, pa.Table], pa.Table]
"""Makes rows of the older and the newer row of as many keys: ``CombiningMerger.combine``."""


class CombinedRows:
    """The row of each key so far.

    Args:
        rows: The rows of all events.
        keys: How many keys there are.
        combine: Combines rows.
    """

    def __init__(self, rows: pa.Table, keys: int, combine: Combine) -> None:
        self._rows = rows
        self._at = np.zeros(keys, dtype=np.int64)
        self._combine = combine

    def take_in(self, codes: np.ndarray, new: np.ndarray, wins: np.ndarray, both: np.ndarray) -> None:
        """Takes in one event of each of some keys.

        Args:
            codes: Numbers of the keys.
            new: Numbers of the events.
            wins: Whether the event wins over what the key had.
            both: Whether there was a row and the event is one: they are combined.
        """
        old = self._at[codes[both]]
        self._at[codes[wins & ~both]] = new[wins & ~both]
        if not len(old):
            return
        older, newer = self._rows.take(pa.array(old)), self._rows.take(pa.array(new[both]))
        made = combine_checked(self._combine, older, newer)
        self._at[codes[both]] = np.arange(len(self._rows), len(self._rows) + len(made))
        self._rows = pa.concat_tables([self._rows, made])

    def rows(self) -> pa.Table:
        """One row for each key."""
        return self._rows.take(pa.array(self._at))


def combine_checked(combine: Combine, older: pa.Table, newer: pa.Table) -> pa.Table:
    """Combines rows.

    Raises:
        InternalError: What came out is not one row of the same columns for each pair.
    """
    made = combine(older, newer)
    if made.schema != older.schema or len(made) != len(older):
        raise InternalError(
            f"{getattr(combine, '__qualname__', combine)} made {len(made)} rows of {made.schema} out of {len(older)} "
            f"pairs; expected as many rows of {older.schema}"
        )
    return made
