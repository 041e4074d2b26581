"""The archived timeline: writes that Hudi moved out of the active one. Driver side; read where a query needs it.

Layout 1 keeps log files of Avro records, three for each instant (HoodieArchivedMetaEntry). Layout 2 keeps Parquet
files, which a manifest names (LSMTimeline).
"""

from __future__ import annotations

import io
import json
import re
import struct
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.errors import CorruptFileError, FileMissingError
from connectors.hudi.error_codes import HUDI_BAD_TIMELINE
from connectors.hudi.log.block import BlockType, LogBlock
from connectors.hudi.log.reader import block_content, read_log_blocks
from connectors.hudi.table_config import TableConfig
from connectors.hudi.timeline.commit_metadata import CommitMetadata, commit_metadata, parse_commit_metadata
from connectors.hudi.timeline.instant import Instant, InstantState
from connectors.toolkit.avro.errors import AVRO_ERRORS
from connectors.toolkit.parquet.reader import open_parquet, parquet_errors
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["ArchivedCompletions", "ArchivedTimeline", "read_archive"]

_ARCHIVE_NAME = re.compile(r"\.commits_\.archive\.(\d+)(?:_[\d-]+)?")
_HISTORY_NAME = re.compile(r"(\d+)_(\d+)_(\d+)\.parquet")
_MANIFEST_NAME = re.compile(r"manifest_(\d+)")
_COLUMNS = ["instantTime", "completionTime", "action", "metadata"]
_LENGTH = struct.Struct(">i")
_WRITES = {"hoodieCommitMetadata", "hoodieReplaceCommitMetadata"}


@dataclass(frozen=True, slots=True)
class ArchivedTimeline:
    """The archived, completed instants of a table.

    Attributes:
        instants: By requested time; not all of them are writes.
        commits: What the writes did, by requested time: Avro bytes of layout 2, a record of layout 1.
    """

    instants: tuple[Instant, ...]
    commits: Mapping[str, bytes | Mapping[str, object]]

    def commit(self, instant: Instant) -> CommitMetadata:
        """What an archived write did.

        Raises:
            CorruptFileError: The archive does not say.
        """
        found = self.commits.get(instant.requested)
        try:
            if isinstance(found, bytes):
                return parse_commit_metadata(found, f"{instant.file_name}, instant {instant.requested}")
            if found is not None:
                return commit_metadata(found)
        except TypeError as error:
            raise _damaged(instant.file_name, f"instant {instant.requested} has no commit metadata") from error
        raise _damaged(instant.file_name, f"instant {instant.requested} has no commit metadata")


class ArchivedCompletions:
    """When archived writes of a table of layout 2 were complete. Reads what is asked for. Used by several threads.

    Args:
        files: Storage.
        location: The table's directory.
        config: Where its archived timeline is.
    """

    def __init__(self, files: FileSystem, location: str, config: TableConfig) -> None:
        self._files = files
        self._folder = join_path(location, config.archive_folder)
        self._names: list[str] | None = None
        self._read: dict[str, dict[str, str | None]] = {}
        self._lock = threading.Lock()

    def of(self, requested: str) -> str | None:
        """The completion time of a write; ``None`` where the archive does not know it.

        Args:
            requested: The write.

        Raises:
            CorruptFileError: A file of the archive is damaged.
            FileMissingError: One went away while it was read.
        """
        with self._lock:
            if self._names is None:
                self._names = _manifest(self._files, self._folder, _file_names(self._files, self._folder))
            for name in self._names:
                first, last = _range(self._folder, name)
                if first <= requested <= last and requested in self._times(name):
                    return self._times(name)[requested]
        return None

    def _times(self, name: str) -> dict[str, str | None]:
        if name not in self._read:
            path = join_path(self._folder, name)
            with open_parquet(self._files, path) as file, parquet_errors(path):
                rows = file.read(_COLUMNS[:2])
                columns = (rows.column(column).to_pylist() for column in _COLUMNS[:2])
                self._read[name] = dict(zip(*columns, strict=True))
        return self._read[name]


def read_archive(files: FileSystem, location: str, config: TableConfig) -> ArchivedTimeline:
    """Reads the archived timeline; empty where the table has none.

    Args:
        files: Storage.
        location: The table's directory.
        config: The table's properties.

    Raises:
        CorruptFileError: A file of it is damaged.
        FileMissingError: A file went away while it was read.
    """
    folder = join_path(location, config.archive_folder)
    names = _file_names(files, folder)
    read = _read_logs(files, folder, names) if config.layout == 1 else _read_history(files, folder, names)
    instants: dict[tuple[str, str], Instant] = {}
    commits: dict[str, bytes | Mapping[str, object]] = {}
    for instant, commit in read:
        instants[instant.requested, instant.action] = instant
        if commit is not None:
            commits[instant.requested] = commit
    return ArchivedTimeline(tuple(sorted(instants.values(), key=lambda item: item.requested)), commits)


def _file_names(files: FileSystem, folder: str) -> list[str]:
    """Names of the files of an archived timeline; none where the table has none."""
    try:
        return sorted(info.name for info in files.list(folder) if not info.is_directory)
    except FileMissingError:
        return []


def _range(folder: str, name: str) -> tuple[str, str]:
    """The first and the last instant of a file of layout 2, by its name."""
    match = _HISTORY_NAME.fullmatch(name)
    if match is None:
        raise _damaged(join_path(folder, name), "it is named like no file of the archived timeline")
    return match[1], match[2]


def _read_history(files: FileSystem, folder: str, names: list[str]) -> Iterator[tuple[Instant, bytes | None]]:
    for name in _manifest(files, folder, names):
        _range(folder, name)
        path = join_path(folder, name)
        try:
            data = files.read_bytes(path)
        except FileMissingError as error:
            raise FileMissingError(
                f"{path} of the archived timeline went away while it was read; run the query again", HUDI_BAD_TIMELINE
            ) from error
        with parquet_errors(path):
            rows = pq.read_table(pa.BufferReader(data), columns=_COLUMNS).to_pylist()
        for row in rows:
            state = InstantState.COMPLETED
            instant = Instant(row["instantTime"], row["action"], state, row["completionTime"], path, archived=True)
            yield instant, row["metadata"] or None


def _manifest(files: FileSystem, folder: str, names: list[str]) -> list[str]:
    """The files of the newest version; older ones linger (LSMTimeline.latestSnapshotManifest)."""
    versions = [int(match[1]) for match in map(_MANIFEST_NAME.fullmatch, names) if match is not None]
    if not versions:
        if any(_HISTORY_NAME.fullmatch(name) for name in names):
            raise _damaged(folder, "no manifest names its files")
        return []
    version = max(versions)
    try:
        newest = int(files.read_text(join_path(folder, "_version_")))
        version = newest if newest in versions else version
    except (FileMissingError, ValueError):
        pass
    path = join_path(folder, f"manifest_{version}")
    try:
        listed = json.loads(files.read_text(path))
        return [str(entry["fileName"]) for entry in listed["files"]]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, "it is no manifest") from error


def _read_logs(
    files: FileSystem, folder: str, names: list[str]
) -> Iterator[tuple[Instant, Mapping[str, object] | None]]:
    numbered = [(int(match[1]), name) for name in names if (match := _ARCHIVE_NAME.fullmatch(name)) is not None]
    for _, name in sorted(numbered):
        path = join_path(folder, name)
        with files.open(path) as file:
            for block in read_log_blocks(file, path):
                if block.type is BlockType.AVRO_DATA:
                    for record in _records(block, block_content(file, block).to_pybytes()):
                        entry = _entry(record, path)
                        if entry is not None:
                            yield entry


def _entry(record: Mapping[str, object], path: str) -> tuple[Instant, Mapping[str, object] | None] | None:
    """A completed instant. Entries of old writers record no state: only completed ones were archived then."""
    requested, action = record.get("commitTime"), record.get("actionType")
    if not requested or not action or record.get("actionState") not in (None, "COMPLETED"):
        return None
    found = [record[key] for key in _WRITES if record.get(key) is not None]
    instant = Instant(str(requested), str(action), InstantState.COMPLETED, None, path, archived=True)
    return instant, found[0] if found and isinstance(found[0], dict) else None


def _records(block: LogBlock, content: bytes) -> Iterator[Mapping[str, object]]:
    """The records of an Avro data block: two ints (version, count), then a length and a datum for each."""
    try:
        schema = fastavro.parse_schema(json.loads(block.schema or ""))
        position = 2 * _LENGTH.size
        (count,) = _LENGTH.unpack_from(content, _LENGTH.size)
        for _ in range(count):
            (length,) = _LENGTH.unpack_from(content, position)
            position += _LENGTH.size
            record = fastavro.schemaless_reader(io.BytesIO(content[position : position + length]), schema, None)
            position += length
            if isinstance(record, dict):
                yield record
    except AVRO_ERRORS as error:
        raise _damaged(block.path, f"the block at byte {block.offset} is no archived timeline") from error


def _damaged(path: str, what: str) -> CorruptFileError:
    return CorruptFileError(
        f"{path} of the archived timeline is damaged: {what}; restore it, or read a range that the active timeline "
        "covers",
        HUDI_BAD_TIMELINE,
    )
