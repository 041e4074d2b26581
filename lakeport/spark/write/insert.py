"""An insert of one query of Spark's, from its beginning on the driver to its commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from catalog.resolver import ResolvedTable
from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.page_sink import Fragment
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.optional.writing import Overwrite
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.write.inserting import BegunInsert, note_written, resolve_target
from lakeport.arrow.write.sinks import WrittenRows
from lakeport.spark.tasks.writing import TaskWriter
from lakeport.transactions.statement import Statement, statement_scope

__all__ = ["SparkInsert"]


class SparkInsert:
    """Rows that a query writes to a table, in transactions of their own: those that it reads in may go on.

    Args:
        reader: The statement that Spark loaded the table in, or makes it in.
        statement: The statement that writes.
        begun: The insert.
        name: The table.
    """

    def __init__(
        self, reader: Statement, statement: Statement, begun: BegunInsert, name: CatalogSchemaTableName
    ) -> None:
        self._reader = reader.shared_lease
        self._statement = statement
        self._name = name
        self._begun: BegunInsert | None = begun
        self.writer = TaskWriter(begun.sinks)

    @classmethod
    def into(
        cls,
        reader: Statement,
        table: ResolvedTable,
        columns: Sequence[ColumnMetadata],
        overwrite: Overwrite | None = None,
    ) -> SparkInsert:
        """Begins to write to a table.

        Args:
            reader: The statement that Spark loaded the table in.
            table: The table in it.
            columns: Its visible columns as Spark knows them.
            overwrite: Which rows are replaced; ``None`` where rows are added.

        Raises:
            NotSupportedError: The table takes no rows.
            InvalidArgumentError: It has other columns by now.
            ConnectorError: It is gone, or the catalog failed.
        """
        statement = reader.writing()
        with statement_scope(statement):
            target = resolve_target(statement, table.name)
            if tuple(target.columns) != tuple(columns):
                raise InvalidArgumentError(
                    f"the columns of {table.name} have changed meanwhile; run the statement again"
                )
            seen = None if overwrite is None else replace(overwrite, seen=table.handle)
            return cls(reader, statement, BegunInsert.into(target, seen), target.name)

    def commit(self, written: Iterable[WrittenRows], epoch: StreamEpoch | None = None) -> None:
        """Makes the rows visible, unless they are the batch of a streaming query that is there already.

        Args:
            written: What the tasks have written, or is written while this is taken.
            epoch: The batch.

        Raises:
            ConnectorError: The catalog or its storage failed; nothing is visible.
        """
        begun, self._begun = self._begun, None
        assert begun is not None, "an insert is committed once"
        with statement_scope(self._statement):
            try:
                fragments = list(chain.from_iterable(one.fragments for one in written))
                is_new = _finish(begun, fragments, epoch)
            except BaseException:
                begun.abort()
                raise
            if not is_new:
                begun.abort()
            self._statement.commit()
        note_written(self._reader, self._name)

    def abort(self) -> None:
        """Gives the insert up; after a commit that failed there is nothing left to do."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun.abort()
            self._statement.fail()


def _finish(begun: BegunInsert, fragments: Sequence[Fragment], epoch: StreamEpoch | None) -> bool:
    if epoch is not None:
        return begun.finish_epoch(fragments, epoch)
    begun.finish(fragments)
    return True
