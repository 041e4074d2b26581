"""Incremental queries: the newest state, at the end of a range of writes, of the rows that these wrote. Driver side.

Deleted rows do not come. The rows are found by ``_hoodie_commit_time`` in the files that the writes made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain, ValueSet
from connectors.hudi.error_codes import HUDI_BAD_OPTION, HUDI_NO_META_FIELDS, HUDI_PENDING_WRITE
from connectors.hudi.handles import HudiTableHandle, WriteRange
from connectors.hudi.read_options import HOLES, HolesPolicy, HudiReadOptions
from connectors.hudi.schema.history import SchemaHistory
from connectors.hudi.schema.table_schema import COMMIT_TIME
from connectors.hudi.snapshots.schema_commits import read_schema_history
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.snapshots.time_travel import pending_writes
from connectors.hudi.timeline.instant import WRITE_ACTIONS, Instant
from connectors.hudi.timeline.instant_text import instant_of_text, timeline_zone
from connectors.hudi.timeline.write_range import EARLIEST, is_earliest, range_key, views_around, writes_in_range

__all__ = ["AskedWrites", "archived_writes", "asked_writes", "incremental_handle"]


@dataclass(frozen=True, slots=True)
class AskedWrites:
    """The writes that an incremental query is about.

    Attributes:
        begin: Exclusive.
        end: Inclusive; ``None`` is the newest write.
        active: Those on the active timeline, by requested time.
        is_whole: From the beginning of the table to its newest write.
    """

    begin: str
    end: str | None
    active: tuple[Instant, ...]
    is_whole: bool


def incremental_handle(
    snapshot: HudiSnapshot, table: HudiTableHandle, options: HudiReadOptions, session_zone: str
) -> HudiTableHandle:
    """The handle of an incremental query.

    Args:
        snapshot: The table at its newest write, its timeline listed.
        table: Its handle; nothing was pushed into it.
        options: With begin.
        session_zone: Zone of times with an offset where the timeline has none.

    Raises:
        InvalidArgumentError: The bounds are no instants, or in the wrong order; or a write of the range is not
            finished.
        NotSupportedError: The table has no commit times.
    """
    if not table.config.populate_meta_fields:
        raise NotSupportedError(
            f"{table.name} has no meta columns (hoodie.populate.meta.fields is false), without which it is "
            "unknown when a row was written; read its snapshot",
            HUDI_NO_META_FIELDS,
        )
    asked = asked_writes(snapshot, table, options, session_zone)
    if options.end_schema:
        schema, history = _columns_at_end(snapshot, table, asked.active)
        table = replace(table, schema=schema, history=history)
    table = replace(table, metastore_partitions=False)
    if asked.is_whole and not options.path_glob:
        # From the beginning to the newest write: all rows, and it does not matter what was archived or cleaned.
        return replace(table, writes=WriteRange(asked.begin, asked.end, (), whole=True))
    archived = archived_writes(snapshot, asked)
    writes = tuple(item.requested for item in [*archived, *asked.active])
    return replace(
        table,
        view=replace(table.view, instants=(*archived, *table.view.instants)),
        writes=WriteRange(asked.begin, asked.end, writes, path_glob=options.path_glob),
        constraint=_written_in(writes),
    )


def asked_writes(
    snapshot: HudiSnapshot, table: HudiTableHandle, options: HudiReadOptions, session_zone: str
) -> AskedWrites:
    """The writes that an incremental query is about.

    Raises:
        InvalidArgumentError: The bounds are no instants, or in the wrong order; or a write of the range is not
            finished.
    """
    zone = timeline_zone(table.config.utc_timeline, session_zone)
    given = options.begin or EARLIEST
    begin = EARLIEST if is_earliest(given) else instant_of_text(given, zone)
    end = instant_of_text(options.end, zone) if options.end is not None else None
    if end is not None and end < begin:
        raise InvalidArgumentError(
            f"{table.name}: the incremental query begins at {begin} and ends before that, at {end}; swap them",
            HUDI_BAD_OPTION,
        )
    end = _before_holes(snapshot, table, begin, end, options.holes)
    active = writes_in_range(snapshot.view.instants, begin, end)
    is_whole = begin == EARLIEST and len(active) == len(snapshot.view.instants)
    return AskedWrites(begin, end, tuple(active), is_whole)


def archived_writes(snapshot: HudiSnapshot, asked: AskedWrites) -> list[Instant]:
    """Those of the asked writes that the active timeline no longer has."""
    view = snapshot.view
    first = next((item for item in view.instants if item.requested == view.start), None)
    if first is not None and asked.begin >= range_key(first):
        return []
    older = [item for item in snapshot.archive().instants if item.action in WRITE_ACTIONS]
    return writes_in_range([item for item in older if item.requested not in view.completed], asked.begin, asked.end)


def _columns_at_end(
    snapshot: HudiSnapshot, table: HudiTableHandle, writes: Sequence[Instant]
) -> tuple[pa.Schema, SchemaHistory | None]:
    """The columns that the table had after the last of the writes; of no writes, those that it has now."""
    if not writes:
        return table.schema, table.history
    _, after = views_around(snapshot.view, max(writes, key=range_key))
    then = snapshot.with_view(after)
    schema = then.table_schema()
    return schema, read_schema_history(then, schema)


def _before_holes(
    snapshot: HudiSnapshot, table: HudiTableHandle, begin: str, end: str | None, policy: HolesPolicy
) -> str | None:
    """Where a range of requested times has to end, so that a write that finishes later is not passed over.

    Completion times need none of it: such a write will be behind all that were finished before
    (TimelineUtils.handleHollowCommitIfNeeded).
    """
    if table.config.layout != 1:
        return end
    last = max((item.requested for item in writes_in_range(snapshot.view.instants, begin, end)), default=None)
    hole = next((item for item in pending_writes(snapshot) if last is not None and begin < item.requested < last), None)
    if hole is None:
        return end
    if policy is HolesPolicy.FAIL:
        raise InvalidArgumentError(
            f"{table.name}: the {hole.action} {hole.requested} is not finished, and later writes are; a reader that "
            f"goes on behind them would miss it. Set '{HOLES}' to BLOCK to end before it, or roll it back with Hudi",
            HUDI_PENDING_WRITE,
        )
    before = [item.requested for item in snapshot.view.instants if begin < item.requested < hole.requested]
    return max(before, default=begin)


def _written_in(writes: Sequence[str]) -> TupleDomain[ColumnHandle]:
    domain = Domain(ValueSet.of(pa.string(), writes), null_allowed=False)
    return TupleDomain.with_column_domains({ColumnHandle(COMMIT_TIME, pa.string()): domain})
