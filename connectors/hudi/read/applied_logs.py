"""What merged logs do to the rows of a base file, by their positions. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from connector_spi.predicate import TupleDomain
from connector_spi.scan_counters import count
from connectors.hudi.merge.base import LogMerge
from connectors.hudi.merge.columns import MergeColumns
from connectors.hudi.merge.event_store import KeyRange
from connectors.hudi.merge.merged import base_ordering
from connectors.hudi.read.base_keys import check_positions, mark_elsewhere, row_positions
from connectors.hudi.read.base_page_source import base_page_source
from connectors.hudi.read.kept_log import KeptLog
from connectors.hudi.read.key_stretches import KeyStretch, key_stretches
from connectors.hudi.read.log_cache import APPLIED_CACHE, AppliedLog
from connectors.hudi.read.log_events import slice_merge_columns
from connectors.hudi.read.slice_read import SliceRead

__all__ = [
    "AppliedRows",
    "applied_log",
    "base_rows",
    "base_stretches",
    "inserted_keys",
    "joined",
    "known_log",
    "may_apply",
]

# Positions and numbers take less than the logs that they stand for.
_SHARE_OF_CACHE = 8
_Batches: TypeAlias = Iterator[tuple[np.ndarray, pa.Table, pa.Array]]


def applied_log(read: SliceRead, kept: KeptLog, merge: LogMerge, keys: KeyRange, logs: bytes | None) -> AppliedLog:
    """What the logs do to the rows of the split: kept from another read, or found out.

    Args:
        read: The split.
        kept: Its merged logs, or a part of them.
        merge: Of these, where a row of one side wins (``LogMerge.decides``).
        keys: The keys that the part has.
        logs: Stands for the logs (``SliceMerge.identity``).
    """
    known = known_log(read, merge, logs) if keys.is_all else None
    if known is not None:
        return known
    columns = slice_merge_columns(read.with_columns((), read.predicate), kept.form)
    found = AppliedRows(merge, columns)
    for positions, rows, row_keys in base_rows(read, merge, columns, keys):
        found.add(positions, rows, row_keys)
    return found.finish(read, logs if keys.is_all else None)


def known_log(read: SliceRead, merge: LogMerge, logs: bytes | None) -> AppliedLog | None:
    """What is kept of what the logs do to the rows of the split; ``None`` where nothing is."""
    return _known(_identity(read, logs), merge)


class AppliedRows:
    """Finds out what merged logs do to the rows of a split while they are read.

    Args:
        merge: The logs.
        columns: The columns of the rows.
    """

    def __init__(self, merge: LogMerge, columns: MergeColumns) -> None:
        self._merge = merge
        self._columns = columns
        self._removed: list[np.ndarray] = []
        self._numbers: list[np.ndarray] = []

    def add(self, positions: np.ndarray, rows: pa.Table, keys: pa.Array) -> np.ndarray:
        """The numbers of those of some rows that do not stay, ascending."""
        gone, replaced = self._merge.replaced(keys, base_ordering(rows, self._columns))
        self._removed.append(positions[gone])
        self._numbers.append(replaced)
        return gone

    def finish(self, read: SliceRead, logs: bytes | None) -> AppliedLog:
        """What was found, which is kept.

        Args:
            read: The split, of which all rows were added that a key of the logs may be among.
            logs: Stands for the logs; ``None`` to keep nothing.
        """
        numbers = [*self._numbers, inserted_keys(read, self._merge, self._columns)]
        # In the order of the logs, whose rows are then taken one behind the other.
        made = AppliedLog(self._merge.keys, joined(self._removed), np.sort(joined(numbers)))
        identity = _identity(read, logs)
        if identity is not None:
            APPLIED_CACHE.put(identity, made, read.merge_cache // _SHARE_OF_CACHE)
        return made


def may_apply(read: SliceRead, kept: KeptLog, merge: LogMerge, keys: KeyRange, logs: bytes | None) -> bool:
    """Whether finding out what the logs do pays for one read: it is known, or all keys have to be looked at anyway."""
    split = read.split
    is_numbered = split.format == "parquet" and split.source is None and read.table.history is None
    if not merge.decides or not keys.is_all or not is_numbered:
        return False
    identity = _identity(read, logs)
    columns = slice_merge_columns(read, kept.form)
    asks_keys = any(column.name in columns.key_names for column in read.predicate.domains or ())
    return identity is not None and (not asks_keys or _known(identity, merge) is not None)


def base_rows(read: SliceRead, merge: LogMerge, columns: MergeColumns, part: KeyRange) -> _Batches:
    """The rows of the base file that a key of the logs may be among: their positions, what was read, and their keys."""
    if not read.split.has_base:
        return
    for stretch in base_stretches(read, merge, columns):
        if not stretch.is_met:
            count("rows of base files that no log is about", stretch.rows)
            continue
        base = read.of_range(stretch.start, stretch.end - stretch.start)
        with closing(base_page_source(base.with_columns(columns.read, TupleDomain.all()))) as source:
            for batch in source:
                positions = row_positions(source, batch.num_rows)
                rows = pa.Table.from_batches([batch])
                keys = positions if columns.by_position else columns.keys(rows)
                if part.is_all:
                    yield positions.to_numpy(), rows, keys
                else:
                    mine = part.holds(keys)
                    yield positions.filter(mine).to_numpy(), rows.filter(mine), keys.filter(mine)
            check_positions(base, merge, columns, source)


def base_stretches(read: SliceRead, merge: LogMerge, columns: MergeColumns) -> list[KeyStretch]:
    """The parts of the split's range, by whether a key of the logs may be among their rows."""
    if not columns.by_position and not columns.has_meta_columns:
        return [KeyStretch(read.split.start, read.split.start + read.split.length, 0, is_met=True)]
    found = key_stretches(read, merge.keys)
    if columns.by_position and not any(one.is_met for one in found):
        # Positions are compared with the number of rows wherever the file is read.
        found[0] = replace(found[0], is_met=True)
    return found


def inserted_keys(read: SliceRead, merge: LogMerge, columns: MergeColumns) -> np.ndarray:
    """Numbers of the keys that the base file does not have, for one split of the slice."""
    # What has a position is in the base file, in the range of one split or another.
    if not read.split.holds_inserts or columns.by_position:
        return np.empty(0, np.int64)
    if read.split.has_base:
        mark_elsewhere(read, merge, columns)
    return merge.unmet


def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, np.int64), *arrays]).astype(np.int64, copy=False)


def _identity(read: SliceRead, logs: bytes | None) -> bytes | None:
    return None if logs is None else logs + f"{read.split.path} {read.split.start} {read.split.length}".encode()


def _known(identity: bytes | None, merge: LogMerge) -> AppliedLog | None:
    known = None if identity is None else APPLIED_CACHE.get(identity)
    # Logs that were merged again may have their keys in another order.
    return known if known is not None and known.keys.equals(merge.keys) else None
