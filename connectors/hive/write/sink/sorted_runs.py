"""Rows of sorted files that do not fit into memory: sorted run by run, and merged. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.hive.write.handles import SortedBy
from connectors.hive.write.sink.file_rows import Codes, FileKey
from connectors.hive.write.sink.sorted_rows import row_order, sorted_rows
from connectors.hive.write.sink.spill import SpilledRows

__all__ = ["SortedRuns"]

PIECE_BYTES = 256 << 10
"""Rows of a run that are in memory at once, while runs are merged."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Rows in order, in pieces on disk.

    Attributes:
        places: The pieces.
        lasts: The last row of each, its columns of the order alone.
    """

    places: tuple[int, ...]
    lasts: pa.Table


class SortedRuns:
    """The rows of sorted files that wait on disk.

    Args:
        spilled: Where they wait.
        sorted_by: The order.
    """

    def __init__(self, spilled: SpilledRows, sorted_by: Sequence[SortedBy]) -> None:
        self._spilled = spilled
        self._sorted_by = tuple(sorted_by)
        self._runs: dict[FileKey, list[_Run]] = {}

    def put(self, key: FileKey, rows: pa.Table) -> None:
        """Writes rows of a file, in order."""
        ordered = sorted_rows(rows, self._sorted_by)
        size = max(1, min(rows.num_rows, rows.num_rows * PIECE_BYTES // max(1, rows.nbytes)))
        starts = range(0, rows.num_rows, size)
        places = [place for start in starts for place in self._spilled.put(key, ordered.slice(start, size))]
        ends = [min(start + size, rows.num_rows) - 1 for start in starts]
        lasts = ordered.select(list(dict.fromkeys(one.column for one in self._sorted_by))).take(pa.array(ends))
        self._runs.setdefault(key, []).append(_Run(tuple(places), lasts))

    def put_behind(self, rows: Mapping[FileKey, pa.Table]) -> dict[FileKey, pa.Table]:
        """Writes the last rows of files that have others here; returns those of files that have none."""
        for key in rows.keys() & self._runs.keys():
            self.put(key, rows[key])
        return {key: some for key, some in rows.items() if key not in self._runs}

    def take(self, key: FileKey, last: pa.Table | None) -> Iterator[pa.Table]:
        """All rows of a file in order, in parts; nothing is put after the first call.

        Args:
            key: The file.
            last: Its rows, where it has none here.
        """
        if last is not None:
            yield sorted_rows(last, self._sorted_by)
        elif key in self._runs:
            yield from self._merged(self._runs.pop(key))

    def _merged(self, runs: Sequence[_Run]) -> Iterator[pa.Table]:
        lasts = pa.concat_tables([run.lasts for run in runs])
        order = row_order(lasts, self._sorted_by)
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        offsets = np.cumsum([0, *(len(run.places) for run in runs)])
        waiting = [
            _Waiting(self._spilled, run.places, ranks[start : start + len(run.places)])
            for run, start in zip(runs, offsets, strict=False)
        ]
        # A part has as many pieces as there are runs, and of each run there is one more in memory.
        for end in range(len(runs), len(order) + len(runs), len(runs)):
            bound = min(end, len(order)) - 1
            row = lasts.slice(int(order[bound]), 1)
            parts = [part for one in waiting for part in one.up_to(bound, row, self._sorted_by)]
            yield sorted_rows(pa.concat_tables(parts), self._sorted_by)


@dataclass(slots=True)
class _Waiting:
    """A run of which rows are left.

    Attributes:
        spilled: Where its pieces are.
        places: The pieces.
        ranks: Places of their last rows in the order of all last rows.
        next: Number of the piece of which rows are left.
        rest: These rows; ``None`` where they are all.
    """

    spilled: SpilledRows
    places: tuple[int, ...]
    ranks: Codes
    next: int = 0
    rest: pa.Table | None = None

    def up_to(self, bound: int, row: pa.Table, sorted_by: Sequence[SortedBy]) -> Iterator[pa.Table]:
        """The rows that do not come after a last row, whose rank is ``bound``; they are left no more."""
        while self.next < len(self.places) and self.ranks[self.next] <= bound:
            yield self._current()
            self.rest = None
            self.next += 1
        if self.next < len(self.places):
            current = self._current()
            keys = pa.concat_tables([current.select(row.column_names), row])
            # Equal rows stay in their places, so that all that are equal to it come before it.
            count = int(np.flatnonzero(row_order(keys, sorted_by) == current.num_rows)[0])
            yield current.slice(0, count)
            self.rest = current.slice(count)

    def _current(self) -> pa.Table:
        return self.spilled.read(self.places[self.next]) if self.rest is None else self.rest
