"""What writes changed in a table, row by row. Driver side.

A change is found by the file group's slices before and after the write, or by the log of changes that the table keeps
(HoodieCDCExtractor). Writes that only move rows, such as clustering, change nothing. Logs of keys alone (OP_KEY_ONLY),
or of the row before (DATA_BEFORE), are not read: what they lack is in the slices, whose comparison finds as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from connector_spi.errors import FileMissingError, InvalidArgumentError
from connector_spi.predicate import Domain
from connectors.hudi.changes.handles import ChangedWrite, HudiChangesHandle
from connectors.hudi.error_codes import HUDI_CLEANED
from connectors.hudi.file_group.slices import FileSlice
from connectors.hudi.handles import HudiTableHandle, LogFile
from connectors.hudi.planning.listing import PartitionWalk
from connectors.hudi.planning.scan import slices_of
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.snapshots.time_travel import what_is_left
from connectors.hudi.timeline.commit_metadata import CommitMetadata
from connectors.hudi.timeline.instant import Instant
from connectors.hudi.timeline.write_range import views_around
from connectors.toolkit.storage.filesystem import FileInfo, join_path

__all__ = ["GroupChange", "plan_changes"]


@dataclass(frozen=True, slots=True)
class GroupChange:
    """What one write did to one file group: see ``HudiChangeSplit``."""

    write: ChangedWrite
    partition: str
    before: FileSlice | None
    after: FileSlice | None
    change_logs: tuple[LogFile, ...] = ()


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
    walk = PartitionWalk(snapshot, table.partition_paths, domains, pool)
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
        planned = _WriteChanges(
            snapshot=snapshot,
            changes=changes,
            write=write,
            instant=by_time[write.requested],
            listed=listed,
            by_logs=by_logs,
        )
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


def _changes_rows(commit: CommitMetadata, instant: Instant, table: HudiTableHandle) -> bool:
    """WriteOperationType.isDataChange; old compactions do not say what they are."""
    is_compaction = not commit.operation and instant.action == "commit" and table.config.merge_on_read
    return commit.may_update_schema and not is_compaction


def _cleaned(snapshot: HudiSnapshot, changes: HudiChangesHandle, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"the {changes.words} of {changes.table.name} cannot be read any more: {what}, since Hudi's cleaner removed "
        f"it; {what_is_left(snapshot)}; read from a later instant",
        HUDI_CLEANED,
    )
