"""Adding rows to a table with no Spark."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa

from catalog.resolver import ResolvedSystemTable
from connector_spi.errors import InternalError, InvalidArgumentError, NotSupportedError
from connector_spi.handles import TableHandle
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.writing import SupportsInsert
from connector_spi.page_sink import Fragment, InsertHandle, PageSink
from connector_spi.page_source import MAX_BATCH_ROWS
from lakeport.arrow.assignment import RowAssignment, assign_columns
from lakeport.planning.redirection import resolve
from lakeport.transactions.statement import CatalogAccess, Statement

__all__ = ["insert_rows", "rows_of"]


def insert_rows(statement: Statement, name: CatalogSchemaTableName, rows: pa.RecordBatchReader) -> int:
    """Adds rows to a table; they are visible when the statement's transactions commit.

    Args:
        statement: Ends with ``commit``, or with ``fail`` after an error.
        name: The table.
        rows: Their columns are found by name; those that they lack become NULL.

    Returns:
        How many rows.

    Raises:
        NotSupportedError: The catalog or the table takes no rows.
        ColumnNotFoundError, InvalidArgumentError: A column or a value does not fit.
        ConnectorError: The table is not there, or the catalog or its storage failed.
    """
    access, table = resolve(statement.access(name.catalog), name, None)
    if isinstance(table, ResolvedSystemTable):
        raise NotSupportedError(f"{name} is a system table, which takes no rows")
    assignment = assign_columns(table.table.visible_columns(), rows.schema, name)
    insert = _Insert(access, table.handle, name)
    try:
        return insert.write(rows, assignment)
    except BaseException:
        with suppress(Exception):  # the first error is the one to tell
            insert.abort()
        raise


def rows_of(data: object) -> pa.RecordBatchReader:
    """The rows of anything that gives Arrow streams, such as tables, readers and frames of pandas and Polars.

    Raises:
        InvalidArgumentError: It gives none.
    """
    if isinstance(data, pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(data.schema, [data])
    if not hasattr(data, "__arrow_c_stream__"):
        raise InvalidArgumentError(
            f"the rows are a {type(data).__qualname__}; expected a table or reader of pyarrow, or an object that gives "
            "Arrow streams, such as a frame of pandas 2.2 or Polars"
        )
    return pa.RecordBatchReader.from_stream(data)


class _Insert:
    """An insert that has begun: exactly one of ``write`` to its end and ``abort`` ends it."""

    def __init__(self, access: CatalogAccess, table: TableHandle, name: CatalogSchemaTableName) -> None:
        metadata, provider = access.metadata, access.connector.page_sink_provider
        if not isinstance(metadata, SupportsInsert):
            raise NotSupportedError(f"rows cannot be added to {name}: its connector does not write")
        if provider is None:
            raise InternalError(
                f"the connector of catalog '{access.catalog}' takes rows, and has no page_sink_provider"
            )
        self._access = access
        self._metadata = metadata
        self._provider = provider
        self._asked = f"add rows to {name}"
        with access.lock.asking(self._asked):
            self._handle: InsertHandle = metadata.begin_insert(access.session, table)

    def write(self, rows: pa.RecordBatchReader, assignment: RowAssignment) -> int:
        """Writes all rows and has them committed with the transaction."""
        count = 0
        with self._access.origin.errors(self._asked):
            sink = self._provider.create_page_sink(self._access.session, self._handle, 0)
        try:
            for batch in rows:
                for start in range(0, batch.num_rows, MAX_BATCH_ROWS):
                    piece = assignment.apply(batch.slice(start, MAX_BATCH_ROWS))
                    count += piece.num_rows
                    with self._access.origin.errors(self._asked):
                        sink.append(piece)
            fragments = self._finished(sink)
        except BaseException:
            with suppress(Exception):  # the first error is the one to tell
                sink.abort()
            raise
        with self._access.lock.asking(self._asked):
            self._metadata.finish_insert(self._access.session, self._handle, fragments)
        return count

    def abort(self) -> None:
        """Clears what was written."""
        with self._access.lock.asking(self._asked):
            self._metadata.abort_insert(self._access.session, self._handle)

    def _finished(self, sink: PageSink) -> list[Fragment]:
        with self._access.origin.errors(self._asked):
            return list(sink.finish())
