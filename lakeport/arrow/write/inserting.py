"""Adding rows to a table with no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import pyarrow as pa

from catalog.metastore.wrappers.read_only import READ_ONLY_CATALOG
from catalog.resolver import ResolvedSystemTable, ResolvedTable
from connector_spi.errors import InternalError, InvalidArgumentError, NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.page_sink import Fragment, InsertHandle, PageSinkProvider
from connector_spi.optional.streaming import StreamEpoch, SupportsStreamingInsert
from connector_spi.optional.writing import Overwrite, SupportsInsert, SupportsOverwrite
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.write.assignment import assign_columns
from lakeport.arrow.write.sinks import SinkOpener
from lakeport.planning.redirection import resolve
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.statement import CatalogAccess, Statement

__all__ = [
    "BegunInsert",
    "InsertTarget",
    "check_outside_of_block",
    "insert_rows",
    "note_written",
    "resolve_target",
    "rows_of",
    "write_rows",
]


@dataclass(frozen=True, slots=True)
class InsertTarget:
    """A table that rows are to be added to.

    Attributes:
        name: In full.
        access: The catalog that has it.
        table: What was resolved.
        metadata: Takes the rows.
    """

    name: CatalogSchemaTableName
    access: CatalogAccess
    table: ResolvedTable
    metadata: SupportsInsert

    @property
    def columns(self) -> tuple[ColumnMetadata, ...]:
        """The columns of the rows, in the table's order."""
        return self.table.table.visible_columns()


def check_outside_of_block(lease: ReadLease | None) -> None:
    """Refuses to make a table of rows in a block, whose end would not undo it.

    Args:
        lease: Of the block that the thread is in; ``None`` outside of one.

    Raises:
        NotSupportedError: It is a block of several statements.
    """
    if lease is not None and not lease.of_one_statement:
        raise NotSupportedError(
            "a table cannot be made of rows inside of session.transaction(), whose end does not undo it; make it before"
        )


def note_written(reader: ReadLease | None, name: CatalogSchemaTableName) -> None:
    """Rows were written to a table, in a block maybe, which from now on cannot read it.

    Args:
        reader: Of the statement that wrote them; ``None`` outside of a block.
        name: The table.
    """
    if reader is not None and not reader.of_one_statement:
        reader.note_written(name.catalog, str(name.schema_table))


def insert_rows(target: InsertTarget, rows: pa.RecordBatchReader, overwrite: Overwrite | None = None) -> int:
    """Writes rows to a table; they are visible when the transactions of its statement commit.

    Args:
        target: The table.
        rows: Their columns are found by name; those that they lack become NULL.
        overwrite: Which rows they take the place of; ``None`` where they are added.

    Returns:
        How many rows.

    Raises:
        NotSupportedError: The table takes no rows.
        ColumnNotFoundError, InvalidArgumentError: A column or a value does not fit.
        ConnectorError: The catalog or its storage failed.
    """
    assign_columns(target.columns, rows.schema, target.name)  # refuses before anything has begun
    return write_rows(BegunInsert.into(target, overwrite), rows)


def write_rows(insert: BegunInsert, rows: pa.RecordBatchReader) -> int:
    """Writes all rows of an insert, and ends it.

    Returns:
        How many rows.

    Raises:
        ColumnNotFoundError, InvalidArgumentError: A column or a value does not fit.
        ConnectorError: The catalog or its storage failed.
    """
    try:
        written = insert.sinks.write(rows.schema, rows, 0)
        insert.finish(written.fragments)
    except BaseException:
        insert.abort()
        raise
    return written.rows


def resolve_target(statement: Statement, name: CatalogSchemaTableName) -> InsertTarget:
    """Finds a table that rows are to be added to.

    Raises:
        NotSupportedError: It is a system table, or its connector does not write.
        ConnectorError: The table is not there, or the catalog failed.
    """
    access, table = resolve(statement.access(name.catalog), name, None)
    if isinstance(table, ResolvedSystemTable):
        raise NotSupportedError(f"{name} is a system table, which takes no rows", READ_ONLY_CATALOG)
    if not isinstance(access.metadata, SupportsInsert):
        raise NotSupportedError(
            f"rows cannot be added to {name}: its connector does not write; use the engine that owns the table",
            READ_ONLY_CATALOG,
        )
    return InsertTarget(name, access, table, access.metadata)


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


class BegunInsert:
    """An insert that has begun: exactly one of ``finish`` and ``abort`` ends it.

    Args:
        access: The catalog.
        insert: What its connector gave.
        table: Name of the table, for messages.
        columns: The columns of the rows, in the table's order.
        asked: What is done, as in "cannot ...".

    Attributes:
        sinks: Open the sinks that its rows go to.

    Raises:
        InternalError: The connector has no sinks.
    """

    def __init__(
        self,
        access: CatalogAccess,
        insert: InsertHandle,
        table: CatalogSchemaTableName,
        columns: tuple[ColumnMetadata, ...],
        asked: str,
    ) -> None:
        self.access = access
        self.handle = insert
        self.asked = asked
        self.sinks = SinkOpener(
            provider=_provider(access),
            session=access.session,
            insert=insert,
            table=str(table),
            columns=columns,
            origin=access.origin,
        )

    @classmethod
    def into(cls, target: InsertTarget, overwrite: Overwrite | None = None) -> BegunInsert:
        """Begins to write to a table.

        Args:
            target: The table.
            overwrite: Which rows are replaced; ``None`` where rows are added.

        Raises:
            NotSupportedError: The table takes no rows, or none of it can be replaced.
            ConnectorError: The catalog failed.
        """
        _provider(target.access)
        asked = f"add rows to {target.name}" if overwrite is None else f"replace rows of {target.name}"
        with target.access.lock.asking(asked):
            insert = _begin(target, overwrite)
        return cls(target.access, insert, target.name, target.columns, asked)

    @property
    def metadata(self) -> SupportsInsert:
        """Whose insert it is."""
        return cast(SupportsInsert, self.access.metadata)

    def finish(self, fragments: Sequence[Fragment]) -> None:
        """Has the rows committed with the transaction."""
        with self.access.lock.asking(self.asked):
            self.metadata.finish_insert(self.access.session, self.handle, fragments)

    def finish_epoch(self, fragments: Sequence[Fragment], epoch: StreamEpoch) -> bool:
        """Has the rows of a streaming query's batch committed with the transaction; ``False`` where they are there.

        Raises:
            NotSupportedError: The connector takes no such rows.
        """
        metadata = self.access.metadata
        if not isinstance(metadata, SupportsStreamingInsert):
            raise NotSupportedError(
                f"cannot {self.asked} from a streaming query: its connector does not record batches"
            )
        with self.access.lock.asking(self.asked):
            return metadata.finish_stream_insert(self.access.session, self.handle, fragments, epoch)

    def abort(self) -> None:
        """Clears what was written; an error of it is not told, since another one came before."""
        with suppress(Exception), self.access.lock.asking(self.asked):
            self.metadata.abort_insert(self.access.session, self.handle)


def _provider(access: CatalogAccess) -> PageSinkProvider:
    provider = access.connector.page_sink_provider
    if provider is None:
        raise InternalError(f"the connector of catalog '{access.catalog}' takes rows, and has no page_sink_provider")
    return provider


def _begin(target: InsertTarget, overwrite: Overwrite | None) -> InsertHandle:
    access, metadata = target.access, target.metadata
    if overwrite is None:
        return metadata.begin_insert(access.session, target.table.handle)
    if not isinstance(metadata, SupportsOverwrite):
        raise NotSupportedError(
            f"rows of {target.name} cannot be replaced: its connector only adds rows; use the engine that owns the "
            "table",
            READ_ONLY_CATALOG,
        )
    return metadata.begin_overwrite(access.session, target.table.handle, overwrite)
