"""What became of a table's rows from snapshot to snapshot. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion
from connector_spi.optional.changes import (
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    ChangeRange,
    ChangeType,
    with_change_columns,
)
from connector_spi.schema import TableMetadata
from connectors.memory.chunks import NUMBER, REVISION, Chunk, cut_into_chunks
from connectors.memory.handles import ROW_ID
from connectors.memory.snapshots import Snapshot

__all__ = ["changes_snapshot"]


def changes_snapshot(snapshots: Sequence[Snapshot], change_range: ChangeRange, snapshot_id: int) -> Snapshot:
    """The changes of a range, made up as a snapshot whose rows they are.

    Args:
        snapshots: All that are kept, oldest first; at least one.
        change_range: By version or by time.
        snapshot_id: Of the new snapshot.

    Raises:
        InvalidArgumentError: A version is not of the table, the end is before the start, or what was before the first
            wanted snapshot is no longer kept.
        NotSupportedError: The table has a column with the name of one that changes have.
    """
    wanted = _wanted(snapshots, change_range)
    newest = snapshots[-1]
    before = {snapshot.version + 1: snapshot.chunks for snapshot in snapshots}
    chunks: list[Chunk] = []
    for snapshot in wanted:
        for change, rows in _changed_rows(before.get(snapshot.version, ()), snapshot.chunks):
            changed = _with_change_columns(rows, change, snapshot)
            chunks.extend(cut_into_chunks(changed, newest.table.partitioned_by, None))
    last = wanted[-1] if wanted else newest
    words = f"changes {change_range}"
    return Snapshot(
        id=snapshot_id,
        version=last.version,
        committed_at=last.committed_at,
        operation="changes",
        table=_metadata(newest),
        chunks=tuple(chunks),
        words=words,
    )


def _wanted(snapshots: Sequence[Snapshot], change_range: ChangeRange) -> list[Snapshot]:
    start, end = (_bound(snapshots, bound) for bound in (change_range.start, change_range.end))
    if isinstance(start, int) and isinstance(end, int):
        change_range.check_order(start <= end)

    def is_after_start(snapshot: Snapshot) -> bool:
        sign = 1 if start is None else _compare(snapshot, start)
        return sign > 0 or (sign == 0 and change_range.start_inclusive)

    def is_before_end(snapshot: Snapshot) -> bool:
        sign = -1 if end is None else _compare(snapshot, end)
        return sign < 0 or (sign == 0 and change_range.end_inclusive)

    if snapshots[0].version > 1 and is_after_start(snapshots[0]):
        raise _forgotten(snapshots, change_range)
    return [snapshot for snapshot in snapshots if is_after_start(snapshot) and is_before_end(snapshot)]


def _compare(snapshot: Snapshot, bound: int | datetime) -> int:
    mine = snapshot.committed_at if isinstance(bound, datetime) else snapshot.version
    return int(mine > bound) - int(mine < bound)  # type: ignore[operator]


def _bound(snapshots: Sequence[Snapshot], bound: TableVersion | None) -> int | datetime | None:
    if bound is None:
        return None
    if isinstance(bound.value, datetime):
        return bound.value
    oldest, newest = snapshots[0].version, snapshots[-1].version
    if not bound.value.isdecimal() or int(bound.value) > newest:
        raise InvalidArgumentError(
            f"table {snapshots[-1].table.name} has no version {bound.value!r}; it has {oldest} to {newest}"
        )
    return int(bound.value)


def _forgotten(snapshots: Sequence[Snapshot], change_range: ChangeRange) -> InvalidArgumentError:
    oldest, newest = snapshots[0], snapshots[-1]
    left = (
        f"ask for versions {oldest.version + 1} to {newest.version}, committed after {oldest.committed_at}"
        if oldest is not newest
        else "no changes are left"
    )
    return InvalidArgumentError(
        f"changes {change_range} of table {newest.table.name} are no longer there: the oldest state kept is version "
        f"{oldest.version}; {left}"
    )


def _changed_rows(before: Sequence[Chunk], after: Sequence[Chunk]) -> Iterator[tuple[ChangeType, pa.Table]]:
    # Most chunks are in both states; rows of the others are distinguished by their numbers.
    shared = {id(chunk) for chunk in before} & {id(chunk) for chunk in after}
    old, new = ([chunk.numbered_rows() for chunk in chunks if id(chunk) not in shared] for chunks in (before, after))
    (old_rows, old_states), (new_rows, new_states) = _numbers(old), _numbers(new)
    gone, made = ~np.isin(old_states, new_states), ~np.isin(new_states, old_states)
    lives_on, was_there = np.isin(old_rows, new_rows), np.isin(new_rows, old_rows)
    for change, tables, mask in (
        (ChangeType.DELETE, old, gone & ~lives_on),
        (ChangeType.UPDATE_PREIMAGE, old, gone & lives_on),
        (ChangeType.UPDATE_POSTIMAGE, new, made & was_there),
        (ChangeType.INSERT, new, made & ~was_there),
    ):
        if mask.any():
            yield change, pa.concat_tables(tables).filter(pa.array(mask))


def _numbers(tables: Sequence[pa.Table]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the rows, and of their states."""
    found = [[table.column(name).to_numpy() for table in tables] for name in (NUMBER, REVISION)]
    rows, states = (np.concatenate(parts) if parts else np.array([], dtype=np.int64) for parts in found)
    return rows, states


def _with_change_columns(rows: pa.Table, change: ChangeType, snapshot: Snapshot) -> pa.Table:
    changed = rows.append_column(ROW_ID.name, rows.column(NUMBER))
    for name, value, data_type in (
        (CHANGE_TYPE, change.value, pa.string()),
        (COMMIT_VERSION, snapshot.version, pa.int64()),
        (COMMIT_TIMESTAMP, snapshot.committed_at, pa.timestamp("us", "UTC")),
    ):
        changed = changed.append_column(name, pa.repeat(pa.scalar(value, data_type), rows.num_rows))
    return changed


def _metadata(snapshot: Snapshot) -> TableMetadata:
    return with_change_columns(snapshot.table, pa.int64())
