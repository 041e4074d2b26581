"""Changes rows as the engine does, each batch through a sink of its own: for the tests of connectors."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Sequence

import pyarrow as pa

from connector_spi.errors import InternalError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.page_sink import (
    DELETE_OPERATION,
    INSERT_OPERATION,
    OPERATION_COLUMN,
    Fragment,
    MergeHandle,
    MergeSink,
    PageSinkProvider,
)
from connector_spi.optional.writing import MergeCommand, SupportsMerge
from connector_spi.session import ConnectorSession
from connector_spi.testing.reading import ReferenceQuery

__all__ = ["ReferenceMerge"]


class ReferenceMerge:
    """Changes of a table's rows that have begun.

    Args:
        query: The statement that writes.
        name: The table.
        command: The statement's kind.
        reader: The statement that reads the rows; ``None`` where it is the one that writes.

    Raises:
        NotSupportedError: The connector or the table changes no rows.
    """

    def __init__(
        self,
        query: ReferenceQuery,
        name: SchemaTableName,
        command: MergeCommand = MergeCommand.MERGE,
        reader: ReferenceQuery | None = None,
    ) -> None:
        if not isinstance(query.metadata, SupportsMerge):
            raise NotSupportedError(f"{name}: the connector changes no rows")
        self._query = query
        self._metadata: SupportsMerge = query.metadata
        self._tasks = itertools.count()
        scan = (reader or query).table(name)
        self._types = {column: handle.type for column, handle in scan.handles.items()}
        self._columns = [column.name for column in scan.columns]
        self.row_ids = tuple(self._metadata.get_merge_row_id_columns(query.session, scan.table))
        self.handle: MergeHandle = self._metadata.begin_merge(query.session, scan.table, command)

    def write(self, deleted: pa.Table | None = None, inserted: pa.Table | None = None) -> Sequence[Fragment]:
        """Deletes and adds rows by a sink of their own; the fragments have travelled.

        Args:
            deleted: Row ids, with the columns of ``row_ids``; others do not count.
            inserted: Rows with the table's visible columns.
        """
        provider = self._query.connector.page_sink_provider
        if provider is None:
            raise InternalError("the metadata is SupportsMerge, and page_sink_provider is None; expected a provider")
        sent: tuple[PageSinkProvider, ConnectorSession, MergeHandle] = (provider, self._query.session, self.handle)
        provider, session, handle = pickle.loads(pickle.dumps(sent))
        sink: MergeSink = provider.create_merge_sink(session, handle, next(self._tasks))
        changes = [(deleted, DELETE_OPERATION, self.row_ids), (inserted, INSERT_OPERATION, self._columns)]
        for rows, operation, given in changes:
            for batch in [] if rows is None else rows.to_batches(max_chunksize=1000):
                sink.store_merged_rows(self._changes(batch, operation, given))
        return pickle.loads(pickle.dumps(tuple(sink.finish())))  # type: ignore[no-any-return]

    def finish(self, fragments: Sequence[Sequence[Fragment]]) -> None:
        """All sinks have finished."""
        self._metadata.finish_merge(self._query.session, self.handle, [one for some in fragments for one in some])

    def abort(self) -> None:
        """The changes are given up."""
        self._metadata.abort_merge(self._query.session, self.handle)

    def _changes(self, batch: pa.RecordBatch, operation: int, given: Sequence[str]) -> pa.RecordBatch:
        columns: dict[str, pa.Array] = {OPERATION_COLUMN: pa.array([operation] * batch.num_rows, pa.int8())}
        for name in (*self.row_ids, *self._columns):
            empty = pa.nulls(batch.num_rows, self._types[name])
            columns[name] = batch.column(name) if name in given else empty
        return pa.RecordBatch.from_pydict(columns)
