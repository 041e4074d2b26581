"""Writes rows that travel to the driver, which holds the tables. Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import InternalError
from connector_spi.names import SchemaTableName
from connector_spi.optional.page_sink import Fragment, InsertHandle, MergeHandle, MergeSink, PageSink, PageSinkProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = ["MemoryFragment", "MemoryInsertHandle", "MemoryMergeHandle", "MemoryPageSinkProvider"]


@dataclass(frozen=True, slots=True)
class MemoryInsertHandle(InsertHandle):
    """Rows to come.

    Attributes:
        name: The table.
        schema: Columns of every batch.
        replaced: Rows that they take the place of, by partition keys; ``None`` where they are added.
        dynamic: Of these only the rows of partitions that new rows go to.
    """

    name: SchemaTableName
    schema: pa.Schema
    replaced: TupleDomain[str] | None = None
    dynamic: bool = False


@dataclass(frozen=True, slots=True)
class MemoryFragment(Fragment):
    """The rows of one sink, as an Arrow IPC stream."""

    data: bytes


@dataclass(frozen=True, slots=True)
class MemoryMergeHandle(MergeHandle):
    """Changes to come.

    Attributes:
        name: The table.
        version: Of the snapshot that the rows are read in.
        schema: The operation, the row id and the visible columns of every batch.
    """

    name: SchemaTableName
    version: int
    schema: pa.Schema


class MemoryPageSinkProvider(PageSinkProvider[MemoryInsertHandle]):
    """Has no settings: a fragment holds all that is written."""

    def create_page_sink(self, session: ConnectorSession, insert: MemoryInsertHandle, task: int) -> PageSink:
        return _MemoryPageSink(insert.schema)

    def create_merge_sink(self, session: ConnectorSession, merge: MergeHandle, task: int) -> MergeSink:
        if not isinstance(merge, MemoryMergeHandle):
            raise InternalError(f"expected a MemoryMergeHandle, met a {type(merge).__qualname__}")
        return _MemoryMergeSink(_MemoryPageSink(merge.schema))


class _MemoryPageSink(PageSink):
    def __init__(self, schema: pa.Schema) -> None:
        self._rows = 0
        self._sink = pa.BufferOutputStream()
        self._writer = pa.ipc.new_stream(self._sink, schema)

    def append(self, batch: pa.RecordBatch) -> None:
        self._rows += batch.num_rows
        self._writer.write_batch(batch)

    def finish(self) -> Sequence[Fragment]:
        self._writer.close()
        return (MemoryFragment(self._sink.getvalue().to_pybytes()),) if self._rows else ()

    def abort(self) -> None:
        self._writer.close()
        self._sink.close()


class _MemoryMergeSink(MergeSink):
    """Sends the changes as they came."""

    def __init__(self, sink: _MemoryPageSink) -> None:
        self._sink = sink

    def store_merged_rows(self, batch: pa.RecordBatch) -> None:
        self._sink.append(batch)

    def finish(self) -> Sequence[Fragment]:
        return self._sink.finish()

    def abort(self) -> None:
        self._sink.abort()
