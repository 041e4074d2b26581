"""What the hive connector's metadata has for inserts and changes of rows. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from catalog.metastore.factory import Metastore
from connector_spi.errors import InternalError
from connector_spi.handles import TableHandle
from connector_spi.optional.creating import NewTable
from connector_spi.optional.definitions import TableDefinition
from connector_spi.optional.page_sink import Fragment, InsertHandle, MergeHandle
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.optional.writing import BucketFunction, InsertLayout, MergeCommand, Overwrite
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive.acid.valid_ids import AcidSnapshot, ValidIds
from connectors.hive.buckets.layout import PREFERRED_PARTITIONING
from connectors.hive.definitions.columns import make_handle, make_metadata
from connectors.hive.definitions.table_formats import is_transactional
from connectors.hive.handles import HiveTableHandle
from connectors.hive.transaction import HiveTransaction
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle, HiveMergeHandle
from connectors.hive.write.inserts import HiveInserts
from connectors.hive.write.merges import delete_files, row_id_columns, split_fragments
from connectors.hive.write.planned_tables import planned_table
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HiveInsertion"]


class HiveInsertion:
    """Adds rows to tables, replaces them, and changes those of transactional tables.

    Args:
        metastore: The metastore to publish in.
        files: Storage.
        transaction: Publishes when it commits.
    """

    def __init__(self, metastore: Metastore, files: FileSystem, transaction: HiveTransaction) -> None:
        self._transaction = transaction
        self._metastore = metastore
        self._files = files
        self._inserts = HiveInserts(metastore, files, transaction.writes)

    def get_insert_layout(self, session: ConnectorSession, table: HiveTableHandle) -> InsertLayout | None:
        """Hive's buckets; partitions alone only where the session wants their rows together."""
        bucketing = table.bucketing
        keys = tuple(key.name for key in table.partition_keys)
        if bucketing is not None and bucketing.has_hashes:
            names = tuple(column.name for column in bucketing.columns)
            function = BucketFunction(f"hive {bucketing.version}", names, bucketing.texts, bucketing.count)
            return InsertLayout(keys, function)
        preferred: bool = session.get(PREFERRED_PARTITIONING)
        return InsertLayout(keys) if keys and preferred else None

    def begin_insert(self, session: ConnectorSession, table: HiveTableHandle) -> InsertHandle:
        return self._begin(session, table, None)

    def begin_overwrite(self, session: ConnectorSession, table: HiveTableHandle, overwrite: Overwrite) -> InsertHandle:
        return self._begin(session, table, overwrite)

    def finish_insert(self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment]) -> None:
        self._inserts.finish(_insert_handle(insert), _fragments(fragments))

    def finish_stream_insert(
        self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment], epoch: StreamEpoch
    ) -> bool:
        return self._inserts.finish(_insert_handle(insert), _fragments(fragments), epoch)

    def begin_create_table(self, session: ConnectorSession, definition: TableDefinition) -> NewTable:
        """See ``SupportsCreateTableAs``; the metastore is told nothing before the commit."""
        entry = planned_table(self._metastore.as_user(session.user), self._files, session, definition)
        handle = make_handle(entry, self._files)
        if is_transactional(entry.parameters):
            handle = replace(handle, snapshot=AcidSnapshot(ValidIds(0)))
        self._transaction.inserts = self._inserts
        insert = self._inserts.begin(session, handle, entry, is_new=True)
        return NewTable(make_metadata(entry, handle), insert, self.get_insert_layout(session, handle))

    def finish_create_table(
        self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment]
    ) -> None:
        self.finish_insert(session, insert, fragments)

    def apply_delete(
        self,
        session: ConnectorSession,
        table: HiveTableHandle,
        rows: TupleDomain[str],
        seen: TableHandle | None = None,
    ) -> None:
        insert = self._begin(session, table, Overwrite(rows, seen=seen))
        self._inserts.finish(insert, ())

    def abort_insert(self, session: ConnectorSession, insert: InsertHandle) -> None:
        self._inserts.abort(_insert_handle(insert))

    def get_merge_row_id_columns(self, session: ConnectorSession, table: HiveTableHandle) -> Sequence[str]:
        return row_id_columns(table)

    def begin_merge(self, session: ConnectorSession, table: HiveTableHandle, command: MergeCommand) -> MergeHandle:
        row_id_columns(table)
        return HiveMergeHandle(self._begin(session, table, command))

    def finish_merge(self, session: ConnectorSession, merge: MergeHandle, fragments: Sequence[Fragment]) -> None:
        handle = _merge_handle(merge)
        added, deleted = split_fragments(fragments)
        self._inserts.finish(handle.insert, [*added, *delete_files(self._files, handle, deleted)])

    def abort_merge(self, session: ConnectorSession, merge: MergeHandle) -> None:
        self._inserts.abort(_merge_handle(merge).insert)

    def _begin(
        self, session: ConnectorSession, table: HiveTableHandle, change: MergeCommand | Overwrite | None
    ) -> HiveInsertHandle:
        self._transaction.inserts = self._inserts
        return self._inserts.begin(session, table, self._transaction.table(table.name), change)


def _insert_handle(insert: InsertHandle) -> HiveInsertHandle:
    if not isinstance(insert, HiveInsertHandle):
        raise InternalError(f"expected a HiveInsertHandle, met a {type(insert).__qualname__}")
    return insert


def _fragments(fragments: Sequence[Fragment]) -> list[HiveFragment]:
    found = [one for one in fragments if isinstance(one, HiveFragment)]
    if len(found) != len(fragments):
        raise InternalError(f"expected HiveFragments, met {fragments!r:.200}")
    return found


def _merge_handle(merge: MergeHandle) -> HiveMergeHandle:
    if not isinstance(merge, HiveMergeHandle):
        raise InternalError(f"expected a HiveMergeHandle, met a {type(merge).__qualname__}")
    return merge
