"""The metadata table of one query: whether it can be used, and its partitions. Driver side.

It is a merge-on-read table of HFiles in ``.hoodie/metadata``, with a timeline of its own. A write of the data table
is recorded there before it is complete; so what belongs to pending writes is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from connector_spi.errors import ConnectorError
from connectors.hudi.file_group.slices import FileSlice, latest_file_slices, parse_listing
from connectors.hudi.java_properties import parse_java_properties
from connectors.hudi.metadata_table.file_groups import MetadataFileGroups
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.table_config import TableConfig, timeline_folders
from connectors.hudi.timeline.archive import ArchivedCompletions
from connectors.hudi.timeline.instant import Instant, InstantState
from connectors.hudi.timeline.loader import list_instants, read_commit_metadata
from connectors.hudi.timeline.view import TimelineView, committed_test, timeline_view
from connectors.toolkit.storage.filesystem import FileInfo, join_path

__all__ = ["MetadataTable", "UnusableMetadataTableError", "metadata_errors", "open_metadata_table"]

_FOLDER = ".hoodie/metadata"
_PAYLOAD = "org.apache.hudi.metadata.HoodieMetadataPayload"
_FILES = "files"
_FILE_BYTES = 400
_NEW_GROUP = "0-0-0"
_UNDOING = frozenset({"rollback", "restore"})
_INSTANT_DIGITS = 17
# Instants that fill a new partition of the metadata table count from here (HoodieTimeline.INIT_INSTANT_TS); in
# layout 1 they may also be an instant of the data table with such a number behind it.
_FIRST_FILL = "00000000000000"

metadata_errors = (ConnectorError, ValueError, KeyError, TypeError, IndexError, OverflowError)
"""What reading of a metadata table that is not as expected may raise: it is not used then."""


class UnusableMetadataTableError(ValueError):
    """The metadata table lacks what a query needs; says why."""


class MetadataTable:
    """The metadata table as a query may use it.

    Args:
        snapshot: The data table.
        config: Where the metadata table's timeline is.
        view: Its timeline.

    Attributes:
        listed: Files of partitions that were asked for, by path; filled by ``list_files``.
        partition_paths: Paths of all partitions, sorted; ``None`` until ``list_partitions`` fills it.
    """

    def __init__(self, snapshot: HudiSnapshot, config: TableConfig, view: TimelineView) -> None:
        self._snapshot = snapshot
        self._config = config
        self._view = view
        self.listed: dict[str, list[FileInfo]] = {}
        self.partition_paths: list[str] | None = None
        self._newest_known = _newest_known(snapshot)
        self._completions = ArchivedCompletions(snapshot.files, snapshot.location, config)
        self._partitions: dict[str, MetadataFileGroups] = {}

    @property
    def nbytes(self) -> int:
        """About the memory of what was listed so far."""
        return _FILE_BYTES * sum(map(len, self.listed.copy().values()))

    @property
    def is_newest(self) -> bool:
        """Whether the query sees the newest state, and no later write has been recorded."""
        if self._snapshot.view.until is not None:
            return False
        recorded = (instant.requested for instant in self._view.instants if instant.action != "commit")
        return all(self._is_known(instant) for instant in recorded)

    @property
    def tells_partitions(self) -> bool:
        """Whether what it says of whole partitions is of the state that the query sees.

        Hudi has not always got these statistics right: while a compaction was pending they were of new logs alone,
        though called exact. So they count only for copy-on-write tables whose writes were complete one after the
        other, with none pending or rolled back; for the newest state; and while no later write has been recorded.
        """
        snapshot = self._snapshot
        view = snapshot.view
        if snapshot.config.merge_on_read or self._config.layout == 1 or not self.is_newest:
            return False
        if not snapshot.active or _pending(snapshot) or any(item.action in _UNDOING for item in snapshot.active):
            return False
        completions = [instant.completion or "" for instant in view.instants if not instant.archived]
        return completions == sorted(completions)

    def has_partition(self, name: str) -> bool:
        """Whether an index can be read, such as ``column_stats``."""
        return name in self._snapshot.config.metadata_partitions

    def partition(self, name: str) -> MetadataFileGroups:
        """The file groups of an index.

        Raises:
            UnusableMetadataTableError: It cannot be read.
            ConnectorError: Its directory cannot be listed.
        """
        found = self._partitions.get(name)
        if found is None:
            if not self.has_partition(name):
                raise UnusableMetadataTableError(f"it has no partition {name}")
            found = self._open(name)
            self._partitions[name] = found
        return found

    def _open(self, name: str) -> MetadataFileGroups:
        snapshot = self._snapshot
        listing = snapshot.files.list(join_path(snapshot.location, f"{_FOLDER}/{name}"))
        data = parse_listing((info.path, info.size, info.modified_millis) for info in listing if not info.is_directory)
        slices = latest_file_slices(
            files=data,
            view=self._view,
            layout=self._config.layout,
            replaced=(),
            written_names=lambda requested: None,
            archived_completion=self._completions.of,
        )
        if not slices or not all(_is_whole(item, name) for item in slices):
            raise UnusableMetadataTableError(f"its partition {name} lacks files")
        groups = MetadataFileGroups(snapshot.files, slices, self._valid_test(), snapshot.memory)
        if name == _FILES:
            self._check_logged(groups)
        else:
            self._check_written(name, slices, {file.path.rpartition("/")[2] for file in data})
        return groups

    def _check_logged(self, groups: MetadataFileGroups) -> None:
        """Every write notes its files, so one of which nothing is there has lost its log."""
        [file_slice] = groups.slices
        logged = groups.logged_instants()
        later = {item.requested for item in self._later_than(file_slice.base_instant)}
        for write in self._snapshot.view.instants:
            if not write.archived and write.requested in later and write.requested not in logged:
                raise UnusableMetadataTableError(f"a log of {_FILES} is missing: what {write.requested} wrote")

    def _check_written(self, name: str, slices: Sequence[FileSlice], names: Collection[str]) -> None:
        """The files that were written since the base files must be there."""
        oldest = min(item.base_instant if item.base is not None else "" for item in slices)
        snapshot = self._snapshot
        for instant in self._later_than(oldest):
            commit = read_commit_metadata(snapshot.files, snapshot.location, self._config, instant)
            for stat in commit.stats:
                directory, _, file = (stat.path or "").rpartition("/")
                if directory == name and file not in names:
                    raise UnusableMetadataTableError(f"{stat.path}, which {instant.requested} wrote, is missing")

    def _later_than(self, base: str) -> list[Instant]:
        """Its own writes that are not in a base file."""
        if self._config.layout == 2:
            return [item for item in self._view.instants if (item.completion or item.requested) > base]
        return [item for item in self._view.instants if item.requested[:_INSTANT_DIGITS] > base[:_INSTANT_DIGITS]]

    def _valid_test(self) -> Callable[[str], bool]:
        """Says of an instant whether its blocks count (HoodieTableMetadataUtil.getValidInstantTimestamps)."""
        is_committed = committed_test(self._view)
        pending = _pending(self._snapshot)
        return lambda instant: is_committed(instant) and instant not in pending and self._is_known(instant)

    def _is_known(self, instant: str) -> bool:
        """Whether the data table's timeline had got as far: a later clean may have taken files that the query needs."""
        return instant[:_INSTANT_DIGITS] <= self._newest_known or instant.startswith(_FIRST_FILL)


def open_metadata_table(snapshot: HudiSnapshot) -> MetadataTable:
    """The metadata table of a data table, if it can be used for a query.

    Raises:
        UnusableMetadataTableError: It is off, or does not know all writes of the query's view.
        ConnectorError: It cannot be read.
    """
    if _FILES not in snapshot.config.metadata_partitions:
        raise UnusableMetadataTableError("it is off")
    config = _read_config(snapshot)
    instants = list_instants(snapshot.files, snapshot.location, config)
    view = timeline_view(instants)
    if any(instant.action == "replacecommit" for instant in view.instants):
        raise UnusableMetadataTableError("its timeline has a replacecommit, which it should not have")
    _check_covers(snapshot, view)
    return MetadataTable(snapshot, config, view)


def _read_config(snapshot: HudiSnapshot) -> TableConfig:
    path = join_path(snapshot.location, f"{_FOLDER}/.hoodie/hoodie.properties")
    properties = parse_java_properties(snapshot.files.read_text(path))
    config = snapshot.config
    expected = {
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.base.file.format": "HFILE",
        "hoodie.table.version": str(config.version),
        "hoodie.compaction.payload.class": _PAYLOAD,
    }
    for key, value in expected.items():
        met = properties.get(key, "")
        if met.strip().upper() != value.upper():
            raise UnusableMetadataTableError(f"its {key} is {met!r}, expected {value!r}")
    layout = int(properties.get("hoodie.timeline.layout.version", config.layout))
    if layout != config.layout:
        raise UnusableMetadataTableError(f"its timeline layout is {layout}, that of the table {config.layout}")
    active, archive = timeline_folders(properties, layout)
    return replace(config, timeline_folder=f"{_FOLDER}/{active}", archive_folder=f"{_FOLDER}/{archive}")


def _check_covers(snapshot: HudiSnapshot, view: TimelineView) -> None:
    """Every completed write of the data table must have been recorded, or be older than the metadata table."""
    recorded = view.completed
    fills = [instant for instant in view.instants if _is_fill(instant)]
    first = min(fills, key=lambda item: item.completion or item.requested, default=None)
    for write in snapshot.view.instants:
        if write.archived or write.requested in recorded:
            continue
        if first is None or not _filled_after(first, write):
            raise UnusableMetadataTableError(f"it does not know the write {write.requested}")


def _is_fill(instant: Instant) -> bool:
    return instant.requested.startswith(_FIRST_FILL) or len(instant.requested) > _INSTANT_DIGITS


def _filled_after(fill: Instant, write: Instant) -> bool:
    if fill.completion is not None and write.completion is not None:
        return write.completion < fill.completion
    return len(fill.requested) > _INSTANT_DIGITS and write.requested <= fill.requested[:_INSTANT_DIGITS]


def _is_whole(file_slice: FileSlice, name: str) -> bool:
    """Whether a slice without a base file never had one: then an empty log says that the group is new.

    The list of files is written as a base file from the beginning.
    """
    if file_slice.base is not None:
        return True
    return name != _FILES and any(log.name.write_token == _NEW_GROUP for log in file_slice.logs)


def _pending(snapshot: HudiSnapshot) -> frozenset[str]:
    """Requested times of what the data table's timeline has and is not complete."""
    if not snapshot.active:
        return frozenset(snapshot.view.pending)
    complete = {item.requested for item in snapshot.active if item.state is InstantState.COMPLETED}
    return frozenset(item.requested for item in snapshot.active) - complete


def _newest_known(snapshot: HudiSnapshot) -> str:
    """The last instant of any kind that the data table's timeline had; that the view has, where it was not listed."""
    instants = snapshot.active or snapshot.view.instants
    return max((*(instant.requested for instant in instants), *snapshot.view.pending), default="")
