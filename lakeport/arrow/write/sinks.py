"""Rows into one sink of an insert: in this process, or in a task of Spark's. No metastore, no Spark session."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.optional.page_sink import Fragment, InsertHandle, PageSink, PageSinkProvider
from connector_spi.page_source import MAX_BATCH_ROWS
from connector_spi.schema import ColumnMetadata
from connector_spi.session import ConnectorSession
from lakeport.arrow.write.assignment import assign_columns
from lakeport.plugin_errors import ConnectorOrigin

__all__ = ["SinkOpener", "WrittenRows"]


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """What one sink has taken to its end.

    Attributes:
        rows: How many.
        fragments: What the sink gave.
    """

    rows: int
    fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class SinkOpener:
    """All that the sinks of one insert share; it travels to tasks.

    Attributes:
        provider: The connector's.
        session: The statement.
        insert: Begun by the connector's metadata.
        table: Its name, for messages.
        columns: The table's visible columns.
        origin: Whose code the provider is.
    """

    provider: PageSinkProvider
    session: ConnectorSession
    insert: InsertHandle
    table: str
    columns: tuple[ColumnMetadata, ...]
    origin: ConnectorOrigin

    def write(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], task: int) -> WrittenRows:
        """Gives rows to a sink of their own, which is aborted after an error.

        Args:
            schema: Columns of the batches; the table's are found among them by name.
            batches: The rows.
            task: Number of the task.

        Raises:
            ColumnNotFoundError, InvalidArgumentError: A column or a value does not fit.
            ConnectorError: Storage failed.
        """
        assignment = assign_columns(self.columns, schema, self.table)
        asked = f"add rows to {self.table}"
        with self.origin.errors(asked):
            sink = self.provider.create_page_sink(self.session, self.insert, task)
        count = 0
        try:
            for batch in batches:
                for start in range(0, batch.num_rows, MAX_BATCH_ROWS):
                    piece = assignment.apply(batch.slice(start, MAX_BATCH_ROWS))
                    count += piece.num_rows
                    with self.origin.errors(asked):
                        sink.append(piece)
            return WrittenRows(count, self._finished(sink, asked))
        except BaseException:
            with suppress(Exception):  # the first error is the one to tell
                sink.abort()
            raise

    def _finished(self, sink: PageSink, asked: str) -> tuple[Fragment, ...]:
        with self.origin.errors(asked):
            return tuple(sink.finish())
