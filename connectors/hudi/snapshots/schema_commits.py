"""Reading the history of a table's columns (FileBasedInternalSchemaStorageManager). Driver side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connector_spi.errors import CorruptFileError, FileMissingError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_SCHEMA, HUDI_SCHEMA_ON_READ
from connectors.hudi.merge.config import merge_config
from connectors.hudi.schema.history import SchemaHistory
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.timeline.instant import Instant, InstantState, parse_instant
from connectors.toolkit.storage.filesystem import join_path

__all__ = ["read_schema_history"]

_FOLDER = ".hoodie/.schema"


def read_schema_history(snapshot: HudiSnapshot, schema: pa.Schema) -> SchemaHistory | None:
    """The versions of a table's columns, as the snapshot's newest write shows them.

    Args:
        snapshot: The table.
        schema: Its columns.

    Returns:
        ``None`` where columns are found by their names, as in most tables.

    Raises:
        NotSupportedError: The history cannot be read right.
        CorruptFileError: It is damaged.
    """
    newest = snapshot.newest_schema_write()
    commits = _schema_commits(snapshot)
    query = newest.internal_schema if newest is not None else None
    if query is None:
        _check_without(snapshot, commits)
        return None
    versions: dict[str, int] = {}
    recorded: list[tuple[str, int]] = []
    for instant in snapshot.view.instants:
        version = snapshot.commit(instant).internal_schema
        if version is not None:
            recorded.append((instant.requested, versions.setdefault(version, len(versions))))
    history = _read(snapshot, commits[-1]) if commits else None
    made = SchemaHistory(snapshot.location, query, tuple(recorded), tuple(versions), history)
    config = snapshot.config
    merge = merge_config(config.version, dict(config.properties), snapshot.location) if config.merge_on_read else None
    named = () if merge is None else (*merge.key_fields, *merge.rules.ordering_fields, merge.rules.delete_field)
    made.check(schema, filter(None, (*config.partition_fields, *named)), config.partition_fields)
    return made


def _check_without(snapshot: HudiSnapshot, commits: Sequence[Instant]) -> None:
    """A table whose newest write records no columns with ids must never have had any."""
    latest = snapshot.view.latest
    went_on = any(item.internal_schema for item in snapshot.newest_writes())
    if went_on or (latest is not None and any(commit.requested <= latest.requested for commit in commits)):
        raise NotSupportedError(
            f"{snapshot.location} has a schema history (schema on read), which its newest write as of "
            f"{latest.requested if latest else 'now'} does not go on with; write to the table with "
            "hoodie.schema.on.read.enable, or rewrite it",
            HUDI_SCHEMA_ON_READ,
        )


def _schema_commits(snapshot: HudiSnapshot) -> list[Instant]:
    """The changes of columns by writes that are complete, oldest first."""
    try:
        listing = snapshot.files.list(join_path(snapshot.location, _FOLDER))
    except FileMissingError:
        return []
    completed = set(snapshot.view.completed)
    completed |= {item.requested for item in snapshot.active if item.state is InstantState.COMPLETED}
    start = snapshot.view.start or ""
    parsed = (parse_instant(info.name, snapshot.config.layout) for info in listing if not info.is_directory)
    return sorted(
        (
            item
            for item in parsed
            if item is not None
            and item.action == "schemacommit"
            and item.state is InstantState.COMPLETED
            and (item.requested in completed or item.requested < start)
        ),
        key=lambda item: item.requested,
    )


def _read(snapshot: HudiSnapshot, instant: Instant) -> str:
    path = join_path(snapshot.location, f"{_FOLDER}/{instant.file_name}")
    try:
        return str(snapshot.files.read_bytes(path), "utf-8")
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"{path} is no text; restore it, or rewrite the table", HUDI_BAD_SCHEMA) from error
