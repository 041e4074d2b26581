"""What a completed write says it did: JSON in layout 1, an Avro container file in layout 2."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from connector_spi.errors import CorruptFileError
from connector_spi.serializable import Serializable
from connectors.hudi.error_codes import HUDI_BAD_TIMELINE
from connectors.hudi.timeline.avro_record import container_record
from connectors.toolkit.avro.errors import AVRO_ERRORS

__all__ = ["CommitMetadata", "WriteStat", "commit_metadata", "parse_commit_metadata"]

_AVRO_MAGIC = b"Obj\x01"
# WriteOperationType.canUpdateSchema: these rewrite rows with the schema that they find.
_KEEP_SCHEMA = frozenset({"CLUSTER", "COMPACT", "INDEX", "LOG_COMPACT"})


@dataclass(frozen=True, slots=True)
class WriteStat(Serializable):
    """One file that a write made.

    Attributes:
        partition: Path of the partition, relative to the table; empty for a table without.
        file_id: Id of the file group.
        path: Path of the file, relative to the table; ``None`` where the write made none.
        rows: Rows that the file holds after the write; ``None`` is unknown.
        size: Bytes of the file; ``None`` is unknown.
        previous: Requested time of the write that made the group's base file before; ``None`` for a new group.
        updates: Rows that were changed; ``None`` is unknown.
        deletes: Rows that were deleted; ``None`` is unknown.
        change_logs: Paths of the logs that record the changes (``.cdc``), relative to the table.
    """

    partition: str
    file_id: str
    path: str | None
    rows: int | None
    size: int | None
    previous: str | None = None
    updates: int | None = None
    deletes: int | None = None
    change_logs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitMetadata(Serializable):
    """The metadata of a commit, deltacommit or replacecommit.

    Attributes:
        operation: Such as ``UPSERT``; empty where the writer did not say.
        stats: The files written.
        replaced: Partition and file group ids that the write replaced.
        extra: The writer's notes, the schema among them.
    """

    operation: str
    stats: tuple[WriteStat, ...]
    replaced: tuple[tuple[str, tuple[str, ...]], ...]
    extra: tuple[tuple[str, str], ...]

    @property
    def schema(self) -> str | None:
        """Avro schema of the rows written, as JSON, or ``None``."""
        return dict(self.extra).get("schema") or None

    @property
    def may_update_schema(self) -> bool:
        """Whether the table takes its schema from such a write."""
        return self.operation not in _KEEP_SCHEMA

    @property
    def internal_schema(self) -> str | None:
        """The columns with their ids, as JSON, of a table with schema on read; else ``None``."""
        return dict(self.extra).get("latest_schema") or None


def parse_commit_metadata(data: bytes, where: str) -> CommitMetadata:
    """Reads the content of a completed instant's file.

    Unknown keys are passed over: old writers add derived ones, new ones bring more.

    Args:
        data: The file; JSON or an Avro container.
        where: The file's path, for messages.

    Raises:
        CorruptFileError: It is neither, or is cut off.
    """
    try:
        record = container_record(data) if data.startswith(_AVRO_MAGIC) else json.loads(data)
        return commit_metadata(record)
    except AVRO_ERRORS as error:
        raise CorruptFileError(
            f"{where} is no commit metadata in JSON or Avro ({type(error).__name__}); "
            "the write may have been cut off: restore the file, or roll the instant back with Hudi",
            HUDI_BAD_TIMELINE,
        ) from error


def commit_metadata(record: Mapping[str, object]) -> CommitMetadata:
    """Makes sense of a parsed commit.

    Raises:
        TypeError: A part is of another kind than expected.
    """
    stats = _mapping(record.get("partitionToWriteStats"))
    replaced = _mapping(record.get("partitionToReplaceFileIds"))
    extra = _mapping(record.get("extraMetadata"))
    return CommitMetadata(
        operation=str(record.get("operationType") or ""),
        stats=tuple(_write_stat(partition, stat) for partition, items in stats.items() for stat in _items(items)),
        replaced=tuple(
            (partition.strip("/"), tuple(str(item) for item in _items(ids))) for partition, ids in replaced.items()
        ),
        extra=tuple((key, str(value)) for key, value in extra.items() if value is not None),
    )


def _write_stat(partition: str, stat: object) -> WriteStat:
    fields = _mapping(stat)
    path, previous = fields.get("path"), fields.get("prevCommit")
    return WriteStat(
        partition=partition.strip("/"),
        file_id=str(fields.get("fileId") or ""),
        path=str(path) if path else None,
        rows=_count(fields.get("numWrites")),
        size=_count(fields.get("fileSizeInBytes")) or None,
        # Hudi writes the text "null" for a group that is new.
        previous=str(previous) if previous not in (None, "", "null") else None,
        updates=_count(fields.get("numUpdateWrites")),
        deletes=_count(fields.get("numDeletes")),
        change_logs=tuple(_mapping(fields.get("cdcStats"))),
    )


def _mapping(value: object) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError("expected a map")
    return value


def _items(value: object) -> Iterable[object]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise TypeError("expected an array")
    return value


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
