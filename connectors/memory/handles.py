"""What the engine carries for a table of memory."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import ConnectorExpression, TupleDomain

__all__ = ["CHUNK_COLUMN", "ROW_ID", "MemorySplit", "MemoryTableHandle"]

CHUNK_COLUMN = ColumnHandle("$chunk", pa.int64())
"""Hidden column: number of the chunk that holds the row."""

ROW_ID = ColumnHandle("$row_id", pa.int64())
"""Hidden column: number of the row. In changes that were merged by a key, an update keeps it."""


@dataclass(frozen=True, slots=True)
class MemoryTableHandle(TableHandle):
    """A table at one snapshot.

    Attributes:
        name: The table.
        snapshot_id: Unique among all snapshots of all tables of the connector, also of dropped ones.
        version: Number of the snapshot in its table, from 1.
        constraint: Filters taken over: partition keys are exact, other columns choose chunks only.
        columns: What is read, or ``None`` before a projection was offered.
        limit: Rows that the scan gives at most, or ``None``.
        conditions: Conditions that are no domains; they choose chunks only.
    """

    name: SchemaTableName
    snapshot_id: int
    version: int
    constraint: TupleDomain[ColumnHandle]
    columns: tuple[ColumnHandle, ...] | None = None
    limit: int | None = None
    conditions: tuple[ConnectorExpression, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} at snapshot {self.version}"


@dataclass(frozen=True, slots=True)
class MemorySplit(Split):
    """Rows of one chunk, carried along: a task of another process cannot reach the table.

    Attributes:
        chunk: Number of the chunk.
        row_count: Rows.
        data: Arrow IPC stream of the columns that are read, nested ones whole; empty when none are.
    """

    chunk: int
    row_count: int
    data: bytes

    @property
    def size_bytes(self) -> int:
        return len(self.data)
