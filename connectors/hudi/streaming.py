"""Offsets in the history of a table, and the rows between them. Driver side.

An offset is what orders the writes of a range: the completion time of a write in timeline layout 2, its requested
time in layout 1. There a write that is not finished holds the stream up, since it would be passed over when it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.optional.streaming import StreamStart, offset_fields, offset_text
from connectors.hudi.changes.change_ranges import write_changes_handle
from connectors.hudi.changes.handles import HudiChangesHandle
from connectors.hudi.changes.incremental import incremental_handle
from connectors.hudi.error_codes import HUDI_CLEANED, HUDI_NO_META_FIELDS
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.read_options import HudiReadOptions, QueryType
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.snapshots.time_travel import check_not_cleaned, pending_writes, what_is_left
from connectors.hudi.timeline.instant import WRITE_ACTIONS, Instant
from connectors.hudi.timeline.instant_text import instant_of_text, instant_of_time, timeline_zone
from connectors.hudi.timeline.write_range import EARLIEST, is_earliest, range_key, views_around

__all__ = ["batch_handle", "initial_offset", "latest_offset"]

_FIELDS = {"after": str}


def initial_offset(snapshot: HudiSnapshot, name: object, start: StreamStart, session_zone: str) -> str:
    """Where a stream begins.

    Args:
        snapshot: The table at its newest write, its timeline listed.
        name: The table.
        start: By instant, by time, from the beginning or from now on.
        session_zone: Zone of times where the timeline has none.

    Raises:
        InvalidArgumentError: The version is no instant.
        NotSupportedError: The table has no commit times.
    """
    if not snapshot.config.populate_meta_fields:
        raise NotSupportedError(
            f"{name} has no meta columns (hoodie.populate.meta.fields is false), without which it is unknown when a "
            "row was written; it cannot be read as a stream",
            HUDI_NO_META_FIELDS,
        )
    if start.latest:
        return _text(max(map(range_key, _settled(snapshot)), default=EARLIEST))
    if start.version is None or is_earliest(str(start.version.value)):
        return _text(EARLIEST)
    zone = timeline_zone(snapshot.config.utc_timeline, session_zone)
    if isinstance(start.version.value, datetime):
        key = instant_of_time(start.version.value, zone)
    else:
        key = _key_of(snapshot, start.version.value, zone)
    return _text(_just_before(key) if start.inclusive else key)


def latest_offset(
    snapshot: HudiSnapshot, name: object, offset: str, max_versions: int | None, until: str | None
) -> str:
    """How far a batch may go.

    Raises:
        InvalidArgumentError: The offset is none of a Hudi table.
    """
    begin = _after(name, offset)
    last = None if until is None else _after(name, until)
    keys = sorted(range_key(item) for item in _settled(snapshot))
    keys = [key for key in keys if begin < key and (last is None or key <= last)]
    if max_versions is not None and begin != EARLIEST:
        keys = keys[:max_versions]
    return _text(keys[-1]) if keys else offset


def batch_handle(
    snapshot: HudiSnapshot, table: HudiTableHandle, start: str, end: str, session_zone: str, *, changes: bool
) -> HudiTableHandle | HudiChangesHandle:
    """The rows between two offsets.

    Args:
        snapshot: The table at its newest write, its timeline listed.
        table: Its handle; nothing was pushed into it.
        start: Exclusive.
        end: Inclusive.
        session_zone: Zone of times where the timeline has none.
        changes: Whether changes are asked for.

    Raises:
        InvalidArgumentError: An offset is none of the table, or what was there then was cleaned.
    """
    begin, last = (_after(table.name, offset) for offset in (start, end))
    table = replace(table, read_optimized=False)
    if begin == EARLIEST and not changes:
        return _table_at(snapshot, table, last)
    # Its position in a range is all that counts, so it may not be taken for the requested time of another write.
    options = HudiReadOptions(query_type=QueryType.INCREMENTAL, begin=begin, end=last)
    if changes:
        return write_changes_handle(snapshot, table, options, session_zone)
    return incremental_handle(snapshot, table, options, session_zone)


def _table_at(snapshot: HudiSnapshot, table: HudiTableHandle, key: str) -> HudiTableHandle:
    """The table after the write at an offset, whatever came later."""
    later = any(range_key(item) > key for item in snapshot.view.instants)
    last = next((item for item in snapshot.view.instants if range_key(item) == key), None)
    if last is None:
        raise InvalidArgumentError(
            f"{table.name} cannot be read as of {key} any more, where the first batch of a stream ends: the write is "
            f"no longer on the timeline; {what_is_left(snapshot)}; start the query with a new checkpoint",
            HUDI_CLEANED,
        )
    if not later:
        return table
    check_not_cleaned(snapshot, last.requested)
    _, after = views_around(snapshot.view, last)
    return replace(table, view=after, metastore_partitions=False)


def _settled(snapshot: HudiSnapshot) -> Sequence[Instant]:
    """The completed writes that nothing older and unfinished stands before."""
    instants = snapshot.view.instants
    if snapshot.config.layout != 1:
        return instants
    hole = min((item.requested for item in pending_writes(snapshot)), default=None)
    return [item for item in instants if hole is None or item.requested < hole]


def _key_of(snapshot: HudiSnapshot, text: str, zone: tzinfo) -> str:
    """The offset of a write, by its requested time; of any other instant, that instant."""
    instant = instant_of_text(text, zone)
    known = {item.requested: range_key(item) for item in snapshot.view.instants}
    if instant not in known and (snapshot.view.start is None or instant < snapshot.view.start):
        older = [item for item in snapshot.archive().instants if item.action in WRITE_ACTIONS]
        known.update((item.requested, range_key(item)) for item in older if item.requested not in known)
    return known.get(instant, instant)


def _just_before(key: str) -> str:
    """A text between all instants before ``key`` and itself; its digits need be no date."""
    return f"{max(int(key) - 1, 0):0{len(key)}d}"


def _after(name: object, offset: str) -> str:
    after = str(offset_fields(name, offset, _FIELDS)["after"])
    if not (after.isascii() and after.isdigit()):
        raise InvalidArgumentError(f"{offset!r:.200} is no offset in a stream of table {name}: expected an instant")
    return after


def _text(key: str) -> str:
    return offset_text({"after": key})
