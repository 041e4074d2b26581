"""How the rows of a slice differ from those of its base file, for engines that read that file. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from connector_spi.optional.merged_files import MergedRows
from connector_spi.predicate import TupleDomain
from connectors.hudi.merge.base import LogMerge
from connectors.hudi.merge.columns import MergeColumns
from connectors.hudi.merge.event_store import KeyRange
from connectors.hudi.merge.merged import base_ordering
from connectors.hudi.read.base_keys import check_positions, mark_elsewhere, row_positions
from connectors.hudi.read.base_page_source import base_page_source
from connectors.hudi.read.key_stretches import key_stretches
from connectors.hudi.read.log_cache import APPLIED_CACHE, AppliedLog, KeptLog, log_identity
from connectors.hudi.read.log_events import slice_merge_columns
from connectors.hudi.read.merged_logs import SliceMerge
from connectors.hudi.read.merged_page_source import shaped
from connectors.hudi.read.slice_read import SliceRead

__all__ = ["merged_rows"]

# Positions and numbers take less than the logs that they stand for.
_SHARE_OF_CACHE = 8
_Batches: TypeAlias = Iterator[tuple[np.ndarray, pa.Table, pa.Array]]


def merged_rows(read: SliceRead) -> MergedRows:
    """The positions of the base file's rows that the logs remove, and the rows that they bring.

    Args:
        read: A split of a Parquet file whose rows are those of the table but for the logs, or one of logs alone. Its
            predicate is not looked at.
    """
    everything = read.with_columns(read.columns, TupleDomain.all())
    removed: list[np.ndarray] = []
    added: list[pa.RecordBatch] = []
    with closing(SliceMerge(everything).parts()) as parts:
        for keys, kept in parts:
            if kept.log is None:
                continue
            merge = LogMerge(kept.log, kept.index)
            if merge.decides:
                applied = _applied(everything, kept, merge, keys)
                removed.append(applied.removed)
                added += merge.rows_of(applied.numbers)
            else:
                columns = slice_merge_columns(everything, kept.form)
                for positions, rows, found in _base(everything, merge, columns, keys):
                    base = rows.select(columns.names).combine_chunks().to_batches()[0]
                    gone, made = merge.replace(base, found, base_ordering(rows, columns), columns.filled(rows))
                    removed.append(positions[gone])
                    added += made
                added += merge.rows_of(_inserted(everything, merge, columns))
    shown = [shaped(everything, batch) for batch in added]
    return MergedRows(pa.array(_joined(removed)), pa.Table.from_batches(shown, schema=everything.schema))


def _applied(read: SliceRead, kept: KeptLog, merge: LogMerge, keys: KeyRange) -> AppliedLog:
    """What the logs do to the base file: kept from another read, or found out."""
    identity = log_identity(read) if read.merge_cache and keys.is_all else None
    if identity is not None:
        identity += f"{read.split.path} {read.split.start} {read.split.length}".encode()
        known = APPLIED_CACHE.get(identity)
        # Logs that were merged again may have their keys in another order.
        if known is not None and known.keys.equals(merge.keys):
            return known
    columns = slice_merge_columns(read.with_columns((), read.predicate), kept.form)
    removed, numbers = [], []
    for positions, rows, found in _base(read, merge, columns, keys):
        gone, replaced = merge.replaced(found, base_ordering(rows, columns))
        removed.append(positions[gone])
        numbers.append(replaced)
    numbers.append(_inserted(read, merge, columns))
    made = AppliedLog(merge.keys, _joined(removed), _joined(numbers))
    if identity is not None:
        APPLIED_CACHE.put(identity, made, read.merge_cache // _SHARE_OF_CACHE)
    return made


def _base(read: SliceRead, merge: LogMerge, columns: MergeColumns, part: KeyRange) -> _Batches:
    """The rows of the base file that a key of the logs may be among: their positions, what was read, and their keys."""
    if not read.split.has_base:
        return
    for stretch in key_stretches(read, merge.keys):
        if not stretch.is_met:
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


def _inserted(read: SliceRead, merge: LogMerge, columns: MergeColumns) -> np.ndarray:
    """Numbers of the keys that the base file does not have, for one split of the slice."""
    # What has a position is in the base file, in the range of one split or another.
    if not read.split.holds_inserts or columns.by_position:
        return np.empty(0, np.int64)
    if read.split.has_base:
        mark_elsewhere(read, merge, columns)
    return merge.unmet


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, np.int64), *arrays]).astype(np.int64, copy=False)
