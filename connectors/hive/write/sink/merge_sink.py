"""From changes of rows to files in a staging folder: rows to add, and delete events. Executor side."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import StorageError
from connector_spi.optional.page_sink import DELETE_OPERATION, INSERT_OPERATION, Fragment, MergeSink, PageSink
from connectors.hive.acid.key_columns import ROW_ID
from connectors.hive.handles import PARTITION
from connectors.hive.write.handles import HiveDeleteFragment, HiveInsertHandle
from connectors.hive.write.sink.delete_file import write_delete_file
from connectors.hive.write.sink.deleted_keys import DeletedKeys
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["HiveMergeSink"]


class HiveMergeSink(MergeSink):
    """Hands rows to the sink of inserts, and keeps the keys of deleted ones, 24 bytes each, until all are known.

    Args:
        files: Storage.
        insert: The rows that are added.
        rows: The sink for them.
    """

    def __init__(self, files: FileSystem, insert: HiveInsertHandle, rows: PageSink) -> None:
        self._files = files
        self._insert = insert
        self._rows = rows
        self._columns = [column.name for column in (*insert.data_columns, *insert.partition_keys)]
        self._deleted: dict[str, list[DeletedKeys]] = {}
        self._made: list[HiveDeleteFragment] = []

    def store_merged_rows(self, batch: pa.RecordBatch) -> None:
        operations = batch.column(0)
        added = batch.filter(pc.equal(operations, INSERT_OPERATION))
        if added.num_rows:
            self._rows.append(added.select(self._columns))
        deleted = batch.filter(pc.equal(operations, DELETE_OPERATION))
        if deleted.num_rows:
            self._delete(deleted)

    def finish(self) -> Sequence[Fragment]:
        for partition in list(self._deleted):
            keys = DeletedKeys.concat(self._deleted.pop(partition)).sorted()
            for bucket, found in keys.by_bucket(f"table {self._insert.name}"):
                self._write(partition, bucket, found)
        return (*self._rows.finish(), *self._made)

    def abort(self) -> None:
        self._deleted.clear()
        try:
            self._rows.abort()
        finally:
            for one in self._made:
                self._files.delete_file(one.path)

    def _delete(self, batch: pa.RecordBatch) -> None:
        ids = batch.column(ROW_ID)
        if not self._insert.partition_keys:
            self._deleted.setdefault("", []).append(DeletedKeys.of_rows(ids))
            return
        names = batch.column(PARTITION)
        for name in pc.unique(names).to_pylist():
            found = ids.filter(pc.equal(names, name))
            self._deleted.setdefault(name, []).append(DeletedKeys.of_rows(found))

    def _write(self, partition: str, bucket: int, keys: DeletedKeys) -> None:
        if self._files.info(self._insert.staging) is None:
            # An engine may give a statement up while some of its tasks still run; they are to leave nothing behind.
            raise StorageError(f"rows of {self._insert.name} cannot be deleted: the statement was given up meanwhile")
        path = join_path(self._insert.staging, f"{uuid.uuid4().hex}.deletes.orc")
        size = write_delete_file(self._files, path, self._insert, keys)
        self._made.append(HiveDeleteFragment(path, partition, bucket, len(keys), size))
