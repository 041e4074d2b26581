"""Columns of the query out of a file that was written with other names and types. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain
from connectors.hudi.read.slice_read import schema_of
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.toolkit.partition_values import constant_batch
from connectors.toolkit.read.page_source import BatchStage

__all__ = ["evolve", "written_predicate"]


def evolve(columns: Sequence[EvolvedColumn]) -> BatchStage:
    """A stage that makes the columns of the query of those of the file.

    Args:
        columns: What to make, in output order.
    """
    schema = schema_of(tuple(item.column for item in columns))

    def stage(batches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
        for batch in batches:
            rows = batch.num_rows
            if not columns:
                yield constant_batch(schema, {}, rows)
                continue
            arrays = [
                item.adapt(None if item.written is None else batch.column(item.written.name), rows) for item in columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return stage


def written_predicate(
    predicate: TupleDomain[ColumnHandle], columns: Sequence[EvolvedColumn]
) -> TupleDomain[ColumnHandle]:
    """A filter by the file's names; only what has the same type there is left, so it prunes less.

    Args:
        predicate: By columns of the query.
        columns: Its columns in the file.
    """
    if predicate.domains is None:
        return predicate
    same = {item.column: item.written for item in columns if item.function is None}
    kept = {column: domain for column, domain in dict(predicate.domains).items() if same.get(column) is not None}
    return TupleDomain.with_column_domains(
        {written: domain for column, domain in kept.items() if (written := same[column]) is not None}
    )
