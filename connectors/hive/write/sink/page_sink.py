"""From record batches to files in a staging folder. Executor side."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.errors import InternalError, StorageError
from connector_spi.optional.page_sink import Fragment, MergeHandle, MergeSink, PageSink, PageSinkProvider
from connector_spi.session import ConnectorSession
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle, HiveMergeHandle
from connectors.hive.write.sink.file_rows import FileKey, check_keys, rows_of_files
from connectors.hive.write.sink.file_values import file_columns
from connectors.hive.write.sink.file_writers import FileWriter, TaskFiles
from connectors.hive.write.sink.merge_sink import HiveMergeSink
from connectors.hive.write.sink.sorted_runs import SortedRuns
from connectors.hive.write.sink.spill import SpilledRows
from connectors.hive.write.statistics.distinct_values import most_hashes
from connectors.hive.write.statistics.written_columns import MOST_PARTITIONS, FileStatistics
from connectors.toolkit.storage.filesystem import FileSystem, join_path, storage_errors

__all__ = ["HivePageSinkProvider"]

MOST_WAITING_BYTES = 64 << 20
"""Rows that wait in memory before they go to their files; a copy of them is sorted by file."""
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
    statistics: FileStatistics
    rows: int = 0


class _HivePageSink(PageSink):
    """Makes one file of each partition and bucket: so its rows can be numbered, and readers open few."""

    def __init__(self, files: FileSystem, insert: HiveInsertHandle, task: int) -> None:
        self._files = files
        self._insert = insert
        self._task_files = TaskFiles(insert, task)
        self._rules = dict(insert.text_rules)
        self._data_names = [column.name for column in insert.data_columns]
        self._schema = pa.schema([(column.name, column.type) for column in insert.data_columns])
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_size = 0
        self._spilled = SpilledRows(self._schema)
        sorted_by = () if insert.buckets is None else insert.buckets.sorted_by
        self._sorted = SortedRuns(self._spilled, sorted_by) if sorted_by else None
        self._open: dict[FileKey, _OpenFile] = {}
        self._made: list[HiveFragment] = []
        self._partitions: set[tuple[str, ...]] = set()

    def append(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        check_keys(batch, self._insert)
        rows = file_columns(batch.select(self._data_names), self._rules, self._insert.storage.format)
        for key in self._insert.partition_keys:
            rows = rows.append_column(key.name, batch.column(key.name))
        self._waiting.append(rows)
        self._waiting_size += rows.nbytes
        if self._waiting_size > MOST_WAITING_BYTES:
            for file, some in self._taken():
                if self._sorted is not None:
                    self._sorted.put(file, some)
                elif file in self._open or len(self._open) < MOST_OPEN_FILES:
                    self._write(file, some)
                else:
                    self._spilled.put(file, some)

    def finish(self) -> Sequence[Fragment]:
        last = dict(self._taken())
        if self._sorted is not None:
            last = self._sorted.put_behind(last)
        for key in dict.fromkeys((*self._open, *self._spilled.keys, *last)):
            self._close(key, last.pop(key, None))
        self._spilled.close()
        self._cut_statistics()
        return tuple(self._made)

    def abort(self) -> None:
        self._waiting.clear()
        self._spilled.close()
        paths = [*(one.path for one in self._open.values()), *(one.path for one in self._made)]
        for one in self._open.values():
            # All is deleted; what failed once fails again. A writer that is not closed would write when Python ends,
            # if an error that someone keeps holds it, and ORC's then ends the process.
            with suppress(Exception):
                one.writer.close()
            with suppress(OSError, pa.ArrowException):
                one.sink.close()
        self._open.clear()
        for path in paths:
            self._files.delete_file(path)

    def _taken(self) -> Iterator[tuple[FileKey, pa.Table]]:
        """What waits in memory, which is emptied."""
        batches, self._waiting, self._waiting_size = self._waiting, [], 0
        return rows_of_files(pa.Table.from_batches(batches), self._insert) if batches else iter(())

    def _write(self, key: FileKey, rows: pa.Table) -> None:
        file = self._open.get(key) or self._opened(key)
        with storage_errors(file.path, "write"):
            file.writer.write(rows)
        file.rows += rows.num_rows
        file.statistics.add(rows)

    def _opened(self, key: FileKey) -> _OpenFile:
        name = f"{uuid.uuid4().hex}.{self._insert.storage.format}"
        path = join_path(self._insert.staging, name)
        if self._files.info(self._insert.staging) is None:
            # An engine may give an insert up while some of its tasks still run; they are to leave nothing behind.
            raise StorageError(f"rows cannot be added to {self._insert.name}: the insert was given up meanwhile")
        sink = self._files.create(path)
        target = self._task_files.target(name, key.bucket)
        with storage_errors(path, "write"):
            # Some formats write how their files begin.
            writer = self._task_files.open(sink, path, key.bucket)
        self._partitions.add(key.partition)
        # Of more partitions none are kept, so that nothing is counted for nothing.
        columns = self._insert.statistics if len(self._partitions) <= MOST_PARTITIONS else ()
        self._open[key] = _OpenFile(path, target, sink, writer, FileStatistics(columns, path))
        return self._open[key]

    def _close(self, key: FileKey, last: pa.Table | None) -> None:
        for rows in self._rest(key, last):
            self._write(key, rows)
        file = self._open[key]
        with storage_errors(file.path, "write"):
            file.writer.close()
            file.sink.close()
        del self._open[key]
        info = self._files.info(file.path)
        size = 0 if info is None else info.size
        found = file.statistics.result()
        self._made.append(
            HiveFragment(file.path, file.target, key.partition, file.rows, size, bucket=key.bucket, statistics=found)
        )
        if len(self._made).bit_count() == 1:
            self._cut_statistics()

    def _cut_statistics(self) -> None:
        """The more files there are, the less is kept of each: all of it is in memory here and on the driver."""
        most = most_hashes(len(self._made) * len(self._insert.statistics))
        self._made = [replace(one, statistics=tuple(some.cut(most) for some in one.statistics)) for one in self._made]

    def _rest(self, key: FileKey, last: pa.Table | None) -> Iterator[pa.Table]:
        """What is not written yet; of a sorted file that is all."""
        if self._sorted is not None:
            yield from self._sorted.take(key, last)
        else:
            yield from self._spilled.take(key)
            yield from [] if last is None else [last]
