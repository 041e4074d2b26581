"""``t$timeline``, ``t$files``, ``t$file_slices``, ``t$partitions`` and ``t$properties``. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from catalog.metastore.table_access import TableAccess
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from connectors.hudi.file_group.names import BaseFileName
from connectors.hudi.file_group.slices import data_files
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.planning.file_slice_plan import FileSlicePlan
from connectors.hudi.planning.planner import plan_table
from connectors.hudi.snapshots.opening import newest_snapshot
from connectors.hudi.snapshots.snapshot import trimmed
from connectors.hudi.table_properties import read_table_config
from connectors.hudi.timeline.loader import list_instants
from connectors.hudi.transaction import HudiTransaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["SYSTEM_TABLES", "TableOnStorage"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = pa.timestamp("us", "UTC")
Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TableOnStorage:
    """The table that a system table is about.

    Attributes:
        name: Its name.
        location: Its folder.
        files: Storage.
        transaction: Where its snapshot is.
        access: What the metastore lets us do with it.
    """

    name: SchemaTableName
    location: str
    files: FileSystem
    transaction: HudiTransaction
    access: TableAccess

    def plan(self) -> FileSlicePlan:
        """All file slices of the snapshot."""
        snapshot = newest_snapshot(self.transaction, self.location)
        handle = HudiTableHandle(
            self.name, self.location, trimmed(snapshot.config), snapshot.view, snapshot.table_schema()
        )
        return plan_table(self.transaction, handle, TupleDomain.all())


class _RowsTable(SystemTable):
    """A system table made of a schema and a function that gives its rows."""

    def __init__(self, name: SchemaTableName, schema: pa.Schema, rows: Callable[[], Iterator[Row]]) -> None:
        columns = tuple(ColumnMetadata(field.name, field.type) for field in schema)
        self._metadata = TableMetadata(name, columns)
        self._schema = schema
        self._rows = rows

    @property
    def metadata(self) -> TableMetadata:
        return self._metadata

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        yield from pa.Table.from_pylist([dict(row) for row in self._rows()], schema=self._schema).to_batches()


def _timeline(table: TableOnStorage) -> SystemTable:
    """One row for each instant of the active timeline, in its furthest state."""
    schema = pa.schema(
        [("timestamp", pa.string()), ("action", pa.string()), ("state", pa.string()), ("completion_time", pa.string())]
    )

    def rows() -> Iterator[Row]:
        order = {"REQUESTED": 0, "INFLIGHT": 1, "COMPLETED": 2}
        config = read_table_config(table.files, table.location)
        furthest: dict[str, Row] = {}
        instants = list_instants(table.files, table.location, config)
        for instant in sorted(instants, key=lambda item: (item.requested, order[item.state.value])):
            furthest[instant.requested] = {
                "timestamp": instant.requested,
                "action": instant.action,
                "state": instant.state.value,
                "completion_time": instant.completion,
            }
        yield from furthest.values()

    return _RowsTable(_named(table, "timeline"), schema, rows)


def _files(table: TableOnStorage) -> SystemTable:
    """One row for each base file and log of the snapshot."""
    schema = pa.schema(
        [
            ("partition", pa.string()),
            ("file_id", pa.string()),
            ("base_instant", pa.string()),
            ("kind", pa.string()),
            ("path", pa.string()),
            ("size", pa.int64()),
            ("modified_time", _TIME),
        ]
    )

    def rows() -> Iterator[Row]:
        for partition in table.plan().partitions:
            for file_slice in partition.slices:
                for file in data_files(file_slice):
                    yield {
                        "partition": partition.path,
                        "file_id": file_slice.file_id,
                        "base_instant": file_slice.base_instant,
                        "kind": "base" if isinstance(file.name, BaseFileName) else "log",
                        "path": file.path,
                        "size": file.size,
                        "modified_time": _EPOCH + timedelta(milliseconds=file.modified_millis),
                    }

    return _RowsTable(_named(table, "files"), schema, rows)


def _file_slices(table: TableOnStorage) -> SystemTable:
    """One row for each file slice of the snapshot: a base file and the logs written onto it."""
    schema = pa.schema(
        [
            ("partition", pa.string()),
            ("file_id", pa.string()),
            ("base_instant", pa.string()),
            ("base_path", pa.string()),
            ("base_size", pa.int64()),
            ("log_paths", pa.list_(pa.string())),
            ("log_size", pa.int64()),
        ]
    )

    def rows() -> Iterator[Row]:
        for partition in table.plan().partitions:
            for file_slice in partition.slices:
                yield {
                    "partition": partition.path,
                    "file_id": file_slice.file_id,
                    "base_instant": file_slice.base_instant,
                    "base_path": file_slice.base.path if file_slice.base is not None else None,
                    "base_size": file_slice.base.size if file_slice.base is not None else None,
                    "log_paths": [log.path for log in file_slice.logs],
                    "log_size": sum(log.size for log in file_slice.logs),
                }

    return _RowsTable(_named(table, "file_slices"), schema, rows)


def _partitions(table: TableOnStorage) -> SystemTable:
    """One row for each partition that has data files at the snapshot."""
    schema = pa.schema([("partition", pa.string()), ("file_count", pa.int64()), ("total_size", pa.int64())])

    def rows() -> Iterator[Row]:
        for partition in table.plan().partitions:
            sizes = [file.size for file_slice in partition.slices for file in data_files(file_slice)]
            if sizes:
                yield {"partition": partition.path, "file_count": len(sizes), "total_size": sum(sizes)}

    return _RowsTable(_named(table, "partitions"), schema, rows)


def _properties(table: TableOnStorage) -> SystemTable:
    """The table's ``hoodie.properties``, and what the metastore lets us do with it."""
    schema = pa.schema([("key", pa.string()), ("value", pa.string())])

    def rows() -> Iterator[Row]:
        for key, value in read_table_config(table.files, table.location).properties:
            yield {"key": key, "value": value}
        for key, value in table.access.properties().items():
            yield {"key": key, "value": value}

    return _RowsTable(_named(table, "properties"), schema, rows)


def _named(table: TableOnStorage, kind: str) -> SchemaTableName:
    return SchemaTableName(table.name.schema, f"{table.name.table}${kind}")


SYSTEM_TABLES: Mapping[str, Callable[[TableOnStorage], SystemTable]] = {
    "file_slices": _file_slices,
    "files": _files,
    "partitions": _partitions,
    "properties": _properties,
    "timeline": _timeline,
}
