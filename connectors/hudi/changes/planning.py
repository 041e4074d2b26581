"""What writes changed in a table, row by row. Driver side.

A change is found by the file group's slices before and after the write, or by the log of changes that the table keeps
(HoodieCDCExtractor). Writes that only move rows, such as clustering, change nothing. Logs of keys alone (OP_KEY_ONLY),
or of the row before (DATA_BEFORE), are not read: what they lack is in the slices, whose comparison finds as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from connector_spi.errors import FileMissingError, InvalidArgumentError
from connector_spi.metadata import TableVersion
from connector_spi.optional.changes import ChangeRange
from connector_spi.predicate import Domain
from connectors.hudi.changes.handles import ChangedWrite, HudiChangesHandle
from connectors.hudi.changes.incremental import archived_writes, asked_writes
from connectors.hudi.error_codes import HUDI_CLEANED
from connectors.hudi.file_group.slices import FileSlice
from connectors.hudi.handles import HudiTableHandle, LogFile
from connectors.hudi.planning.listing import PartitionWalk
from connectors.hudi.planning.scan import slices_of
from connectors.hudi.read_options import HudiReadOptions
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.snapshots.time_travel import what_is_left
from connectors.hudi.timeline.commit_metadata import CommitMetadata
from connectors.hudi.timeline.instant import WRITE_ACTIONS, Instant
from connectors.hudi.timeline.instant_text import instant_of_text, instant_of_time, time_of_instant, timeline_zone
from connectors.hudi.timeline.write_range import EARLIEST, is_earliest, range_key, views_around
from connectors.toolkit.storage.filesystem import FileInfo, join_path

__all__ = ["GroupChange", "changes_handle", "feed_handle", "plan_changes", "write_changes_handle"]


@dataclass(frozen=True, slots=True)
class GroupChange:
    """What one write did to one file group: see ``HudiChangeSplit``."""

    write: ChangedWrite
    partition: str
    before: FileSlice | None
    after: FileSlice | None
    change_logs: tuple[LogFile, ...] = ()


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
    return _handle(snapshot, table, (*archived, *active), writes, f"changes {change_range}", zone)


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
    return _handle(snapshot, table, (*archived, *snapshot.view.instants), writes, words, zone)


def plan_changes(
    snapshot: HudiSnapshot,
    changes: HudiChangesHandle,
    domains: Mapping[str, Domain],
    by_logs: bool,
    pool: ThreadPoolExecutor,
) -> list[GroupChange]:
    """Finds what has to be read to find the changes.

    Args:
        snapshot: The table at the view of the handle.
        changes: The handle.
        domains: Filter by partition field; only prunes.
        by_logs: Logs of changes may be read where there are some; they lack the meta columns.
        pool: Directories are listed in it.

    Raises:
        InvalidArgumentError: A file of the range was cleaned; says what is left.
    """
    table = changes.table
    walk = PartitionWalk(snapshot.files, snapshot.location, table.partition_paths, domains, pool)
    by_time = {item.requested: item for item in snapshot.view.instants}
    commits = {write: snapshot.commit(by_time[write.requested]) for write in changes.writes}
    commits = {
        write: commit for write, commit in commits.items() if _changes_rows(commit, by_time[write.requested], table)
    }
    touched = {stat.partition for commit in commits.values() for stat in commit.stats}
    touched.update(partition for commit in commits.values() for partition, _ in commit.replaced)
    try:
        listed = walk.only(touched)
    except FileMissingError as error:
        raise _cleaned(snapshot, changes, error.message) from error
    found: list[GroupChange] = []
    for write, commit in commits.items():
        planned = _WriteChanges(snapshot, changes, write, by_time[write.requested], listed, by_logs)
        found.extend(planned.of(commit))
    return found


class _WriteChanges:
    """The changes of one write."""

    def __init__(
        self,
        snapshot: HudiSnapshot,
        changes: HudiChangesHandle,
        write: ChangedWrite,
        instant: Instant,
        listed: Mapping[str, list[FileInfo]],
        by_logs: bool,
    ) -> None:
        self._snapshot = snapshot
        self._changes = changes
        self._write = write
        self._listed = listed
        self._by_logs = by_logs
        before, after = views_around(snapshot.view, instant)
        self._sides = snapshot.with_view(before), snapshot.with_view(after)
        self._slices: dict[tuple[int, str], dict[str, FileSlice]] = {}

    def of(self, commit: CommitMetadata) -> Iterator[GroupChange]:
        """Of each file group that the write made a file in, or replaced."""
        seen: set[tuple[str, str]] = set()
        for stat in commit.stats:
            group = (stat.partition, stat.file_id)
            if stat.partition not in self._listed or group in seen:
                continue
            seen.add(group)
            stats = [item for item in commit.stats if (item.partition, item.file_id) == group]
            logs = [path for item in stats for path in item.change_logs]
            if logs and self._by_logs:
                yield GroupChange(self._write, stat.partition, None, None, self._logs(stat.partition, logs))
                continue
            before, after = self._slice(0, *group), self._slice(1, *group)
            if (before is None) != (stat.previous is None) and not self._changes.table.config.merge_on_read:
                raise self._gone(f"the file of group {stat.file_id} before the write")
            if after is None and stat.rows != 0:
                raise self._gone(f"the file {stat.path}")
            yield GroupChange(self._write, stat.partition, before, after)
        for partition, ids in commit.replaced:
            for file_id in ids if partition in self._listed else ():
                before = self._slice(0, partition, file_id)
                if before is None:
                    raise self._gone(f"the file of group {file_id} in partition '{partition}', which was replaced,")
                yield GroupChange(self._write, partition, before, None)

    def _slice(self, side: int, partition: str, file_id: str) -> FileSlice | None:
        key = (side, partition)
        if key not in self._slices:
            slices = slices_of(self._sides[side], partition, self._listed[partition], False)
            self._slices[key] = {item.file_id: item for item in slices}
        return self._slices[key].get(file_id)

    def _logs(self, partition: str, paths: Sequence[str]) -> tuple[LogFile, ...]:
        by_name = {info.name: info for info in self._listed[partition]}
        names = [path.rpartition("/")[2] for path in paths]
        missing = [name for name in names if name not in by_name]
        if missing:
            raise self._gone(f"the log of changes {join_path(partition, missing[0])}")
        return tuple(LogFile(by_name[name].path, by_name[name].size) for name in names)

    def _gone(self, what: str) -> InvalidArgumentError:
        return _cleaned(self._snapshot, self._changes, f"{what} {self._write.requested} is not on storage")


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


def _changes_rows(commit: CommitMetadata, instant: Instant, table: HudiTableHandle) -> bool:
    """WriteOperationType.isDataChange; old compactions do not say what they are."""
    is_compaction = not commit.operation and instant.action == "commit" and table.config.merge_on_read
    return commit.may_update_schema and not is_compaction


def _records_changes(properties: Mapping[str, str]) -> bool:
    enabled = properties.get("hoodie.table.cdc.enabled", "false").strip().lower() == "true"
    mode = properties.get("hoodie.table.cdc.supplemental.logging.mode", "data_before_after")
    return enabled and mode.strip().lower() == "data_before_after"


def _cleaned(snapshot: HudiSnapshot, changes: HudiChangesHandle, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"the {changes.words} of {changes.table.name} cannot be read any more: {what}, since Hudi's cleaner removed "
        f"it; {what_is_left(snapshot)}; read from a later instant",
        HUDI_CLEANED,
    )
