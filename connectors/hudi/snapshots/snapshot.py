"""A table at one instant: schema, replaced file groups, what each write did. Driver side."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.hudi.error_codes import HUDI_BAD_SCHEMA, HUDI_BAD_TIMELINE
from connectors.hudi.file_group.slices import FileSlice
from connectors.hudi.merge.config import is_merge_property
from connectors.hudi.schema.table_schema import arrow_schema, table_schema
from connectors.hudi.snapshots.table_memory import KEEPS_NOTHING
from connectors.hudi.table_config import TableConfig
from connectors.hudi.table_properties import read_table_config
from connectors.hudi.timeline.archive import ArchivedCompletions, ArchivedTimeline, read_archive
from connectors.hudi.timeline.commit_metadata import CommitMetadata
from connectors.hudi.timeline.instant import Instant
from connectors.hudi.timeline.loader import list_instants, read_commit_metadata
from connectors.hudi.timeline.view import TimelineView, timeline_view
from connectors.hudi.transaction import MemoKey
from connectors.toolkit.orc.reader import read_orc_schema
from connectors.toolkit.parquet.reader import read_parquet_schema
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, join_path

__all__ = ["HudiSnapshot", "open_snapshot", "snapshot_of_instants", "trimmed"]


_STAT_BYTES = 500
_SLICE_BYTES = 800
_FILE_BYTES = 400


@dataclass(frozen=True, slots=True)
class _Folder:
    infos: list[FileInfo]

    @property
    def nbytes(self) -> int:
        return _FILE_BYTES * len(self.infos)


@dataclass(frozen=True, slots=True)
class _FolderKey(MemoKey[_Folder]):
    path: str


class HudiSnapshot:
    """What the completed writes of a timeline view did; each is read at most once. Used by several threads.

    Args:
        files: Storage.
        location: The table's directory.
        config: The table's properties.
        view: The writes of the query.
        active: All instants of the active timeline, where it was listed for this query; else empty.

    Attributes:
        memory: What is kept of the table across transactions while its timeline is as it is.
        slices: File slices that were planned, by what they are of.
    """

    def __init__(
        self,
        files: FileSystem,
        location: str,
        config: TableConfig,
        view: TimelineView,
        active: tuple[Instant, ...] = (),
    ) -> None:
        self.files = files
        self.location = location
        self.config = config
        self.view = view
        self.active = active
        self.memory = KEEPS_NOTHING
        self.slices: dict[tuple[str, bool, bool], tuple[FileSlice, ...]] = {}
        self._archive: ArchivedTimeline | None = None
        self._completions = ArchivedCompletions(files, location, config)
        self._commits: dict[str, CommitMetadata] = {}
        self._schemas: dict[str, pa.Schema | None] = {}
        self._replaced: dict[str, frozenset[str]] | None = None
        self._lock = threading.Lock()

    def commit(self, instant: Instant) -> CommitMetadata:
        """What a completed write of the view did.

        Raises:
            FileMissingError: The instant has left the active timeline since the view was made.
            CorruptFileError: Its file is cut off.
        """
        key = instant.requested if instant.archived else instant.file_name
        found = self._commits.get(key)
        if found is None:
            if instant.archived:
                found = self.archive().commit(instant)
            else:
                found = read_commit_metadata(self.files, self.location, self.config, instant)
            with self._lock:
                self._commits[key] = found
        return found

    def archive(self) -> ArchivedTimeline:
        """The archived timeline, read once.

        Raises:
            CorruptFileError: It is damaged.
        """
        with self._lock:
            if self._archive is None:
                self._archive = read_archive(self.files, self.location, self.config)
            return self._archive

    def archived_completion(self, requested: str) -> str | None:
        """When a write that is no longer on the active timeline of layout 2 was complete; ``None`` is unknown.

        Raises:
            CorruptFileError: The archived timeline is damaged.
        """
        return self._completions.of(requested)

    def with_view(self, view: TimelineView) -> HudiSnapshot:
        """The same table, seen at another view; of that nothing is kept across transactions.

        A cleaner may remove files of an earlier state, and plans of it have to notice.
        """
        other = HudiSnapshot(self.files, self.location, self.config, view, self.active)
        other._archive = self._archive
        other._completions = self._completions
        other._commits = self._commits
        return other

    def take_commits(self, other: HudiSnapshot, names: Collection[str]) -> None:
        """Takes over what another snapshot of the table has read of writes whose files are the same.

        Args:
            other: The snapshot.
            names: Names of the files.
        """
        with self._lock:
            self._commits.update((name, commit) for name, commit in other._commits.copy().items() if name in names)

    @property
    def nbytes(self) -> int:
        """About the memory of what was read so far."""
        archived = len(self._archive.instants) if self._archive is not None else 0
        written = sum(len(commit.stats) for commit in self._commits.copy().values())
        sliced = sum(map(len, self.slices.copy().values()))
        return _STAT_BYTES * (written + len(self.active) + 10 * archived) + _SLICE_BYTES * sliced

    def list_folder(self, path: str) -> list[FileInfo]:
        """What is in a folder of the table, relative to it; not asked again while the timeline is as it is.

        Raises:
            FileMissingError: There is no such folder.
            StorageError: Storage refused, or cannot be reached.
        """
        folder = join_path(self.location, path) if path else self.location
        return self.memory.get(_FolderKey(path), lambda: _Folder(self.files.list(folder))).infos

    def commits_at(self, requested: str) -> list[CommitMetadata]:
        """What the completed writes of a requested time did; none where it is older than the active timeline."""
        return [self.commit(instant) for instant in self.view.instants if instant.requested == requested]

    def replaced(self) -> dict[str, frozenset[str]]:
        """Ids of the file groups that no longer count, by partition path.

        Every completed replacecommit of the view names some: overwrites, deleted partitions, clustering.
        """
        if self._replaced is None:
            found: dict[str, set[str]] = defaultdict(set)
            for instant in self.view.instants:
                if instant.action == "replacecommit":
                    for partition, ids in self.commit(instant).replaced:
                        found[partition].update(ids)
            self._replaced = {partition: frozenset(ids) for partition, ids in found.items()}
        return self._replaced

    def written_names(self, partition: str, requested: str) -> Collection[str] | None:
        """Names of the files that a write made in a partition; ``None`` for a write of the archived timeline."""
        commits = self.commits_at(requested)
        if not commits:
            return None
        paths = [stat.path for commit in commits for stat in commit.stats if stat.partition == partition]
        return frozenset(path.rpartition("/")[2] for path in paths if path)

    def written_schema(self, requested: str, sample: str) -> pa.Schema | None:
        """The user columns of the files that a write made; ``None`` is unknown.

        From the write's metadata; of a write of the archived timeline, from one of its files.

        Args:
            requested: The write.
            sample: Path of a base file that it made.
        """
        if requested not in self._schemas:
            commits = self.commits_at(requested)
            avro = commits[0].schema if commits else None
            schema = arrow_schema(avro, self.location) if avro else None
            if not commits:
                schema = _read_schema(self.files, sample)
            with self._lock:
                self._schemas[requested] = schema
        return self._schemas[requested]

    def written_rows(self, requested: str) -> dict[str, int]:
        """Rows of the files that a write made, by path relative to the table, as far as its metadata has them."""
        stats = [stat for commit in self.commits_at(requested) for stat in commit.stats]
        return {stat.path: stat.rows for stat in stats if stat.path is not None and stat.rows is not None}

    def table_schema(self) -> pa.Schema:
        """The columns of the table at its latest write (TableSchemaResolver).

        From the newest write that says a schema, else from the table's creation, else from a base file of the
        newest write that made one.

        Raises:
            NotSupportedError: A type is not understood.
            CorruptFileError: No schema can be found.
        """
        config = self.config
        newest = self.newest_schema_write()
        avro = newest.schema if newest is not None else config.create_schema
        written = arrow_schema(avro, self.location) if avro is not None else self._newest_footer()
        if written is None:
            raise CorruptFileError(
                f"{self.location} has no schema: no write records one, nor have hoodie.properties and base files",
                HUDI_BAD_SCHEMA,
            )
        dropped = config.partition_fields if config.drop_partition_columns else ()
        return table_schema(written, config.populate_meta_fields, dropped, config.create_schema, self.location)

    def newest_writes(self) -> Iterator[CommitMetadata]:
        """What the writes did from the newest back to the one that the table takes its schema from, that included."""
        for instant in reversed(self.view.instants):
            commit = self.commit(instant)
            yield commit
            if commit.may_update_schema and commit.schema:
                return

    def newest_schema_write(self) -> CommitMetadata | None:
        """The newest write that the table takes its schema from."""
        return next((commit for commit in self.newest_writes() if commit.may_update_schema and commit.schema), None)

    def _newest_footer(self) -> pa.Schema | None:
        for instant in reversed(self.view.instants):
            for stat in self.commit(instant).stats:
                if stat.path and stat.path.endswith((".parquet", ".orc")):
                    return _read_schema(self.files, join_path(self.location, stat.path))
        return None


def open_snapshot(files: FileSystem, location: str) -> HudiSnapshot:
    """The table at its newest completed write. The timeline is listed once, before any data file.

    Raises:
        NotSupportedError: There is no Hudi table, or one that this connector cannot read right.
        CorruptFileError: Properties or timeline are damaged.
    """
    config = read_table_config(files, location)
    return snapshot_of_instants(files, location, config, list_instants(files, location, config))


def snapshot_of_instants(
    files: FileSystem, location: str, config: TableConfig, instants: Sequence[Instant]
) -> HudiSnapshot:
    """The table at the newest completed write of its timeline.

    Raises:
        CorruptFileError: The timeline is damaged.
    """
    view = timeline_view(instants)
    _refuse_equal_instants(view, location)
    return HudiSnapshot(files, location, config, view, tuple(instants))


def trimmed(config: TableConfig) -> TableConfig:
    """The properties without what tasks do not need: those that say how rows are merged are left."""
    kept = tuple((key, value) for key, value in config.properties if is_merge_property(key))
    return replace(config, properties=kept, create_schema=None)


def _read_schema(files: FileSystem, path: str) -> pa.Schema:
    return read_orc_schema(files, path) if path.endswith(".orc") else read_parquet_schema(files, path)


def _refuse_equal_instants(view: TimelineView, location: str) -> None:
    seen: dict[str, Instant] = {}
    for instant in view.instants:
        other = seen.setdefault(instant.requested, instant)
        if other is not instant:
            raise CorruptFileError(
                f"{location}: {other.file_name} and {instant.file_name} are two writes of one instant; a copy or an "
                "upgrade of the table went wrong: remove the one that is not of this table",
                HUDI_BAD_TIMELINE,
            )
