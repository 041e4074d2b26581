"""The rows of a base file against what the logs say of their keys: the final merge. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hudi.log.row_columns import combined
from connectors.hudi.merge.combined_rows import Combine, combine_checked
from connectors.hudi.merge.key_index import KeyIndex, key_index
from connectors.hudi.merge.ordering import OrderingKeys

__all__ = ["Fits", "LogMerge", "MergedLog"]

Fits: TypeAlias = Callable[[pa.RecordBatch], pa.BooleanArray | None]
"""Which rows are asked for, without NULL; ``None`` is all of them."""


@dataclass(frozen=True, slots=True)
class MergedLog:
    """What the logs say, one row for each key.

    Attributes:
        keys: The record keys, each once; or positions in the base file, int64.
        rows: Values of the columns; NULL where ``deleted``.
        deleted: Whether the key's row is deleted.
        commit_time_deletes: Whether by a delete that wins over every base row.
        ordering: Ordering values; ``None`` where the log always wins over the base file.
        filled: With partial updates: by column, where the logs have a value for it.
        newest: Columns whose value is the log's, whichever row decides.
        combine: Makes a new row of a base row and the log's; ``None`` where one of them wins.
        events: The number of the event that each row is, oldest first from 0; ``None`` where a row is made of
            several, or the numbers are not known.
    """

    keys: pa.Array
    rows: pa.Table
    deleted: np.ndarray
    commit_time_deletes: np.ndarray
    ordering: OrderingKeys | None = None
    filled: Mapping[str, np.ndarray] = field(default_factory=dict)
    newest: frozenset[str] = frozenset()
    combine: Combine | None = None
    events: np.ndarray | None = None


class LogMerge:
    """Merges the rows of a base file, batch by batch, and then gives what is only in the logs.

    Args:
        log: What the logs say.
        index: Finds its keys; made here where none is given.
        fits: Says of rows of ``MergedLog.rows`` which are asked for; ``None`` for all. Others need not be given.

    Attributes:
        index: Finds the keys of the log.
        met: Whether a key of the log was met in the base file.
    """

    def __init__(self, log: MergedLog, index: KeyIndex | None = None, fits: Fits | None = None) -> None:
        self._log = log
        self._fits = fits
        self.index = key_index(log.keys) if index is None else index
        self.met = np.zeros(len(log.keys), dtype=bool)

    def mark(self, keys: pa.Array) -> None:
        """Takes note that these keys are in the base file, in rows that are merged elsewhere."""
        self.met[self.index.find(keys)[1]] = True

    def merge(
        self,
        base: pa.RecordBatch,
        keys: pa.Array,
        ordering: OrderingKeys | None,
        filled: Mapping[str, np.ndarray] | None = None,
    ) -> list[pa.RecordBatch]:
        """What becomes of a batch of the base file: the rows that stay, and the log's rows in place of others.

        Args:
            base: The columns of ``MergedLog.rows``.
            keys: The rows' keys; or their positions, ascending.
            ordering: Their ordering values, where the log has some.
            filled: With partial updates: by column, where a row has a value that counts; everywhere if not said.
        """
        stays = self._fitting(base)
        removed, added = self.replace(base, keys, ordering, filled)
        stays[removed] = False
        return [base if stays.all() else base.filter(pa.array(stays)), *added]

    def replace(
        self,
        base: pa.RecordBatch,
        keys: pa.Array,
        ordering: OrderingKeys | None,
        filled: Mapping[str, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, list[pa.RecordBatch]]:
        """The numbers of the rows of a batch that do not stay, ascending, and the rows that come in their place.

        Args:
            base: As for ``merge``. Where a row wins as it is (``decides``), its columns are not looked at.
            keys: As for ``merge``.
            ordering: As for ``merge``.
            filled: As for ``merge``.
        """
        removed, replaced = self.replaced(keys, ordering)
        if self.decides:
            return removed, self.rows_of(replaced)
        return removed, self._joined(base, removed, replaced, ordering, filled or {})

    @property
    def decides(self) -> bool:
        """Whether the row of a key is that of the base file or that of the logs, and none that is made of both."""
        return not self._log.filled and self._log.combine is None

    def replaced(self, keys: pa.Array, ordering: OrderingKeys | None) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the rows of a batch that do not stay, ascending, and of each the number of its key."""
        matched, at = self.index.find(keys)
        if not len(matched):
            return matched, at
        self.met[at] = True
        stays = self._base_wins(matched, at, ordering)
        if not self.decides:
            # A delete that loses leaves the base row as it is.
            stays &= self._log.deleted[at]
        return matched[~stays], at[~stays]

    def rows_of(self, numbers: np.ndarray) -> list[pa.RecordBatch]:
        """The log's rows of these keys, where they decide and are asked for."""
        return self._log_rows(numbers[self._given[numbers]])

    @property
    def keys(self) -> pa.Array:
        """What the logs say something of: record keys, or positions in the base file."""
        return self._log.keys

    @property
    def last_position(self) -> int:
        """The greatest position among the keys, where these are positions; -1 without any."""
        return -1 if not len(self._log.keys) else int(pc.max(self._log.keys).as_py())

    def rest(self) -> list[pa.RecordBatch]:
        """The log's rows whose keys the base file does not have."""
        return self.rows_of(self.unmet)

    @property
    def unmet(self) -> np.ndarray:
        """Numbers of the keys that were not met in the base file, ascending."""
        return np.flatnonzero(~self.met)

    @cached_property
    def _given(self) -> np.ndarray:
        """Which rows of the log are given where they decide."""
        fitting = [self._fitting(batch) for batch in self._log.rows.to_batches()]
        return np.asarray(~self._log.deleted & np.concatenate([np.zeros(0, dtype=bool), *fitting]))

    def _fitting(self, rows: pa.RecordBatch) -> np.ndarray:
        mask = None if self._fits is None else self._fits(rows)
        return np.ones(rows.num_rows, dtype=bool) if mask is None else np.array(mask)

    def _base_wins(self, matched: np.ndarray, at: np.ndarray, ordering: OrderingKeys | None) -> np.ndarray:
        if self._log.ordering is None or ordering is None:
            return np.zeros(len(matched), dtype=bool)
        greater = ordering.take(matched).greater(self._log.ordering.take(at))
        return np.asarray(greater & ~self._log.commit_time_deletes[at])

    def _log_rows(self, at: np.ndarray) -> list[pa.RecordBatch]:
        if not len(at):
            return []
        return [batch for batch in self._log.rows.take(pa.array(at)).to_batches() if batch.num_rows]

    def _joined(
        self,
        base: pa.RecordBatch,
        matched: np.ndarray,
        at: np.ndarray,
        ordering: OrderingKeys | None,
        filled: Mapping[str, np.ndarray],
    ) -> list[pa.RecordBatch]:
        """The rows that both sides make together."""
        both = np.flatnonzero(~self._log.deleted[at])
        if not len(both):
            return []
        base_wins = self._base_wins(matched, at, ordering)
        older = pa.table({name: base.column(name) for name in base.schema.names}, schema=base.schema)
        older = older.take(pa.array(matched[both]))
        newer = self._log.rows.take(pa.array(at[both]))
        if self._log.combine is not None:
            made = combine_checked(self._log.combine, older, newer)
        else:
            gaps = {name: ~has[matched[both]] for name, has in filled.items()}
            made = self._filled(older, newer, at[both], base_wins[both], gaps)
        return list(made.to_batches())

    def _filled(
        self,
        older: pa.Table,
        newer: pa.Table,
        at: np.ndarray,
        base_wins: np.ndarray,
        gaps: Mapping[str, np.ndarray],
    ) -> pa.Table:
        """With partial updates: a row of either side, its gaps filled from the other."""
        log = self._log
        none = np.zeros(len(at), dtype=bool)
        columns: list[pa.Array] = []
        for name in older.column_names:
            has = log.filled[name][at] if name in log.filled else ~none
            gap = gaps.get(name, none)
            # Where the base row wins, the columns that partial updates know nothing of are its own.
            from_log = has if name in log.newest else np.where(base_wins, has & gap, has | gap)
            columns.append(_choose(from_log, newer.column(name), older.column(name)))
        return pa.Table.from_arrays(columns, schema=older.schema)


def _choose(first: np.ndarray, one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.Array:
    chosen = pc.if_else(pa.array(first), one, other)
    return combined(chosen)
