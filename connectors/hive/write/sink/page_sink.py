"""From record batches to files in a staging folder. Executor side."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from connector_spi.errors import InternalError, StorageError
from connector_spi.optional.page_sink import Fragment, MergeHandle, MergeSink, PageSink, PageSinkProvider
from connector_spi.session import ConnectorSession
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle, HiveMergeHandle
from connectors.hive.write.sink.bucket_rows import FileKey, by_bucket, sorted_rows
from connectors.hive.write.sink.file_values import file_columns
from connectors.hive.write.sink.file_writers import FileWriter, TaskFiles
from connectors.hive.write.sink.merge_sink import HiveMergeSink
from connectors.hive.write.sink.partition_rows import by_partition
from connectors.hive.write.sink.spill import SpilledRows
from connectors.toolkit.storage.filesystem import FileSystem, join_path, storage_errors

__all__ = ["HivePageSinkProvider"]

MOST_WAITING_BYTES = 128 << 20
"""Rows of all partitions that wait in memory; then those of the largest are written."""
MOST_OPEN_FILES = 16
"""Rows of further partitions wait on disk: each open file holds a stripe in memory."""


@dataclass(frozen=True, slots=True)
class HivePageSinkProvider(PageSinkProvider[HiveInsertHandle]):
    """Opens sinks.

    Attributes:
        files: Storage.
    """

    files: FileSystem

    def create_page_sink(self, session: ConnectorSession, insert: HiveInsertHandle, task: int) -> PageSink:
        return _HivePageSink(self.files, insert, task)

    def create_merge_sink(self, session: ConnectorSession, merge: MergeHandle, task: int) -> MergeSink:
        if not isinstance(merge, HiveMergeHandle):
            raise InternalError(f"expected a HiveMergeHandle, met a {type(merge).__qualname__}")
        return HiveMergeSink(self.files, merge.insert, _HivePageSink(self.files, merge.insert, task))


@dataclass(slots=True)
class _OpenFile:
    path: str
    target: str
    sink: pa.NativeFile
    writer: FileWriter
    rows: int = 0


@dataclass(slots=True)
class _Waiting:
    batches: list[pa.RecordBatch] = field(default_factory=list)
    size: int = 0


class _HivePageSink(PageSink):
    """Makes one file of each partition and bucket: so its rows can be numbered, and readers open few."""

    def __init__(self, files: FileSystem, insert: HiveInsertHandle, task: int) -> None:
        self._files = files
        self._insert = insert
        self._task_files = TaskFiles(insert, task)
        self._rules = dict(insert.text_rules)
        self._sorted_by = () if insert.buckets is None else insert.buckets.sorted_by
        self._data_names = [column.name for column in insert.data_columns]
        self._schema = pa.schema([(column.name, column.type) for column in insert.data_columns])
        self._waiting: dict[FileKey, _Waiting] = {}
        self._waiting_size = 0
        self._spilled = SpilledRows(self._schema)
        self._open: dict[FileKey, _OpenFile] = {}
        self._made: list[HiveFragment] = []

    def append(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        for partition, rows in by_partition(batch, self._insert.partition_keys):
            kept = file_columns(rows.select(self._data_names), self._rules, self._insert.storage.format)
            for bucket, some in by_bucket(kept, self._insert.buckets):
                waiting = self._waiting.setdefault(FileKey(partition, bucket), _Waiting())
                waiting.batches.append(some)
                waiting.size += some.nbytes
                self._waiting_size += some.nbytes
        while self._waiting_size > MOST_WAITING_BYTES:
            self._make_room(max(self._waiting, key=lambda one: self._waiting[one].size))

    def finish(self) -> Sequence[Fragment]:
        for key in list(self._open):
            self._close(key)
        for key in {**dict.fromkeys(self._spilled.keys), **self._waiting}:
            self._close(key)
        self._spilled.close()
        return tuple(self._made)

    def abort(self) -> None:
        self._waiting.clear()
        self._spilled.close()
        paths = [*(one.path for one in self._open.values()), *(one.path for one in self._made)]
        for one in self._open.values():
            one.sink.close()
        self._open.clear()
        for path in paths:
            self._files.delete_file(path)

    def _make_room(self, key: FileKey) -> None:
        if not self._sorted_by and (key in self._open or len(self._open) < MOST_OPEN_FILES):
            self._write(key, self._taken(key))
        else:
            self._spilled.put(key, self._taken(key))

    def _taken(self, key: FileKey) -> pa.Table:
        waiting = self._waiting.pop(key)
        self._waiting_size -= waiting.size
        return pa.Table.from_batches(waiting.batches, self._schema)

    def _write(self, key: FileKey, rows: pa.Table) -> None:
        file = self._open.get(key) or self._opened(key)
        with storage_errors(file.path, "write"):
            file.writer.write(rows)
        file.rows += rows.num_rows

    def _opened(self, key: FileKey) -> _OpenFile:
        name = f"{uuid.uuid4().hex}.{self._insert.storage.format}"
        path = join_path(self._insert.staging, name)
        if self._files.info(self._insert.staging) is None:
            # An engine may give an insert up while some of its tasks still run; they are to leave nothing behind.
            raise StorageError(f"rows cannot be added to {self._insert.name}: the insert was given up meanwhile")
        sink = self._files.create(path)
        target = self._task_files.target(name, key.bucket)
        opened = _OpenFile(path, target, sink, self._task_files.open(sink, path, key.bucket))
        self._open[key] = opened
        return opened

    def _close(self, key: FileKey) -> None:
        for rows in self._rest(key):
            self._write(key, rows)
        file = self._open[key]
        with storage_errors(file.path, "write"):
            file.writer.close()
            file.sink.close()
        del self._open[key]
        info = self._files.info(file.path)
        size = 0 if info is None else info.size
        self._made.append(HiveFragment(file.path, file.target, key.partition, file.rows, size, bucket=key.bucket))

    def _rest(self, key: FileKey) -> Iterator[pa.Table]:
        """What is not written yet; of a sorted file that is all, which so has to fit into memory."""
        waiting = [self._taken(key)] if key in self._waiting else []
        if self._sorted_by:
            yield sorted_rows(pa.concat_tables([*self._spilled.take(key), *waiting]), self._sorted_by)
        else:
            yield from self._spilled.take(key)
            yield from waiting
