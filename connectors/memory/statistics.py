"""Which chunks a handle reads, and what is known of them. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import ConnectorExpression, Domain, Reference, TupleDomain, may_be_true
from connector_spi.statistics import ColumnStatistics, TableStatistics
from connectors.memory.chunks import Chunk
from connectors.memory.handles import CHUNK_COLUMN, MemoryTableHandle
from connectors.memory.snapshots import Snapshot

__all__ = ["chunk_statistics", "kept_chunks"]


def kept_chunks(
    snapshot: Snapshot, constraint: TupleDomain[ColumnHandle], conditions: Sequence[ConnectorExpression] = ()
) -> list[tuple[int, Chunk]]:
    """The chunks that may hold rows that fit, with their numbers in the snapshot.

    Args:
        snapshot: The table.
        constraint: Columns that are not whole columns of the table are passed over.
        conditions: What domains cannot say, such as an OR over columns.
    """
    types = {column.name: column.type for column in snapshot.table.columns}
    whole = constraint.keep(lambda column: types.get(column.name) == column.type and column != CHUNK_COLUMN)
    by_name = whole.transform_keys(lambda column: column.name)
    kept = [(number, chunk) for number, chunk in enumerate(snapshot.chunks) if chunk.domains.overlaps(by_name)]
    return [(number, chunk) for number, chunk in kept if _may_fit(chunk, types, conditions)]


def chunk_statistics(handle: MemoryTableHandle, kept: Sequence[tuple[int, Chunk]]) -> TableStatistics:
    """Exact counts of the kept chunks, which are an upper bound for what the filter leaves."""
    chunks = [chunk for _, chunk in kept]
    rows = sum(chunk.data.num_rows for chunk in chunks)
    limited = rows if handle.limit is None else min(rows, handle.limit)
    if not chunks:
        return TableStatistics(0.0, 0)
    names = chunks[0].data.column_names
    if handle.columns is not None:
        names = [name for name in names if name in {column.name for column in handle.columns}]
    columns = tuple((name, _column_statistics([chunk.data.column(name) for chunk in chunks], rows)) for name in names)
    columns = tuple((name, _with_bounds(found, name, chunks)) for name, found in columns)
    size = sum(found.size_bytes or 0 for _, found in columns)
    return TableStatistics(float(limited), size * limited // rows, columns)


def _may_fit(chunk: Chunk, types: Mapping[str, pa.DataType], conditions: Sequence[ConnectorExpression]) -> bool:
    def may_hold(reference: Reference, domain: Domain) -> bool:
        name = reference.column.name
        # Nothing is known of fields, nor of columns that are made while reading.
        if reference.path or types.get(name) != domain.type:
            return True
        return chunk.domains.get(name, domain.type).overlaps(domain)

    return all(may_be_true(condition, may_hold) for condition in conditions)


def _column_statistics(parts: Sequence[pa.ChunkedArray], rows: int) -> ColumnStatistics:
    nulls = sum(part.null_count for part in parts)
    return ColumnStatistics(null_fraction=nulls / rows, size_bytes=sum(part.nbytes for part in parts))


def _with_bounds(found: ColumnStatistics, name: str, chunks: Sequence[Chunk]) -> ColumnStatistics:
    first, *rest = (chunk.domains.get(name, chunk.data.schema.field(name).type) for chunk in chunks)
    ranges = first.union(*rest).values.ranges()
    if not ranges:
        return found
    return ColumnStatistics(
        found.null_fraction, found.distinct_values, found.size_bytes, ranges[0].low, ranges[-1].high
    )
