"""From a partition's listing to its file slices at one instant. Pure (invariant I6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from connector_spi.errors import CorruptFileError
from connector_spi.serializable import Serializable
from connectors.hudi.error_codes import HUDI_DUPLICATE_BASE_FILE, HUDI_UNKNOWN_FILE_NAME
from connectors.hudi.file_group.names import (
    BaseFileName,
    LogFileName,
    looks_like_data,
    parse_base_file_name,
    parse_log_file_name,
)
from connectors.hudi.timeline.view import TimelineView, committed_test

__all__ = ["DataFile", "FileSlice", "data_files", "latest_base_files", "latest_file_slices", "parse_listing"]

# HoodieTimeline.METADATA_BOOTSTRAP_INSTANT_TS: base files of it hold the meta columns alone.
_METADATA_BOOTSTRAP_INSTANT = "00000000000001"

WrittenNames = Callable[[str], Collection[str] | None]
ArchivedCompletion = Callable[[str], str | None]
_Attach = Callable[[Collection["DataFile"], Mapping[str, "DataFile"], TimelineView], Mapping[str, list["DataFile"]]]


@dataclass(frozen=True, slots=True)
class DataFile(Serializable):
    """A base or log file on storage.

    Attributes:
        name: What its name says.
        path: Path as listed.
        size: Bytes.
        modified_millis: Modification time, milliseconds since 1970, UTC.
    """

    name: BaseFileName | LogFileName
    path: str
    size: int
    modified_millis: int


@dataclass(frozen=True, slots=True)
class FileSlice(Serializable):
    """One state of a file group: a base file and the logs written onto it.

    Attributes:
        file_id: Id of the file group.
        base_instant: Requested time of the base file, or of the first log where there is none.
        base: The base file, or ``None`` while the group has logs only.
        logs: Logs in the order of merging (HoodieLogFile.LogFileComparator), change-data logs left out.
    """

    file_id: str
    base_instant: str
    base: DataFile | None
    logs: tuple[DataFile, ...]

    @property
    def is_skeleton(self) -> bool:
        """Whether the base file holds the meta columns alone, its rows being in a file that was bootstrapped."""
        return self.base is not None and self.base.name.instant == _METADATA_BOOTSTRAP_INSTANT


def data_files(file_slice: FileSlice) -> tuple[DataFile, ...]:
    """The base file, where there is one, then the logs."""
    return (*([file_slice.base] if file_slice.base is not None else []), *file_slice.logs)


def parse_listing(entries: Iterable[tuple[str, int, int]]) -> list[DataFile]:
    """Picks the data files of a partition.

    Args:
        entries: Path, bytes and modification time of each file in the partition's folder.

    Raises:
        CorruptFileError: A file may hold rows, and its name is not understood.
    """
    files: list[DataFile] = []
    for path, size, modified in entries:
        bare = path.rpartition("/")[2]
        name = parse_base_file_name(bare) or parse_log_file_name(bare)
        if name is not None:
            files.append(DataFile(name, path, size, modified))
        elif looks_like_data(bare):
            raise CorruptFileError(
                f"{path} is named like no base or log file of Hudi, expected <file id>_<write token>_<instant> and an "
                "extension such as .parquet; move it out of the table, or have its writer commit it natively",
                HUDI_UNKNOWN_FILE_NAME,
            )
    return files


def latest_file_slices(
    files: Iterable[DataFile],
    view: TimelineView,
    layout: int,
    replaced: Collection[str],
    written_names: WrittenNames,
    archived_completion: ArchivedCompletion,
) -> list[FileSlice]:
    """The newest visible slice of each file group of a partition, sorted by file id.

    In layout 1, what is written while a compaction is pending goes into logs named after it, before there is its base
    file: such logs come behind those of the slice before (getLatestMergedFileSlicesBeforeOrOn).

    Args:
        files: All data files of the partition.
        view: The timeline of the query.
        layout: Timeline layout.
        replaced: Ids of the file groups that visible writes replaced in this partition.
        written_names: Names of the files that an instant's metadata says it wrote, ``None`` when the instant is
            no longer on the active timeline; decides between base files that differ only in the write token.
        archived_completion: Completion time of a write that the view does not have, in layout 2, ``None`` where it is
            unknown; asked only of logs that were requested before a base file of their group.

    Raises:
        CorruptFileError: Two base files of one group and instant, and nothing says which one is true.
    """
    is_committed = committed_test(view)
    attach = _attach_by_name if layout == 1 else partial(_attach_by_completion, archived_completion=archived_completion)
    bases: dict[str, list[DataFile]] = defaultdict(list)
    logs: dict[str, list[DataFile]] = defaultdict(list)
    for file in files:
        name = file.name
        if name.file_id in replaced:
            continue
        if isinstance(name, BaseFileName):
            if is_committed(name.instant):
                bases[name.file_id].append(file)
        elif not name.change_data and (layout == 1 or is_committed(name.instant)):
            logs[name.file_id].append(file)
    slices = (
        _latest_slice(file_id, _by_instant(bases[file_id], written_names), logs[file_id], view, attach)
        for file_id in sorted(bases.keys() | logs.keys())
    )
    return [found for found in slices if found is not None]


def latest_base_files(
    files: Iterable[DataFile], view: TimelineView, replaced: Collection[str], written_names: WrittenNames
) -> list[FileSlice]:
    """The newest visible base file of each file group of a partition, sorted by file id: what is read-optimized.

    A group that has logs only shows nothing; a newer slice of logs does not hide an older base file
    (AbstractTableFileSystemView.getLatestBaseFilesBeforeOrOn). Arguments and errors as of ``latest_file_slices``.
    """
    is_committed = committed_test(view)
    bases: dict[str, list[DataFile]] = defaultdict(list)
    for file in files:
        name = file.name
        if isinstance(name, BaseFileName) and name.file_id not in replaced and is_committed(name.instant):
            bases[name.file_id].append(file)
    slices = []
    for file_id in sorted(bases):
        by_instant = _by_instant(bases[file_id], written_names)
        newest = max(by_instant)
        slices.append(FileSlice(file_id, newest, by_instant[newest], ()))
    return slices


def _latest_slice(
    file_id: str, bases: Mapping[str, DataFile], logs: Collection[DataFile], view: TimelineView, attach: _Attach
) -> FileSlice | None:
    """The newest slice of a file group; ``None`` where none is visible."""
    attached = dict(attach(logs, bases, view))
    compacting = [attached.pop(key) for key in sorted(attached) if key in view.pending_compactions]
    newest = max((*bases, *attached), default=None)
    if newest is None and compacting:
        newest = compacting[0][0].name.instant
    if newest is None:
        return None
    ordered = [log for part in (attached.get(newest, ()), *compacting) for log in sorted(part, key=_log_order)]
    return FileSlice(file_id, newest, bases.get(newest), tuple(ordered))


def _by_instant(files: Iterable[DataFile], written_names: WrittenNames) -> dict[str, DataFile]:
    candidates: dict[str, list[DataFile]] = defaultdict(list)
    for file in files:
        candidates[file.name.instant].append(file)
    return {instant: _true_file(instant, found, written_names) for instant, found in candidates.items()}


def _true_file(instant: str, candidates: list[DataFile], written_names: WrittenNames) -> DataFile:
    if len(candidates) == 1:
        return candidates[0]
    named = written_names(instant) or ()
    written = [file for file in candidates if file.path.rpartition("/")[2] in named]
    if len(written) == 1:
        return written[0]
    raise CorruptFileError(
        f"{' and '.join(sorted(file.path for file in candidates))} are base files of one file group at instant "
        f"{instant}, and the timeline does not say which one was committed; remove the one of the failed task",
        HUDI_DUPLICATE_BASE_FILE,
    )


def _attach_by_name(
    logs: Collection[DataFile], bases: Mapping[str, DataFile], view: TimelineView
) -> dict[str, list[DataFile]]:
    """Gives each log of layout 1 its slice, by the slice's base instant: the log's name says it."""
    attached: dict[str, list[DataFile]] = defaultdict(list)
    is_committed = committed_test(view)
    for log in logs:
        named = log.name.instant
        # A slice of logs alone shows nothing until its instant is complete.
        if named in bases or is_committed(named) or named in view.pending_compactions:
            attached[named].append(log)
    return attached


def _attach_by_completion(
    logs: Collection[DataFile],
    bases: Mapping[str, DataFile],
    view: TimelineView,
    archived_completion: ArchivedCompletion,
) -> dict[str, list[DataFile]]:
    """Gives each log of layout 2 its slice: that of the newest base file requested before the log was complete
    (HoodieFileGroup.getBaseInstantTime)."""
    attached: dict[str, list[DataFile]] = defaultdict(list)
    completions = view.completions
    keys = set(bases)
    for log in sorted(logs, key=_log_order):
        requested = log.name.instant
        completion = completions.get(requested)
        if completion is None and any(key > requested for key in bases):
            # A write and a compaction can overlap: which of them was there first, only the archive still knows.
            completion = archived_completion(requested)
        key = max((key for key in keys if key <= (completion or requested)), default=requested)
        keys.add(key)
        attached[key].append(log)
    return attached


def _log_order(log: DataFile) -> tuple[str, int, str]:
    name = log.name
    version = name.version if isinstance(name, LogFileName) else 0
    return name.instant, version, name.write_token
