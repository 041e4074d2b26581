"""Places in the history of a table in memory, and the rows between them. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.optional.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeRange, ChangeType
from connector_spi.optional.streaming import StreamStart, offset_fields, offset_text
from connectors.memory.changes import changes_snapshot
from connectors.memory.chunks import Chunk, cut_into_chunks
from connectors.memory.handles import ROW_ID
from connectors.memory.snapshots import Snapshot

__all__ = ["batch_snapshot", "initial_offset", "latest_offset"]

_BEGINNING = 0
_FIELDS = {"version": int}
_NEW = (ChangeType.INSERT.value, ChangeType.UPDATE_POSTIMAGE.value)


def initial_offset(snapshots: Sequence[Snapshot], start: StreamStart) -> str:
    """Where a stream begins.

    Args:
        snapshots: All that are kept, oldest first; at least one.
        start: By version, by time, from the beginning or from now on.

    Raises:
        InvalidArgumentError: The version is not one of the table.
    """
    newest = snapshots[-1]
    if start.latest:
        return _text(newest.version)
    if start.version is None:
        return _text(_BEGINNING)
    value = start.version.value
    if isinstance(value, datetime):
        older = [one for one in snapshots if _is_before(one, value, start.inclusive)]
        return _text(older[-1].version if older else snapshots[0].version - 1)
    if not value.isdecimal() or not 1 <= int(value) <= newest.version + start.inclusive:
        raise InvalidArgumentError(
            f"table {newest.table.name} has no version {value!r}; it has {snapshots[0].version} to {newest.version}"
        )
    return _text(int(value) - start.inclusive)


def latest_offset(snapshots: Sequence[Snapshot], offset: str, max_versions: int | None, until: str | None) -> str:
    """How far a batch may go.

    Raises:
        InvalidArgumentError: The offset is none of the table.
    """
    newest = snapshots[-1]
    begin, end = _version(newest, offset), newest.version
    if until is not None:
        end = min(end, _version(newest, until))
    if max_versions is not None and begin != _BEGINNING:
        end = min(end, begin + max_versions)
    return _text(max(begin, end))


def batch_snapshot(snapshots: Sequence[Snapshot], start: str, end: str, snapshot_id: int, *, changes: bool) -> Snapshot:
    """The rows between two places, as those of a snapshot.

    Raises:
        InvalidArgumentError: An offset is none of the table, or what was before it is no longer kept.
    """
    newest = snapshots[-1]
    first, last = _version(newest, start), _version(newest, end)
    if first == _BEGINNING and not changes:
        found = [one for one in snapshots if one.version == last]
        if not found:
            raise InvalidArgumentError(
                f"version {last} of table {newest.table.name} is no longer kept: start the query with a new checkpoint"
            )
        return found[0]
    after, until = (TableVersion(VersionKind.VERSION, str(one)) for one in (first, last))
    changed = changes_snapshot(snapshots, ChangeRange(after, until, start_inclusive=False), snapshot_id)
    return changed if changes else _new_rows(changed, newest)


def _new_rows(changed: Snapshot, newest: Snapshot) -> Snapshot:
    columns = [CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP, ROW_ID.name]
    chunks: list[Chunk] = []
    for chunk in changed.chunks:
        rows = chunk.numbered_rows()
        rows = rows.filter(pc.is_in(rows.column(CHANGE_TYPE), pa.array(_NEW)))
        chunks.extend(cut_into_chunks(rows.drop_columns(columns), newest.table.partitioned_by, None))
    return replace(changed, table=newest.table, chunks=tuple(chunks))


def _is_before(snapshot: Snapshot, time: datetime, inclusive: bool) -> bool:
    return snapshot.committed_at < time or (snapshot.committed_at == time and not inclusive)


def _version(newest: Snapshot, offset: str) -> int:
    version = offset_fields(newest.table.name, offset, _FIELDS)["version"]
    assert isinstance(version, int)
    if version > newest.version:
        raise InvalidArgumentError(
            f"a stream of table {newest.table.name} has read up to version {version}, and the newest is "
            f"{newest.version}: the table was made again; start the query with a new checkpoint"
        )
    return version


def _text(version: int) -> str:
    return offset_text({"version": version})
