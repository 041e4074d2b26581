"""What the memory connector's metadata has for rows that are written. Driver side."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError, NotSupportedError, SchemaNotFoundError
from connector_spi.handles import TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.creating import NewTable
from connector_spi.optional.definitions import TableDefinition
from connector_spi.optional.page_sink import DELETE_OPERATION, OPERATION_COLUMN, InsertHandle, MergeHandle
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connectors.memory.chunks import NUMBER, REVISION
from connectors.memory.handles import CHUNK_COLUMN, ROW_ID, MemoryTableHandle
from connectors.memory.page_sink import MemoryFragment, MemoryInsertHandle, MemoryMergeHandle
from connectors.memory.snapshots import Snapshot
from connectors.memory.store import MemoryStore
from connectors.memory.written_rows import ChangedRows, WrittenRows

__all__ = ["MemoryInsertion", "PendingRows", "with_hidden_columns"]


class PendingRows(Protocol):
    """What is written when the transaction commits."""

    def snapshot(self, table: MemoryTableHandle) -> Snapshot:
        """The snapshot of a handle."""

    def add(self, rows: WrittenRows | ChangedRows) -> None:
        """Writes rows to their table when the transaction commits."""


class MemoryInsertion:
    """Adds rows to tables, replaces and changes them, and makes tables of them.

    Args:
        store: The tables.
        transaction: Writes when it commits.
    """

    def __init__(self, store: MemoryStore, transaction: PendingRows) -> None:
        self._store = store
        self._transaction = transaction
        self._new: dict[SchemaTableName, TableMetadata] = {}

    def begin_insert(self, session: ConnectorSession, table: MemoryTableHandle) -> InsertHandle:
        return self._insert(table)

    def begin_overwrite(
        self, session: ConnectorSession, table: MemoryTableHandle, overwrite: Overwrite
    ) -> InsertHandle:
        return dataclasses.replace(self._insert(table), replaced=overwrite.rows, dynamic=overwrite.dynamic)

    def finish_insert(
        self, session: ConnectorSession, insert: MemoryInsertHandle, fragments: Sequence[MemoryFragment]
    ) -> None:
        rows = _rows(insert.schema, fragments)
        self._transaction.add(WrittenRows(insert.name, rows, insert.replaced, dynamic=insert.dynamic))

    def finish_stream_insert(
        self,
        session: ConnectorSession,
        insert: MemoryInsertHandle,
        fragments: Sequence[MemoryFragment],
        epoch: StreamEpoch,
    ) -> bool:
        if self._store.is_written(insert.name, epoch):
            return False
        rows = _rows(insert.schema, fragments)
        self._transaction.add(WrittenRows(insert.name, rows, None, dynamic=False, epoch=epoch))
        return True

    def abort_insert(self, session: ConnectorSession, insert: MemoryInsertHandle) -> None:
        """Nothing is left: the rows are in fragments that no one has."""

    def get_merge_row_id_columns(self, session: ConnectorSession, table: MemoryTableHandle) -> Sequence[str]:
        if self._transaction.snapshot(table).words:
            raise NotSupportedError(
                f"rows of {table.name} cannot be changed here: these are its changes; name the table"
            )
        return (ROW_ID.name,)

    def begin_merge(self, session: ConnectorSession, table: MemoryTableHandle, command: MergeCommand) -> MergeHandle:
        columns = self._store.newest(table.name).table.visible_columns()
        fields = [(OPERATION_COLUMN, pa.int8()), (ROW_ID.name, ROW_ID.type)]
        schema = pa.schema([*fields, *((column.name, column.type) for column in columns)])
        return MemoryMergeHandle(table.name, table.version, schema)

    def finish_merge(
        self, session: ConnectorSession, merge: MemoryMergeHandle, fragments: Sequence[MemoryFragment]
    ) -> None:
        changes = _rows(merge.schema, fragments)
        deletes = pc.equal(changes.column(OPERATION_COLUMN), DELETE_OPERATION)
        deleted = changes.filter(deletes).column(ROW_ID.name).combine_chunks()
        rows = changes.filter(pc.invert(deletes)).drop_columns([OPERATION_COLUMN, ROW_ID.name])
        self._transaction.add(ChangedRows(merge.name, rows, deleted, merge.version))

    def abort_merge(self, session: ConnectorSession, merge: MemoryMergeHandle) -> None:
        """Nothing is left, as after ``abort_insert``."""

    def begin_create_table(self, session: ConnectorSession, definition: TableDefinition) -> NewTable:
        name = definition.name
        if name.schema not in self._store.schemas():
            raise SchemaNotFoundError(f"no schema {name.schema}")
        if self._store.snapshots(name):
            raise InvalidArgumentError(f"table {name} is there already; drop it first")
        given = (definition.location, definition.provider, definition.properties, definition.storage)
        if any(given) or definition.buckets is not None:
            raise NotSupportedError(f"{name} is a table of memory: it has columns, partition keys and a comment alone")
        columns = with_hidden_columns(definition.columns)
        table = TableMetadata(name, columns, definition.partitioned_by, definition.comment)
        self._new[name] = table
        return NewTable(table, MemoryInsertHandle(name, _schema(table)))

    def finish_create_table(
        self, session: ConnectorSession, insert: MemoryInsertHandle, fragments: Sequence[MemoryFragment]
    ) -> None:
        rows = _rows(insert.schema, fragments)
        self._transaction.add(WrittenRows(insert.name, rows, None, dynamic=False, made=self._new[insert.name]))

    def apply_delete(
        self,
        session: ConnectorSession,
        table: MemoryTableHandle,
        rows: TupleDomain[str],
        seen: TableHandle | None = None,
    ) -> None:
        self._transaction.add(WrittenRows(table.name, _rows(self._insert(table).schema, ()), rows, dynamic=False))

    def _insert(self, table: MemoryTableHandle) -> MemoryInsertHandle:
        return MemoryInsertHandle(table.name, _schema(self._transaction.snapshot(table).table))


def _rows(schema: pa.Schema, fragments: Sequence[MemoryFragment]) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *(pa.ipc.open_stream(one.data).read_all() for one in fragments)])


def _schema(table: TableMetadata) -> pa.Schema:
    return pa.schema([(column.name, column.type) for column in table.visible_columns()])


def with_hidden_columns(columns: Sequence[ColumnMetadata]) -> tuple[ColumnMetadata, ...]:
    """The columns of a table, by those that the user names.

    Raises:
        InvalidArgumentError: Two have one name.
    """
    taken = [*(column.name for column in columns), CHUNK_COLUMN.name, ROW_ID.name, NUMBER, REVISION]
    for name in taken:
        if taken.count(name) > 1:
            raise InvalidArgumentError(f"two columns are called '{name}'; expected different names")
    hidden = [ColumnMetadata(one.name, one.type, nullable=False, hidden=True) for one in (CHUNK_COLUMN, ROW_ID)]
    return (*columns, *hidden)
