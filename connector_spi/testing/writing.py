"""Adds rows as the engine does, each batch through a sink of its own: for the tests of connectors."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Sequence

import pyarrow as pa

from connector_spi.connector import Connector
from connector_spi.errors import InternalError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.creating import SupportsCreateTableAs
from connector_spi.optional.definitions import TableDefinition
from connector_spi.optional.page_sink import Fragment, InsertHandle, PageSink, PageSinkProvider
from connector_spi.optional.streaming import StreamEpoch, SupportsStreamingInsert
from connector_spi.optional.writing import Overwrite, SupportsDelete, SupportsInsert, SupportsOverwrite
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connector_spi.testing.reading import ReferenceQuery

__all__ = [
    "ReferenceInsert",
    "ReferenceTable",
    "create_table_as",
    "delete_rows",
    "insert_rows",
    "overwrite_rows",
]


def insert_rows(connector: Connector, name: SchemaTableName, tables: Sequence[pa.Table]) -> None:
    """Adds rows to a table in a transaction of its own.

    Args:
        connector: The catalog.
        name: The table.
        tables: The rows of one sink each, with the table's visible columns in their order.
    """
    with ReferenceQuery(connector) as query:
        insert = ReferenceInsert(query, name)
        insert.finish([insert.write(table) for table in tables])


def overwrite_rows(
    connector: Connector, name: SchemaTableName, tables: Sequence[pa.Table], overwrite: Overwrite | None = None
) -> None:
    """Replaces rows of a table in a transaction of its own.

    Args:
        connector: The catalog.
        name: The table.
        tables: The new rows of one sink each, with the table's visible columns in their order.
        overwrite: Which rows are replaced; ``None`` is all.
    """
    with ReferenceQuery(connector) as query:
        insert = ReferenceInsert(query, name, overwrite or Overwrite())
        insert.finish([insert.write(table) for table in tables])


class ReferenceInsert:
    """An insert that has begun.

    Args:
        query: The statement.
        name: The table.
        overwrite: Which rows are replaced; ``None`` where rows are added.

    Raises:
        NotSupportedError: The connector or the table takes no rows.
    """

    def __init__(self, query: ReferenceQuery, name: SchemaTableName, overwrite: Overwrite | None = None) -> None:
        if not isinstance(query.metadata, SupportsInsert):
            raise NotSupportedError(f"{name}: the connector takes no rows")
        self._query = query
        self._metadata = query.metadata
        self._tasks = itertools.count()
        self.handle = self._begin(name, overwrite)

    def sink(self, task: int | None = None) -> PageSink:
        """A sink as a task opens it: from what came out of a pickle.

        Args:
            task: Its number, where another sink has it, too; ``None`` is a new one.

        Raises:
            InternalError: The connector has none, though its metadata takes rows.
        """
        provider = self._query.connector.page_sink_provider
        if provider is None:
            raise InternalError("the metadata is SupportsInsert, and page_sink_provider is None; expected a provider")
        sent: tuple[PageSinkProvider, ConnectorSession, InsertHandle] = (provider, self._query.session, self.handle)
        provider, session, handle = pickle.loads(pickle.dumps(sent))
        made: PageSink = provider.create_page_sink(session, handle, next(self._tasks) if task is None else task)
        return made

    def write(self, table: pa.Table, task: int | None = None) -> Sequence[Fragment]:
        """Writes rows by a sink of their own; the fragments have travelled. ``task`` is that of ``sink``."""
        sink = self.sink(task)
        try:
            for batch in table.to_batches(max_chunksize=1000):
                sink.append(batch)
            return pickle.loads(pickle.dumps(tuple(sink.finish())))  # type: ignore[no-any-return]
        except BaseException:
            sink.abort()
            raise

    def finish(self, fragments: Sequence[Sequence[Fragment]]) -> None:
        """All sinks have finished."""
        self._metadata.finish_insert(self._query.session, self.handle, [one for some in fragments for one in some])

    def finish_epoch(self, fragments: Sequence[Sequence[Fragment]], epoch: StreamEpoch) -> bool:
        """All sinks of a streaming query's batch have finished; whether its rows are committed with the transaction.

        Raises:
            NotSupportedError: The connector takes no streams.
        """
        if not isinstance(self._metadata, SupportsStreamingInsert):
            raise NotSupportedError("the connector takes no rows of streaming queries")
        found = [one for some in fragments for one in some]
        is_new = self._metadata.finish_stream_insert(self._query.session, self.handle, found, epoch)
        if not is_new:
            self.abort()
        return is_new

    def abort(self) -> None:
        """The insert is given up."""
        self._metadata.abort_insert(self._query.session, self.handle)

    def _begin(self, name: SchemaTableName, overwrite: Overwrite | None) -> InsertHandle:
        table = self._query.table(name).table
        if overwrite is None:
            return self._metadata.begin_insert(self._query.session, table)
        if not isinstance(self._metadata, SupportsOverwrite):
            raise NotSupportedError(f"{table}: the connector does not replace rows")
        return self._metadata.begin_overwrite(self._query.session, table, overwrite)


class ReferenceTable(ReferenceInsert):
    """A table that is being made with its rows.

    Args:
        query: The statement.
        definition: The table.

    Raises:
        NotSupportedError: The connector makes no tables of rows.
    """

    def __init__(self, query: ReferenceQuery, definition: TableDefinition) -> None:
        self._definition = definition
        super().__init__(query, definition.name)

    def finish(self, fragments: Sequence[Sequence[Fragment]]) -> None:
        """All sinks have finished."""
        self._creating().finish_create_table(
            self._query.session, self.handle, [one for some in fragments for one in some]
        )

    def _begin(self, name: SchemaTableName, overwrite: Overwrite | None) -> InsertHandle:
        self.made = self._creating().begin_create_table(self._query.session, self._definition)
        return self.made.insert

    def _creating(self) -> SupportsCreateTableAs:
        if not isinstance(self._metadata, SupportsCreateTableAs):
            raise NotSupportedError(f"{self._definition.name}: the connector makes no tables of rows")
        return self._metadata


def create_table_as(connector: Connector, definition: TableDefinition, tables: Sequence[pa.Table]) -> None:
    """Makes a table of rows in a transaction of its own.

    Args:
        connector: The catalog.
        definition: The table.
        tables: The rows of one sink each.
    """
    with ReferenceQuery(connector) as query:
        making = ReferenceTable(query, definition)
        columns = [column.name for column in making.made.table.visible_columns()]
        making.finish([making.write(table.select(columns)) for table in tables])


def delete_rows(connector: Connector, name: SchemaTableName, rows: TupleDomain[str]) -> None:
    """Deletes the rows of whole partitions in a transaction of its own.

    Args:
        connector: The catalog.
        name: The table.
        rows: By partition keys.
    """
    with ReferenceQuery(connector) as query:
        if not isinstance(query.metadata, SupportsDelete):
            raise NotSupportedError(f"{name}: the connector deletes no partitions")
        query.metadata.apply_delete(query.session, query.table(name).table, rows)
