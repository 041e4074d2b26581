"""From record batches to files in a staging folder. Executor side."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from connector_spi.page_sink import Fragment, PageSink, PageSinkProvider
from connector_spi.partition_names import escape_path_name
from connector_spi.session import ConnectorSession
from connectors.hive.write.file_values import file_columns
from connectors.hive.write.file_writers import FileWriter, open_file_writer
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.partition_rows import by_partition
from connectors.toolkit.storage.filesystem import FileSystem, join_path, storage_errors

__all__ = ["HivePageSinkProvider"]

MOST_WAITING_BYTES = 128 << 20
"""Rows of all partitions that wait for their files; then those of the largest are written."""
MOST_OPEN_FILES = 16
"""A partition that is met again after so many others gets another file: each open file holds a stripe in memory."""


@dataclass(frozen=True, slots=True)
class HivePageSinkProvider(PageSinkProvider[HiveInsertHandle]):
    """Opens sinks.

    Attributes:
        files: Storage.
    """

    files: FileSystem

    def create_page_sink(self, session: ConnectorSession, insert: HiveInsertHandle, task: int) -> PageSink:
        return _HivePageSink(self.files, insert)


@dataclass(slots=True)
class _OpenFile:
    path: str
    sink: pa.NativeFile
    writer: FileWriter
    rows: int = 0


@dataclass(slots=True)
class _Waiting:
    batches: list[pa.RecordBatch] = field(default_factory=list)
    size: int = 0


class _HivePageSink(PageSink):
    def __init__(self, files: FileSystem, insert: HiveInsertHandle) -> None:
        self._files = files
        self._insert = insert
        self._rules = dict(insert.text_rules)
        self._data_names = [column.name for column in insert.data_columns]
        self._schema = pa.schema([(column.name, column.type) for column in insert.data_columns])
        self._waiting: dict[tuple[str, ...], _Waiting] = {}
        self._waiting_size = 0
        self._open: dict[tuple[str, ...], _OpenFile] = {}
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
            self._write(max(self._waiting, key=lambda one: self._waiting[one].size))

    def finish(self) -> Sequence[Fragment]:
        for partition in list(self._waiting):
            self._write(partition)
        for partition in list(self._open):
            self._close(partition)
        return tuple(self._made)

    def abort(self) -> None:
        self._waiting.clear()
        paths = [*(one.path for one in self._open.values()), *(one.path for one in self._made)]
        for one in self._open.values():
            one.sink.close()
        self._open.clear()
        for path in paths:
            self._files.delete_file(path)

    def _write(self, partition: tuple[str, ...]) -> None:
        waiting = self._waiting.pop(partition)
        self._waiting_size -= waiting.size
        file = self._open.pop(partition, None) or self._opened(partition)
        self._open[partition] = file  # now the last one used
        with storage_errors(file.path, "write"):
            file.writer.write(pa.Table.from_batches(waiting.batches, self._schema))
        file.rows += sum(batch.num_rows for batch in waiting.batches)

    def _opened(self, partition: tuple[str, ...]) -> _OpenFile:
        while len(self._open) >= MOST_OPEN_FILES:
            self._close(next(iter(self._open)))
        keys = [key.name for key in self._insert.partition_keys]
        # The folders keep the names of two partitions apart; where files go is decided when they are published.
        folder = "/".join(
            f"{escape_path_name(key)}={escape_path_name(text)}" for key, text in zip(keys, partition, strict=True)
        )
        name = f"{uuid.uuid4().hex}.{self._insert.storage.format}"
        path = join_path(self._insert.staging, f"{folder}/{name}" if folder else name)
        sink = self._files.create(path)
        return _OpenFile(path, sink, open_file_writer(self._insert.storage, sink, self._schema))

    def _close(self, partition: tuple[str, ...]) -> None:
        file = self._open[partition]
        with storage_errors(file.path, "write"):
            file.writer.close()
            file.sink.close()
        del self._open[partition]
        info = self._files.info(file.path)
        self._made.append(HiveFragment(file.path, partition, file.rows, 0 if info is None else info.size))
