"""From record batches to files in a staging folder. Executor side."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from connector_spi.errors import InternalError, StorageError
from connector_spi.optional.page_sink import Fragment, MergeHandle, MergeSink, PageSink, PageSinkProvider
from connector_spi.session import ConnectorSession
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle, HiveMergeHandle
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

_Key = tuple[str, ...]
"""Texts of a partition's key values."""


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
    """Makes one file of each partition: so its rows can be numbered, and readers open few."""

    def __init__(self, files: FileSystem, insert: HiveInsertHandle, task: int) -> None:
        self._files = files
        self._insert = insert
        self._task_files = TaskFiles(insert, task)
        self._rules = dict(insert.text_rules)
        self._data_names = [column.name for column in insert.data_columns]
        self._schema = pa.schema([(column.name, column.type) for column in insert.data_columns])
        self._waiting: dict[_Key, _Waiting] = {}
        self._waiting_size = 0
        self._spilled = SpilledRows(self._schema)
        self._open: dict[_Key, _OpenFile] = {}
        self._made: list[HiveFragment] = []

    def append(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        for partition, rows in by_partition(batch, self._insert.partition_keys):
            kept = file_columns(rows.select(self._data_names), self._rules, self._insert.storage.format)
            waiting = self._waiting.setdefault(partition, _Waiting())
            waiting.batches.append(kept)
            waiting.size += kept.nbytes
            self._waiting_size += kept.nbytes
        while self._waiting_size > MOST_WAITING_BYTES:
            self._make_room(max(self._waiting, key=lambda one: self._waiting[one].size))

    def finish(self) -> Sequence[Fragment]:
        for partition in list(self._open):
            self._close(partition)
        for partition in {**dict.fromkeys(self._spilled.partitions), **self._waiting}:
            self._close(partition)
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

    def _make_room(self, partition: _Key) -> None:
        if partition in self._open or len(self._open) < MOST_OPEN_FILES:
            self._write(partition, self._taken(partition))
        else:
            self._spilled.put(partition, self._taken(partition))

    def _taken(self, partition: _Key) -> pa.Table:
        waiting = self._waiting.pop(partition)
        self._waiting_size -= waiting.size
        return pa.Table.from_batches(waiting.batches, self._schema)

    def _write(self, partition: _Key, rows: pa.Table) -> None:
        file = self._open.get(partition) or self._opened(partition)
        with storage_errors(file.path, "write"):
            file.writer.write(rows)
        file.rows += rows.num_rows

    def _opened(self, partition: _Key) -> _OpenFile:
        name = f"{uuid.uuid4().hex}.{self._insert.storage.format}"
        path = join_path(self._insert.staging, name)
        if self._files.info(self._insert.staging) is None:
            # An engine may give an insert up while some of its tasks still run; they are to leave nothing behind.
            raise StorageError(f"rows cannot be added to {self._insert.name}: the insert was given up meanwhile")
        sink = self._files.create(path)
        opened = _OpenFile(path, self._task_files.target(name), sink, self._task_files.open(sink, path))
        self._open[partition] = opened
        return opened

    def _close(self, partition: _Key) -> None:
        for rows in self._spilled.take(partition):
            self._write(partition, rows)
        if partition in self._waiting:
            self._write(partition, self._taken(partition))
        file = self._open[partition]
        with storage_errors(file.path, "write"):
            file.writer.close()
            file.sink.close()
        del self._open[partition]
        info = self._files.info(file.path)
        size = 0 if info is None else info.size
        self._made.append(HiveFragment(file.path, file.target, partition, file.rows, size))
