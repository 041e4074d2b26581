"""Reading the timeline's folder. Driver side; lists once per query."""

from __future__ import annotations

from collections.abc import Iterable

from connector_spi.errors import CorruptFileError, FileMissingError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_TIMELINE
from connectors.hudi.table_config import TableConfig
from connectors.hudi.timeline.avro_record import container_record
from connectors.hudi.timeline.commit_metadata import CommitMetadata, parse_commit_metadata
from connectors.hudi.timeline.instant import KNOWN_ACTIONS, Instant, InstantState, parse_instant
from connectors.toolkit.avro.errors import AVRO_ERRORS
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, join_path

__all__ = [
    "is_clustering_plan",
    "list_instants",
    "list_timeline",
    "parse_instants",
    "read_clean_horizon",
    "read_commit_metadata",
    "read_instant",
]


def list_instants(files: FileSystem, location: str, config: TableConfig) -> list[Instant]:
    """All files of the active timeline, sorted by requested time, then name.

    Raises:
        CorruptFileError: The timeline's folder is not there.
        NotSupportedError: A completed action is of a kind that is not understood: it may have changed data.
    """
    return parse_instants(list_timeline(files, location, config), location, config)


def list_timeline(files: FileSystem, location: str, config: TableConfig) -> list[FileInfo]:
    """What is in the timeline's folder.

    Raises:
        CorruptFileError: It is not there.
    """
    folder = join_path(location, config.timeline_folder)
    try:
        return files.list(folder)
    except FileMissingError as error:
        raise CorruptFileError(
            f"the timeline {folder} of {location} is not there (table version {config.version}, timeline layout "
            f"{config.layout}); an upgrade may be running: try again, or restore the folder",
            HUDI_BAD_TIMELINE,
        ) from error


def parse_instants(listing: Iterable[FileInfo], location: str, config: TableConfig) -> list[Instant]:
    """The instants in the listing of a timeline's folder; as of ``list_instants``.

    Raises:
        NotSupportedError: A completed action is of a kind that is not understood: it may have changed data.
    """
    parsed = (parse_instant(info.name, config.layout) for info in listing if not info.is_directory)
    instants = sorted((item for item in parsed if item is not None), key=lambda item: (item.requested, item.file_name))
    for instant in instants:
        if instant.state is InstantState.COMPLETED and instant.action not in KNOWN_ACTIONS:
            raise NotSupportedError(
                f"{location}: instant {instant.file_name} is of the unknown action {instant.action!r}; "
                f"known are {', '.join(sorted(KNOWN_ACTIONS))}",
                HUDI_BAD_TIMELINE,
            )
    return instants


def read_commit_metadata(files: FileSystem, location: str, config: TableConfig, instant: Instant) -> CommitMetadata:
    """Reads what a completed write did.

    Raises:
        FileMissingError: The instant was archived or rolled back since the timeline was listed.
        CorruptFileError: The file is cut off.
    """
    return parse_commit_metadata(
        read_instant(files, location, config, instant), _path(location, config, instant.file_name)
    )


def read_clean_horizon(files: FileSystem, location: str, config: TableConfig, instant: Instant) -> str | None:
    """The first write whose files a completed clean kept; ``None`` where it went by other rules.

    Raises:
        FileMissingError: The instant was archived since the timeline was listed.
        CorruptFileError: The file is cut off.
    """
    data = read_instant(files, location, config, instant)
    try:
        earliest = container_record(data).get("earliestCommitToRetain")
    except AVRO_ERRORS as error:
        raise CorruptFileError(
            f"{_path(location, config, instant.file_name)} is no clean metadata in Avro ({type(error).__name__}); "
            "restore the file",
            HUDI_BAD_TIMELINE,
        ) from error
    return str(earliest) if earliest else None


def is_clustering_plan(data: bytes) -> bool:
    """Whether a requested replacecommit is a clustering; an overwrite has no plan (HoodieRequestedReplaceMetadata)."""
    try:
        return bool(data) and container_record(data).get("clusteringPlan") is not None
    except AVRO_ERRORS:
        return False


def read_instant(files: FileSystem, location: str, config: TableConfig, instant: Instant) -> bytes:
    """The content of a file of the active timeline.

    Raises:
        FileMissingError: The instant was archived or rolled back since the timeline was listed.
    """
    path = _path(location, config, instant.file_name)
    try:
        return files.read_bytes(path)
    except FileMissingError as error:
        raise FileMissingError(
            f"instant {path} was archived or rolled back while the query was planned; run the query again",
            HUDI_BAD_TIMELINE,
        ) from error


def _path(location: str, config: TableConfig, name: str) -> str:
    return join_path(join_path(location, config.timeline_folder), name)
