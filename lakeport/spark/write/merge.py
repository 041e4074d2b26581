"""Changes of rows by one query of Spark's, from their beginning on the driver to their commit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from catalog.resolver import ResolvedTable
from connector_spi.errors import InvalidArgumentError
from connector_spi.optional.writing import InsertLayout, MergeCommand
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.write.inserting import note_written, resolve_target
from lakeport.arrow.write.merging import BegunMerge
from lakeport.arrow.write.sinks import WrittenRows
from lakeport.spark.tasks.writing import TaskWriter
from lakeport.transactions.statement import Statement, statement_scope

__all__ = ["MergeTarget", "SparkMerge"]


@dataclass(frozen=True, slots=True)
class MergeTarget:
    """A table whose rows a query changes.

    Attributes:
        reader: The statement that Spark loaded the table in, and reads it.
        table: The table as it reads it.
        row_ids: The columns that name its rows.
        command: The statement's kind.
        layout: How its rows are dealt out to tasks; ``None`` where it does not matter.
    """

    reader: Statement
    table: ResolvedTable
    row_ids: tuple[ColumnMetadata, ...]
    command: MergeCommand
    layout: InsertLayout | None = None


class SparkMerge:
    """Changes in transactions of their own: those that the query reads in may go on.

    Args:
        target: The table.

    Raises:
        NotSupportedError: Rows of the table cannot be changed.
        InvalidArgumentError: It has other columns by now.
        ConnectorError: It is gone, others have changed it, or the catalog failed.
    """

    def __init__(self, target: MergeTarget) -> None:
        self._reader = target.reader.shared_lease
        self._statement = target.reader.writing()
        self._name = target.table.name
        name, columns = target.table.name, tuple(target.table.table.visible_columns())
        with statement_scope(self._statement):
            found = resolve_target(self._statement, name)
            if tuple(found.columns) != columns:
                raise InvalidArgumentError(f"the columns of {name} have changed meanwhile; run the statement again")
            self._begun: BegunMerge | None = BegunMerge(
                found.access, name, target.table.handle, row_ids=target.row_ids, columns=columns, command=target.command
            )
        self.writer = TaskWriter(self._begun.sinks)

    def commit(self, written: Iterable[WrittenRows]) -> None:
        """Makes the changes visible.

        Args:
            written: What the tasks have written, or is written while this is taken.

        Raises:
            ConnectorError: The catalog or its storage failed, or others have changed the table; nothing is visible.
        """
        begun, self._begun = self._begun, None
        assert begun is not None, "changes are committed once"
        with statement_scope(self._statement):
            try:
                fragments = list(chain.from_iterable(one.fragments for one in written))
                begun.finish(fragments)
            except BaseException:
                begun.abort()
                raise
            self._statement.commit()
        note_written(self._reader, self._name)

    def abort(self) -> None:
        """Gives the changes up; after a commit that failed there is nothing left to do."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun.abort()
            self._statement.fail()
