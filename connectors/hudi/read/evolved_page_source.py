"""Columns of the query out of a file that was written with other names and types. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import TupleDomain
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.toolkit.partition_values import constant_batch

__all__ = ["EvolvedPageSource", "written_predicate"]


class EvolvedPageSource(PageSource):
    """Gives columns of the query.

    Args:
        open_file: Opens the file with columns by its own names, in any order.
        columns: What to read, in output order.
    """

    def __init__(
        self, open_file: Callable[[tuple[ColumnHandle, ...]], PageSource], columns: Sequence[EvolvedColumn]
    ) -> None:
        self._columns = tuple(columns)
        self._source = open_file(tuple(item.written for item in columns if item.written is not None))
        self._schema = pa.schema([pa.field(item.column.name, item.column.type) for item in columns])

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        batch = next(self._source)
        rows = batch.num_rows
        if not self._columns:
            return constant_batch(self._schema, {}, rows)
        arrays = [
            item.adapt(None if item.written is None else batch.column(item.written.name), rows)
            for item in self._columns
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def close(self) -> None:
        self._source.close()


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
