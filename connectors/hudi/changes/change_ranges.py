"""The changes of a range of writes, as handles. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from connector_spi.metadata import TableVersion
from connector_spi.optional.changes import ChangeRange
from connectors.hudi.changes.handles import ChangedWrite, HudiChangesHandle
from connectors.hudi.changes.incremental import archived_writes, asked_writes
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.read_options import HudiReadOptions
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.timeline.instant import WRITE_ACTIONS, Instant
from connectors.hudi.timeline.instant_text import instant_of_text, instant_of_time, time_of_instant, timeline_zone
from connectors.hudi.timeline.write_range import EARLIEST, is_earliest, range_key

__all__ = ["changes_handle", "feed_handle", "write_changes_handle"]


def changes_handle(
    snapshot: HudiSnapshot, table: HudiTableHandle, change_range: ChangeRange, session_zone: str
) -> HudiChangesHandle:
    """The changes of a range of writes.

    A version is the requested or the completion time of a write, or any instant between; the order is that of
    completion times in timeline layout 2, of requested times in layout 1.

    Args:
        snapshot: The table at its newest write, its timeline listed.
        table: Its handle.
        change_range: By version or by time.
        session_zone: Zone of times where the timeline has none.

    Raises:
        InvalidArgumentError: A bound is no instant, or the end is before the start.
    """
    zone = timeline_zone(table.config.utc_timeline, session_zone)
    active = snapshot.view.instants
    start = _bound(change_range.start, active, zone)
    end = _bound(change_range.end, active, zone)
    first = next((item for item in active if item.requested == snapshot.view.start), None)
    archived: list[Instant] = []
    if first is None or start is None or start < range_key(first):
        known = snapshot.view.completed
        archived = [
            item for item in snapshot.archive().instants if item.action in WRITE_ACTIONS and item.requested not in known
        ]
        start = _bound(change_range.start, [*archived, *active], zone)
        end = _bound(change_range.end, [*archived, *active], zone)
    if start is not None and end is not None:
        change_range.check_order(start <= end)
    history = sorted([*archived, *active], key=range_key)
    writes = [item for item in history if _is_in(range_key(item), start, end, change_range)]
    return _handle(
        snapshot=snapshot,
        table=table,
        instants=(*archived, *active),
        writes=writes,
        words=f"changes {change_range}",
        zone=zone,
    )


def feed_handle(
    snapshot: HudiSnapshot, table: HudiTableHandle, options: HudiReadOptions, session_zone: str
) -> HudiChangesHandle:
    """The changes of a range of writes as Hudi's own change feed has them (CDCRelation).

    Hudi has it of tables with ``hoodie.table.cdc.enabled`` alone; file slices say as much of every other.

    Args:
        snapshot: The table at its newest write, its timeline listed.
        table: Its handle.
        options: Of an incremental query.
        session_zone: Zone of times where the timeline has none.

    Raises:
        InvalidArgumentError: The bounds are no instants, or in the wrong order; or a write of the range is not
            finished.
    """
    return replace(write_changes_handle(snapshot, table, options, session_zone), is_feed=True)


def write_changes_handle(
    snapshot: HudiSnapshot, table: HudiTableHandle, options: HudiReadOptions, session_zone: str
) -> HudiChangesHandle:
    """The changes of the writes that an incremental query would be about.

    Raises:
        InvalidArgumentError: The bounds are no instants, or in the wrong order; or a write of the range is not
            finished.
    """
    asked = asked_writes(snapshot, table, options, session_zone)
    zone = timeline_zone(table.config.utc_timeline, session_zone)
    archived = archived_writes(snapshot, asked)
    writes = sorted([*archived, *asked.active], key=range_key)
    words = f"changes after {asked.begin}" + (f" up to {asked.end}" if asked.end is not None else "")
    return _handle(
        snapshot=snapshot,
        table=table,
        instants=(*archived, *snapshot.view.instants),
        writes=writes,
        words=words,
        zone=zone,
    )


def _handle(
    snapshot: HudiSnapshot,
    table: HudiTableHandle,
    instants: Sequence[Instant],
    writes: Sequence[Instant],
    words: str,
    zone: tzinfo,
) -> HudiChangesHandle:
    return HudiChangesHandle(
        table=replace(table, view=replace(table.view, instants=tuple(instants)), metastore_partitions=False),
        writes=tuple(ChangedWrite(item.requested, time_of_instant(range_key(item), zone)) for item in writes),
        words=words,
        change_logs=_records_changes(dict(snapshot.config.properties)) and not table.config.drop_partition_columns,
    )


def _bound(version: TableVersion | None, instants: Sequence[Instant], zone: tzinfo) -> str | None:
    """Where a bound lies in the order of the history."""
    if version is None:
        return None
    if isinstance(version.value, datetime):
        return instant_of_time(version.value, zone)
    if is_earliest(version.value):
        return EARLIEST
    text = instant_of_text(version.value, zone)
    return next((range_key(item) for item in instants if item.requested == text), text)


def _is_in(key: str, start: str | None, end: str | None, change_range: ChangeRange) -> bool:
    after = start is None or start < key or (start == key and change_range.start_inclusive)
    return after and (end is None or key < end or (key == end and change_range.end_inclusive))


def _records_changes(properties: Mapping[str, str]) -> bool:
    enabled = properties.get("hoodie.table.cdc.enabled", "false").strip().lower() == "true"
    mode = properties.get("hoodie.table.cdc.supplemental.logging.mode", "data_before_after")
    return enabled and mode.strip().lower() == "data_before_after"
