"""Inserts of one transaction. Driver side."""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import pyarrow as pa

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from connector_spi.errors import ConnectorError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.session import ConnectorSession
from connectors.hive.acid.valid_ids import AcidSnapshot
from connectors.hive.buckets.layout import EMPTY_BUCKET_FILES
from connectors.hive.handles import HiveTableHandle
from connectors.hive.transactions.writes import WriteTransaction
from connectors.hive.write.codec_setting import with_codec
from connectors.hive.write.file_checks import with_avro_lengths, with_avro_schema
from connectors.hive.write.handles import STATEMENTS, AcidWrite, HiveFragment, HiveInsertHandle
from connectors.hive.write.merges import LOCK_OPERATIONS
from connectors.hive.write.publish.acid_publishing import AcidInsert
from connectors.hive.write.publish.new_tables import NewAcidInsert, NewHiveInsert
from connectors.hive.write.publish.publishing import HiveInsert
from connectors.hive.write.publish.replaced_partitions import ReplacedPartitions
from connectors.hive.write.publish.stream_journal import StreamJournal
from connectors.hive.write.statistics.counted_columns import counted_columns
from connectors.hive.write.writable_tables import check_no_foreign_files, check_writable, written_buckets
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["BEGUN", "STAGING", "HiveInserts"]

_LOG = logging.getLogger(__name__)
STAGING = ".lakeport_insert_"
"""Begins with a dot, so that Hive, Spark, Trino and we pass over it."""
BEGUN = ".begun"
"""An empty object, by which a folder of an object store is there, and has an age."""


class HiveInserts:
    """The inserts that a transaction publishes when it commits.

    Args:
        metastore: The metastore.
        files: Storage.
        transaction: The metastore's transaction for tables that are transactional.
    """

    def __init__(self, metastore: Metastore, files: FileSystem, transaction: WriteTransaction) -> None:
        self._metastore = metastore
        self._files = files
        self._transaction = transaction
        self._begun: dict[str, HiveInsert | AcidInsert] = {}
        self._finished: list[HiveInsert | AcidInsert] = []
        self._statements: dict[SchemaTableName, int] = {}
        self._replaced: set[SchemaTableName] = set()

    def begin(
        self,
        session: ConnectorSession,
        table: HiveTableHandle,
        entry: Table,
        change: MergeCommand | Overwrite | None = None,
        *,
        is_new: bool = False,
    ) -> HiveInsertHandle:
        """Begins an insert, or a change of rows that are there.

        Args:
            session: The statement.
            table: The table; where its rows are changed, as the statement reads it.
            entry: The metastore's entry of it.
            change: Which rows are replaced, or the kind of statement that changes them; ``None`` where rows are only
                added.
            is_new: The table is not there: it is made with its rows.

        Raises:
            NotSupportedError: Rows cannot be written to the table, or nothing in the catalog.
            MetastoreError: The lock on a transactional table was not acquired.
        """
        metastore = self._metastore.as_user(session.user)
        metastore.writes.check_allowed(f"add rows to {table.name}")
        storage = with_codec(session, table.storage)
        check_writable(replace(table, storage=storage), entry, self._files)
        replaced = ReplacedPartitions.of(table, change) if isinstance(change, Overwrite) else None
        where = f"rows cannot be added to {table.name}"
        columns = pa.schema([(column.name, column.type) for column in table.data_columns])
        storage = with_avro_schema(storage, self._files, where)
        handle = HiveInsertHandle(
            table.name,
            with_avro_lengths(storage, columns, table.text_rules, where),
            join_path(table.location, f"{STAGING}{uuid.uuid4().hex}"),
            table.data_columns,
            table.partition_keys,
            table.text_rules,
            self._acid(table, change),
            written_buckets(table, entry, filled=session.get(EMPTY_BUCKET_FILES)),
            statistics=counted_columns(session, table, change),
        )
        self._make_staging(handle.staging)
        made = int(session.start.timestamp())
        if is_new:
            self._begun[handle.staging] = self._new_table(metastore, handle, made, entry)
        elif handle.acid is None:
            self._begun[handle.staging] = HiveInsert(metastore, self._files, handle, made, replaced)
        else:
            self._begun[handle.staging] = AcidInsert(
                metastore, self._files, handle, made, transaction=self._transaction, replaced=replaced
            )
        return handle

    def finish(
        self, handle: HiveInsertHandle, fragments: Sequence[HiveFragment], epoch: StreamEpoch | None = None
    ) -> bool:
        """All files of an insert are written; it is published by ``publish``.

        Args:
            handle: The insert.
            fragments: The files.
            epoch: The batch of a streaming query that they are.

        Returns:
            Whether it will be; not where the batch is there.

        Raises:
            NotSupportedError: A partition is written in another way than the table.
            MetastoreError: The metastore has ended the transaction of a transactional table, or it cannot be told
                whether the batch is there.
        """
        insert = self._begun[handle.staging]
        if epoch is not None:
            location = handle.staging.rpartition("/")[0]
            if not insert.begin_epoch(StreamJournal(self._files, handle.name, location, epoch)):
                return False
        insert.finish(fragments)
        self._finished.append(self._begun.pop(handle.staging))
        return True

    def abort(self, handle: HiveInsertHandle) -> None:
        """Deletes the files of an insert that is not finished."""
        insert = self._begun.pop(handle.staging, None)
        if insert is None:
            self._files.delete_folder(handle.staging)
        else:
            insert.discard()

    def publish(self) -> None:
        """Makes all that is finished visible: of plain tables file by file, and then what is transactional in one step.

        Raises:
            ConnectorError: The metastore or storage failed; nothing is visible. Where the message says so, all is, and
                so are rows that were to be replaced.
        """
        try:
            with ExitStack() as undo:
                for insert in self._finished:
                    insert.publish(undo)
                self._transaction.commit()
            self._record_statistics()
            with ExitStack() as replaced:  # all of them, also after an error
                for insert in self._finished:
                    if isinstance(insert, HiveInsert):
                        replaced.callback(insert.delete_replaced)
        finally:
            self.discard()

    def discard(self) -> None:
        """Deletes all files that were not published, and rolls back.

        Files that stay are no error: no reader sees them, and what was published before is there.
        """
        try:
            for insert in (*self._begun.values(), *self._finished):
                try:
                    insert.discard()
                except ConnectorError as error:
                    _LOG.warning("files of a write were left behind, which no reader sees: %s", error.message)
            self._begun.clear()
            self._finished.clear()
        finally:
            self._transaction.abort()

    def _record_statistics(self) -> None:
        tables = Counter(insert.handle.name for insert in self._finished)
        for insert in self._finished:
            # Several of one table have each seen the rows without the others'.
            if tables[insert.handle.name] == 1:
                insert.record_statistics()

    def _new_table(
        self, metastore: Metastore, handle: HiveInsertHandle, made: int, entry: Table
    ) -> HiveInsert | AcidInsert:
        if handle.acid is None:
            return NewHiveInsert(metastore, self._files, handle, made, entry)
        transaction = self._transaction
        return NewAcidInsert(metastore, self._files, handle, made, transaction=transaction, replaced=None, entry=entry)

    def _make_staging(self, staging: str) -> None:
        if self._files.has_folders(staging):
            self._files.create_folder(staging)
            return
        self._files.write_bytes(join_path(staging, BEGUN), b"")

    def _acid(self, table: HiveTableHandle, change: MergeCommand | Overwrite | None) -> AcidWrite | None:
        if table.snapshot is None:
            return None
        check_no_foreign_files(table, self._files)
        statement = self._statements.get(table.name, 0)
        if table.name in self._replaced or (isinstance(change, Overwrite) and statement):
            # All have one write id, and a base hides the deltas of its own.
            raise NotSupportedError(
                f"rows of {table.name} are replaced in a transaction that writes to it twice, which would lose some; "
                "use a transaction for each"
            )
        write_id = self._write_id(table, table.snapshot, change)
        self._statements[table.name] = statement + STATEMENTS
        return AcidWrite(write_id, statement, row_ids=table.full_acid, base=isinstance(change, Overwrite))

    def _write_id(self, table: HiveTableHandle, snapshot: AcidSnapshot, change: MergeCommand | Overwrite | None) -> int:
        partitioned = bool(table.partition_keys)
        if change is None:
            return self._transaction.begin_insert(table.name, partitioned=partitioned)
        if isinstance(change, MergeCommand):
            return self._transaction.begin_merge(
                table.name, LOCK_OPERATIONS[change], snapshot.visible, partitioned=partitioned
            )
        self._replaced.add(table.name)
        seen = change.seen if isinstance(change.seen, HiveTableHandle) else table
        return self._transaction.begin_overwrite(
            table.name, (seen.snapshot or snapshot).write_ids, partitioned=partitioned
        )
