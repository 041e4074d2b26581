"""The system table ``t$snapshots``. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from connectors.memory.snapshots import Snapshot

__all__ = ["SnapshotsTable"]

_COLUMNS = (
    ColumnMetadata("version", pa.int64(), nullable=False, comment="What VERSION AS OF takes"),
    ColumnMetadata("committed_at", pa.timestamp("us", "UTC"), nullable=False, comment="When the snapshot was made"),
    ColumnMetadata("operation", pa.string(), nullable=False, comment="create, insert, overwrite, merge or rollback"),
    ColumnMetadata("row_count", pa.int64(), nullable=False, comment="Rows of the whole table"),
)


class SnapshotsTable(SystemTable):
    """The states of a table, oldest first."""

    kind = "snapshots"

    def __init__(self, name: SystemTableName, snapshots: Sequence[Snapshot]) -> None:
        self._name = SchemaTableName(name.base.schema, f"{name.base.table}${name.kind}")
        self._snapshots = snapshots

    @property
    def metadata(self) -> TableMetadata:
        return TableMetadata(self._name, _COLUMNS, comment="The states of the table")

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([pa.field(column.name, column.type, nullable=False) for column in _COLUMNS])
        rows = [
            {
                "version": snapshot.version,
                "committed_at": snapshot.committed_at,
                "operation": snapshot.operation,
                "row_count": snapshot.row_count,
            }
            for snapshot in self._snapshots
        ]
        yield pa.RecordBatch.from_pylist(rows, schema)
