"""Changes of rows into one sink: in this process, or in a task of Spark's. No metastore, no Spark session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InternalError
from connector_spi.optional.page_sink import (
    DELETE_OPERATION,
    INSERT_OPERATION,
    OPERATION_COLUMN,
    Fragment,
    MergeHandle,
    MergeSink,
    PageSinkProvider,
)
from connector_spi.page_source import MAX_BATCH_ROWS
from connector_spi.schema import ColumnMetadata
from connector_spi.session import ConnectorSession
from lakeport.arrow.write.assignment import RowAssignment, assign_columns
from lakeport.arrow.write.sinks import WrittenRows
from lakeport.plugin_errors import ConnectorOrigin

__all__ = ["MergeOpener"]


@dataclass(frozen=True, slots=True)
class MergeOpener:
    """All that the sinks of one statement share; it travels to tasks.

    Attributes:
        provider: The connector's.
        session: The statement.
        merge: Begun by the connector's metadata.
        table: Its name, for messages.
        row_ids: The row id columns.
        columns: The table's visible columns.
        origin: Whose code the provider is.
    """

    provider: PageSinkProvider
    session: ConnectorSession
    merge: MergeHandle
    table: str
    row_ids: tuple[ColumnMetadata, ...]
    columns: tuple[ColumnMetadata, ...]
    origin: ConnectorOrigin

    def write(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], task: int) -> WrittenRows:
        """Gives changes to a sink of their own, which is aborted after an error.

        Args:
            schema: The operation, the row id columns by position, and the table's columns by name, if any.
            batches: The changes.
            task: Number of the task.

        Raises:
            ColumnNotFoundError, InvalidArgumentError: A column or a value does not fit.
            ConnectorError: Storage failed.
        """
        asked = f"change rows of {self.table}"
        given = pa.schema(list(schema)[1 + len(self.row_ids) :])
        # A statement that only deletes gives no columns at all.
        assignment = assign_columns(self.columns, given, self.table) if len(given) else None
        with self.origin.errors(asked):
            sink = self.provider.create_merge_sink(self.session, self.merge, task)
        count = 0
        try:
            for batch in batches:
                for start in range(0, batch.num_rows, MAX_BATCH_ROWS):
                    for piece in self._changes(batch.slice(start, MAX_BATCH_ROWS), assignment):
                        count += piece.num_rows
                        with self.origin.errors(asked):
                            sink.store_merged_rows(piece)
            return WrittenRows(count, self._finished(sink, asked))
        except BaseException:
            with suppress(Exception):  # the first error is the one to tell
                sink.abort()
            raise

    def _changes(self, batch: pa.RecordBatch, assignment: RowAssignment | None) -> Iterator[pa.RecordBatch]:
        """Rows to delete and rows to insert: only the latter have columns, some of which may not be NULL."""
        operations = batch.column(0)
        deleted = batch.filter(pc.equal(operations, DELETE_OPERATION))
        if deleted.num_rows:
            columns = [pa.nulls(deleted.num_rows, column.type) for column in self.columns]
            ids = [deleted.column(1 + position).cast(column.type) for position, column in enumerate(self.row_ids)]
            yield self._batch(deleted.column(0), ids, columns)
        inserted = batch.filter(pc.equal(operations, INSERT_OPERATION))
        if deleted.num_rows + inserted.num_rows != batch.num_rows or (inserted.num_rows and assignment is None):
            raise InternalError(f"unknown operations in {pc.unique(operations).to_pylist()}")
        if inserted.num_rows and assignment is not None:
            ids = [pa.nulls(inserted.num_rows, column.type) for column in self.row_ids]
            data = pa.RecordBatch.from_arrays(
                inserted.columns[1 + len(ids) :], schema=pa.schema(list(inserted.schema)[1 + len(ids) :])
            )
            yield self._batch(inserted.column(0), ids, assignment.apply(data).columns)

    def _batch(self, operations: pa.Array, ids: Sequence[pa.Array], columns: Sequence[pa.Array]) -> pa.RecordBatch:
        fields = [(column.name, column.type) for column in (*self.row_ids, *self.columns)]
        schema = pa.schema([(OPERATION_COLUMN, pa.int8()), *fields])
        return pa.RecordBatch.from_arrays([operations.cast(pa.int8()), *ids, *columns], schema=schema)

    def _finished(self, sink: MergeSink, asked: str) -> tuple[Fragment, ...]:
        with self.origin.errors(asked):
            return tuple(sink.finish())
