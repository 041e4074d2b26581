"""Names, columns and pushdown of the memory connector. Driver side."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime

from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import (
    ConnectorMetadata,
    FilterApplication,
    LimitApplication,
    ProjectionApplication,
    TableVersion,
)
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.changes import ChangeRange, TableChanges
from connector_spi.optional.streaming import StreamStart
from connector_spi.predicate import Constraint, TupleDomain
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.statistics import TableStatistics
from connector_spi.system_tables import SystemTable
from connectors.memory.changes import changes_snapshot
from connectors.memory.handles import CHUNK_COLUMN, ROW_ID, MemoryTableHandle
from connectors.memory.insertion import MemoryInsertion
from connectors.memory.snapshots import Snapshot
from connectors.memory.snapshots_table import SnapshotsTable
from connectors.memory.statistics import chunk_statistics, kept_chunks
from connectors.memory.store import MemoryStore
from connectors.memory.streaming import batch_snapshot, initial_offset, latest_offset
from connectors.memory.written_rows import ChangedRows, WrittenRows

__all__ = ["MemoryMetadata", "MemoryTransaction"]


class MemoryTransaction(ConnectorTransaction):
    """Holds the snapshots of its handles, so that they are read though the table was dropped; and what is written."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__()
        self._store = store
        self._by_id: dict[int, Snapshot] = {}
        self._added: list[WrittenRows | ChangedRows] = []
        self.metadata = MemoryMetadata(store, self)
        store.count(begun=1)

    def pin(self, snapshot: Snapshot) -> Snapshot:
        """Keeps a snapshot until the transaction ends."""
        self._by_id[snapshot.id] = snapshot
        return snapshot

    def snapshot(self, table: MemoryTableHandle) -> Snapshot:
        """The snapshot of a handle.

        Raises:
            InternalError: The handle is not of this transaction, or the transaction has ended.
        """
        if self.state is not TransactionState.OPEN:
            raise InternalError(f"the transaction is {self.state.value}; it cannot be asked for {table}")
        snapshot = self._by_id.get(table.snapshot_id)
        if snapshot is None:
            raise InternalError(f"{table} was not made in this transaction")
        return snapshot

    def add(self, rows: WrittenRows | ChangedRows) -> None:
        """Writes rows to their table when the transaction commits."""
        self._added.append(rows)

    def on_commit(self) -> None:
        added, self._added = self._added, []
        self._release()
        self._store.count(committed=1)
        self._store.write(added)

    def on_rollback(self) -> None:
        self._release()
        self._store.count(rolled_back=1)

    def _release(self) -> None:
        self._by_id.clear()
        self._added.clear()


class MemoryMetadata(MemoryInsertion, ConnectorMetadata[MemoryTableHandle]):
    """Answers inside of one transaction; has what metadata may have, but no aggregation, first rows and definitions."""

    _transaction: MemoryTransaction

    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        return self._store.schemas()

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        return self._store.tables(schema)

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> MemoryTableHandle | None:
        snapshots = self._store.snapshots(name)
        return _handle(self._transaction.pin(snapshots[-1])) if snapshots else None

    def get_table_handle_at(
        self, session: ConnectorSession, name: SchemaTableName, version: TableVersion
    ) -> MemoryTableHandle | None:
        """The table at a snapshot: versions are numbers from 1, a time means the newest snapshot not after it."""
        snapshots = self._store.snapshots(name)
        return _handle(self._transaction.pin(_choose(snapshots, version))) if snapshots else None

    def get_changes(
        self, session: ConnectorSession, table: MemoryTableHandle, change_range: ChangeRange
    ) -> TableChanges:
        """What the snapshots of a range made of their predecessors; version 0 is the state before the first."""
        newest = self._transaction.snapshot(table)
        kept = [found for found in self._store.snapshots(newest.table.name) if found.id <= newest.id] or [newest]
        made = changes_snapshot(kept, change_range, self._store.new_id())
        return TableChanges(_handle(self._transaction.pin(made)), row_id=(ROW_ID.name,), pairs_updates=True)

    @property
    def stream_option_names(self) -> Mapping[str, str]:
        return {}

    def get_initial_offset(self, session: ConnectorSession, name: SchemaTableName, start: StreamStart) -> str | None:
        kept = self._store.snapshots(name)
        return initial_offset(kept, start) if kept else None

    def get_latest_offset(
        self,
        session: ConnectorSession,
        name: SchemaTableName,
        offset: str,
        max_versions: int | None = None,
        until: str | None = None,
    ) -> str | None:
        kept = self._store.snapshots(name)
        return latest_offset(kept, offset, max_versions, until) if kept else None

    def get_stream_batch(
        self, session: ConnectorSession, name: SchemaTableName, start: str, end: str, *, changes: bool
    ) -> MemoryTableHandle | None:
        kept = self._store.snapshots(name)
        if not kept:
            return None
        made = batch_snapshot(kept, start, end, self._store.new_id(), changes=changes)
        return _handle(self._transaction.pin(made))

    def get_table_metadata(self, session: ConnectorSession, table: MemoryTableHandle) -> TableMetadata:
        return self._transaction.snapshot(table).table

    def get_system_table(self, session: ConnectorSession, name: SystemTableName) -> SystemTable | None:
        snapshots = self._store.snapshots(name.base)
        return SnapshotsTable(name, snapshots) if snapshots and name.kind == SnapshotsTable.kind else None

    def list_system_table_kinds(self) -> Sequence[str]:
        return (SnapshotsTable.kind,)

    def apply_filter(
        self, session: ConnectorSession, table: MemoryTableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        """Partition keys are taken over for good, other whole columns and conditions to choose chunks by."""
        if table.limit is not None:
            # A filter after a limit is not the same as before it.
            return None
        whole = set(self.get_column_handles(session, table).values()) - {CHUNK_COLUMN}
        taken = table.constraint.intersect(constraint.summary.keep(lambda column: column in whole))
        conditions = tuple(dict.fromkeys((*table.conditions, *constraint.expressions)))
        if taken == table.constraint and conditions == table.conditions:
            return None
        keys = set(self._transaction.snapshot(table).table.partitioned_by)
        remaining = constraint.summary.keep(lambda column: column not in whole or column.name not in keys)
        return FilterApplication(dataclasses.replace(table, constraint=taken, conditions=conditions), remaining)

    def apply_projection(
        self, session: ConnectorSession, table: MemoryTableHandle, columns: tuple[ColumnHandle, ...]
    ) -> ProjectionApplication | None:
        if table.columns == columns:
            return None
        return ProjectionApplication(dataclasses.replace(table, columns=columns), columns)

    def apply_limit(self, session: ConnectorSession, table: MemoryTableHandle, limit: int) -> LimitApplication | None:
        """Taken over for good, unless a filter is left that the engine has to apply before it."""
        keys = self._transaction.snapshot(table).table.partitioned_by
        exact = table.constraint.keep(lambda column: column.name not in keys).is_all
        if not exact or table.conditions or (table.limit is not None and table.limit <= limit):
            return None
        return LimitApplication(dataclasses.replace(table, limit=limit), guaranteed=True)

    def get_table_statistics(self, session: ConnectorSession, table: MemoryTableHandle) -> TableStatistics:
        return chunk_statistics(
            table, kept_chunks(self._transaction.snapshot(table), table.constraint, table.conditions)
        )

    def list_partitions(
        self, session: ConnectorSession, table: MemoryTableHandle, constraint: TupleDomain[str]
    ) -> Sequence[tuple[object, ...]]:
        snapshot = self._transaction.snapshot(table)
        if not snapshot.table.partitioned_by:
            return ()
        keys = {chunk.keys for chunk in snapshot.chunks if chunk.domains.overlaps(constraint)}
        return sorted(keys, key=lambda values: tuple(str(value) for value in values))


def _handle(snapshot: Snapshot) -> MemoryTableHandle:
    return MemoryTableHandle(snapshot.table.name, snapshot.id, snapshot.version, TupleDomain.all())


def _choose(snapshots: Sequence[Snapshot], version: TableVersion) -> Snapshot:
    if isinstance(version.value, datetime):
        before = [snapshot for snapshot in snapshots if snapshot.committed_at <= version.value]
        if before:
            return before[-1]
        first = snapshots[0]
        raise InvalidArgumentError(
            f"table {first.table.name} was made at {first.committed_at}; it has no state of {version.value}"
        )
    for snapshot in snapshots:
        if str(snapshot.version) == version.value:
            return snapshot
    raise InvalidArgumentError(
        f"table {snapshots[0].table.name} has no version {version.value!r}; "
        f"it has {snapshots[0].version} to {snapshots[-1].version}"
    )
