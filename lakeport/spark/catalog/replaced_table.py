"""A table in whose place a query puts another one: ``REPLACE TABLE``, ``CREATE OR REPLACE TABLE``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.errors import NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.creating import SupportsTableReplacement
from connector_spi.optional.definitions import TableDefinition
from connector_spi.optional.writing import Overwrite, SupportsInsert, SupportsOverwrite
from connector_spi.predicate import TupleDomain
from connector_spi.schema import TableMetadata
from lakeport.arrow.write.inserting import check_outside_of_block, resolve_target
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.catalog import definitions
from lakeport.spark.catalog.loading import scanned_table
from lakeport.spark.catalog.staged_table import query_columns
from lakeport.spark.catalog.table import TableProxy
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.write.distribution import insert_layout
from lakeport.spark.write.insert import SparkInsert
from lakeport.spark.write.truncate import truncate
from lakeport.spark.write.write_builder import AskedRows, WriteBuilderProxy, WriteStarts
from lakeport.sql.unsupported_statements import rows_are_not_written
from lakeport.transactions.statement import CatalogAccess

__all__ = ["ReplacementProxy", "stage_replacement"]


class ReplacementProxy(TableProxy):
    """A table whose rows come from a query, and that takes the place of another one if it succeeds."""

    class Java:
        implements: ClassVar[list[str]] = [*TableProxy.Java.implements, CATALOG + "StagedTable"]

    def commitStagedChanges(self) -> None:
        """The query has succeeded."""
        raise NotImplementedError

    def abortStagedChanges(self) -> None:
        """The query has failed."""
        raise NotImplementedError


class _NewTableProxy(ReplacementProxy):
    """A table beside the old one, in whose place it is put if the query that fills it succeeds."""

    replaced: CatalogSchemaTableName

    def commitStagedChanges(self) -> None:
        """The old table goes."""
        access, name = self._table.plan.access, self.replaced
        metadata = access.metadata
        assert isinstance(metadata, SupportsTableReplacement), "checked when it was staged"
        with access.redefining(name.schema, name.table):
            metadata.finish_replace_table(access.session, name.schema_table, self._table.name.schema_table)
        access.statement.lease.redefined(access.catalog, name.schema, self._table.name.table)

    def abortStagedChanges(self) -> None:
        """The new table goes, with what was written to it."""
        definitions.drop_table(self._table.plan.access, self._table.name, purge=True)


class _SameTableProxy(ReplacementProxy):
    """The table itself, which has the new definition already: its rows are replaced."""

    written = False

    def _write_builder(self, rows: AskedRows) -> WriteBuilderProxy:
        """Rows in place of all others."""
        statement = self._table.plan.access.statement
        insert = partial(SparkInsert.into, statement, self._resolved, self._metadata.visible_columns())
        self.written = True
        layout = insert_layout(self._table.plan.access, self._resolved)
        return WriteBuilderProxy(self._jvm, self._resolved, WriteStarts(lambda _: insert(Overwrite())), rows, layout)

    def commitStagedChanges(self) -> None:
        """Takes the rows away where no query has replaced them."""
        if not self.written:
            truncate(self._table.plan.access, self._resolved, TupleDomain.all())

    def abortStagedChanges(self) -> None:
        """Does nothing: the write has not happened."""


def stage_replacement(
    jvm: Jvm, access: CatalogAccess, name: CatalogSchemaTableName, arguments: Sequence[JavaObject]
) -> ReplacementProxy:
    """Makes what is to take a table's place.

    Args:
        jvm: The door to the JVM.
        access: The catalog in the query's statement.
        name: The table, which is there.
        arguments: As of ``create_table``.

    Raises:
        NotSupportedError: The catalog does not replace tables, or not this one, or this is in a block.
        ConnectorError: It is not there, or the new one cannot be made; nothing has changed.
    """
    metadata = access.metadata
    if not (isinstance(metadata, SupportsTableReplacement) and isinstance(metadata, SupportsOverwrite)):
        raise rows_are_not_written(access.catalog, "REPLACE TABLE", adds=isinstance(metadata, SupportsInsert))
    check_outside_of_block(access.statement.shared_lease)
    definition = definitions.read_definition(jvm, name, arguments)
    with access.lock:
        made = metadata.begin_replace_table(access.session, definition)
    if made is None:
        return _SameTableProxy(jvm, *_parts(access, resolve_target(access.statement, name).table, definition))
    staged = CatalogSchemaTableName(name.catalog, made.schema, made.table)
    access.statement.lease.redefined(access.catalog, made.schema, made.table)
    try:
        table = resolve_target(access.statement, staged).table
    except NotSupportedError:
        definitions.drop_table(access, staged, purge=True)
        raise
    proxy = _NewTableProxy(jvm, *_parts(access, table, definition))
    proxy.replaced = name
    return proxy


def _parts(
    access: CatalogAccess, table: ResolvedTable, definition: TableDefinition
) -> tuple[ScannedTable, TableMetadata, ResolvedTable]:
    return scanned_table(access, table, query_columns(table.table, definition)), table.table, table
