"""The handle of a table that the metastore names, at a snapshot; the keys of its rows and partitions. Driver side."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from catalog.metastore.model import Table
from connector_spi.errors import NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession
from connectors.hudi.config import READ_OPTIMIZED, index_use
from connectors.hudi.error_codes import HUDI_PARTITION_VALUE
from connectors.hudi.handles import HudiTableHandle, IndexUse
from connectors.hudi.registration.registered_table import is_read_optimized, keys_shown_last
from connectors.hudi.schema.history import SchemaHistory
from connectors.hudi.schema.table_schema import PARTITION_PATH, RECORD_KEY
from connectors.hudi.snapshots.schema_commits import read_schema_history
from connectors.hudi.snapshots.snapshot import HudiSnapshot, trimmed
from connectors.hudi.timeline.view import TimelineView
from connectors.hudi.transaction import MemoKey

__all__ = ["partition_keys", "partition_values", "row_id", "table_handle"]


@dataclass(frozen=True, slots=True)
class _Columns:
    schema: pa.Schema
    history: SchemaHistory | None


@dataclass(frozen=True, slots=True)
class _ColumnsKey(MemoKey[_Columns]):
    view: TimelineView


def table_handle(
    session: ConnectorSession, name: SchemaTableName, table: Table, snapshot: HudiSnapshot
) -> HudiTableHandle:
    """The handle of a table.

    Args:
        session: Says which indexes are used, and whether logs are merged.
        name: Its name.
        table: As the metastore has it.
        snapshot: The instant that it is read at.
    """
    columns = snapshot.memory.get(_ColumnsKey(snapshot.view), lambda: _columns(snapshot))
    schema, history = columns.schema, columns.history
    indexes = index_use(session)
    return HudiTableHandle(
        name=name,
        location=snapshot.location,
        config=trimmed(snapshot.config),
        view=snapshot.view,
        schema=schema,
        keys_last=keys_shown_last(table),
        metastore_partitions=bool(table.partition_keys),
        read_optimized=snapshot.config.merge_on_read and (is_read_optimized(table) or session.get(READ_OPTIMIZED)),
        # Statistics and keys go by names, which may have meant other columns.
        indexes=indexes if history is None else IndexUse(files=indexes.files),
        history=history,
    )


def _columns(snapshot: HudiSnapshot) -> _Columns:
    schema = snapshot.table_schema()
    return _Columns(schema, read_schema_history(snapshot, schema))


def partition_values(handle: HudiTableHandle, path: str) -> tuple[Value | None, ...]:
    """The values of the partition keys that a partition has by its path.

    Raises:
        NotSupportedError: The path leaves one in doubt.
    """
    values = handle.partition_paths.values(path)
    keys = partition_keys(handle)
    unknown = [key for key in keys if key not in values]
    if unknown:
        raise NotSupportedError(
            f"the path of partition '{path}' of {handle.name} leaves the value of {', '.join(unknown)} in "
            f"doubt; select the values from the table, or the paths from `{handle.name.table}$partitions`",
            HUDI_PARTITION_VALUE,
        )
    return tuple(values[key] for key in keys)


def partition_keys(handle: HudiTableHandle) -> tuple[str, ...]:
    """The partition fields, where the partitions' paths give their values; else the table shows none."""
    paths = handle.partition_paths
    return tuple(name for name, _ in paths.fields) if paths.tells_values else ()


def row_id(handle: HudiTableHandle) -> tuple[str, ...]:
    """The columns that identify a row; none where there are none."""
    config = handle.config
    if config.populate_meta_fields:
        return (RECORD_KEY, PARTITION_PATH)
    named = (*config.record_key_fields, *config.partition_fields)
    return tuple(dict.fromkeys(named)) if set(named) <= set(handle.schema.names) else ()
