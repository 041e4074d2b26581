"""From a snapshot to splits that carry their rows. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connector_spi.splits import ScanSummary, SplitManager, SplitSource
from connectors.memory.chunks import Chunk
from connectors.memory.config import MAX_SPLIT_ROWS
from connectors.memory.handles import CHUNK_COLUMN, ROW_ID, MemorySplit, MemoryTableHandle
from connectors.memory.metadata import MemoryTransaction
from connectors.memory.statistics import kept_chunks

__all__ = ["MemorySplitManager", "MemorySplitSource"]


class MemorySplitSource(SplitSource[MemorySplit]):
    """Copies each chunk only when it is asked for; one batch of splits for each chunk."""

    def __init__(
        self, pieces: Sequence[tuple[int, pa.Table]], names: Sequence[str], split_rows: int, summary: ScanSummary
    ) -> None:
        self._pieces = pieces
        self._names = list(names)
        self._split_rows = split_rows
        self._summary = summary

    def __iter__(self) -> Iterator[Sequence[MemorySplit]]:
        for chunk, data in self._pieces:
            columns = data.select(self._names)
            yield [
                _split(chunk, columns.slice(start, self._split_rows), min(self._split_rows, data.num_rows - start))
                for start in range(0, data.num_rows, self._split_rows)
            ]

    def summary(self) -> ScanSummary:
        return self._summary


class MemorySplitManager(SplitManager[MemoryTableHandle, MemorySplit]):
    """Chooses chunks by the handle's filter, cuts them by its limit, then leaves out what no join needs."""

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: MemoryTableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource[MemorySplit]:
        if not isinstance(transaction, MemoryTransaction):
            raise InternalError(f"expected a MemoryTransaction, met a {type(transaction).__qualname__}")
        snapshot = transaction.snapshot(table)
        with_ids = ROW_ID in columns
        kept = _limited(kept_chunks(snapshot, table.constraint, table.conditions), table.limit, with_ids)
        needed = {number for number, _ in kept_chunks(snapshot, dynamic_filter)}
        pieces = [(number, data) for number, data in kept if number in needed]
        kept_keys = {snapshot.chunks[number].keys for number, _ in pieces}
        partitioned = bool(snapshot.table.partitioned_by)
        summary = ScanSummary(
            snapshot=str(snapshot),
            partitions_kept=len(kept_keys) if partitioned else None,
            partitions_total=len({chunk.keys for chunk in snapshot.chunks}) if partitioned else None,
            files_kept=len(pieces),
            files_total=sum(chunk.keys in kept_keys for chunk in snapshot.chunks)
            if partitioned
            else len(snapshot.chunks),
            notes=("files are chunks in memory",),
        )
        names = dict.fromkeys(column.name for column in columns if column != CHUNK_COLUMN)
        return MemorySplitSource(pieces, list(names), session.get(MAX_SPLIT_ROWS), summary)


def _limited(chunks: Sequence[tuple[int, Chunk]], limit: int | None, with_ids: bool) -> Iterator[tuple[int, pa.Table]]:
    left = limit
    for number, chunk in chunks:
        data = chunk.with_row_ids(ROW_ID.name) if with_ids else chunk.data
        data = data if left is None else data.slice(0, left)
        if data.num_rows:
            yield number, data
        if left is not None:
            left -= data.num_rows


def _split(chunk: int, columns: pa.Table, row_count: int) -> MemorySplit:
    if not columns.num_columns:
        return MemorySplit(chunk, row_count, b"")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, columns.schema) as writer:
        writer.write_table(columns)
    return MemorySplit(chunk, row_count, sink.getvalue().to_pybytes())
