"""What is in a catalog: schemas, tables, and what is known of each table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from catalog.resolver import ResolvedSystemTable, ResolvedTable, resolve_schema
from connector_spi.errors import ConnectorError, MetastoreError, NotSupportedError
from connector_spi.names import CatalogSchemaTableName, SchemaTableName
from connector_spi.optional.definitions import SupportsViews, ViewDefinition
from connector_spi.predicate import TupleDomain
from connector_spi.schema import TableMetadata
from lakeport.transactions.statement import CatalogAccess, statement_scope

__all__ = ["CatalogListing", "ListedTable", "Resolve", "allows"]

Resolve: TypeAlias = Callable[[CatalogAccess, CatalogSchemaTableName], ResolvedTable | ResolvedSystemTable]
"""Finds a table by its name."""


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table of a catalog, and what is known of it.

    Attributes:
        name: Schema and table.
        is_view: It is a view.
        table: Columns and properties, where they were asked for and are known.
        view: The view, where it was asked for and is understood.
        problem: Why it cannot be read.
    """

    name: SchemaTableName
    is_view: bool
    table: TableMetadata | None = None
    view: ViewDefinition | None = None
    problem: str | None = None


class CatalogListing:
    """Lists a catalog.

    Args:
        access: The catalog.
        resolve: Finds a table.
        about: Names of the tables about the catalog itself.
    """

    def __init__(self, access: CatalogAccess, resolve: Resolve, about: frozenset[SchemaTableName]) -> None:
        self._access = access
        self._resolve = resolve
        self._about = about

    @property
    def catalog(self) -> str:
        """The catalog's name."""
        return self._access.catalog

    def schemas(self) -> list[str]:
        """All schemas, sorted, those about the catalog included."""
        return sorted({*self.own_schemas(), *(name.schema for name in self._about)})

    def own_schemas(self) -> list[str]:
        """The schemas that the connector lists, sorted."""
        with self._access.lock:
            return sorted(self._access.metadata.list_schema_names(self._access.session))

    def about(self, schema: str) -> frozenset[str]:
        """Names of the tables of a schema that are about the catalog itself."""
        return frozenset(name.table for name in self._about if name.schema == schema)

    def has_schema(self, schema: str) -> bool:
        """Whether there is a schema of this name, in lower case."""
        if self.about(schema):
            return True
        with self._access.lock:
            return self._access.metadata.schema_exists(self._access.session, schema)

    def table_names(self, schema: str) -> list[str]:
        """Tables and views of a schema, sorted, those about the catalog included.

        Raises:
            SchemaNotFoundError: There is no such schema; names the closest ones.
        """
        access, about = self._access, self.about(schema)
        with access.lock:
            if not about:
                resolve_schema(access.session, access.metadata, access.catalog, schema)
            return sorted({*about, *(name.table for name in access.metadata.list_tables(access.session, schema))})

    def tables(self, constraint: TupleDomain[str]) -> Iterator[ListedTable]:
        """Names and kinds of tables, sorted.

        Args:
            constraint: Tables may be left out whose ``table_schema`` or ``table_name`` is outside of it.
        """
        for schema in self.schemas():
            if not allows(constraint, "table_schema", schema):
                continue
            for table in self.table_names(schema):
                if allows(constraint, "table_name", table):
                    name = SchemaTableName(schema, table)
                    yield ListedTable(name, name not in self._about and self._is_view(name))

    def described(self, listed: ListedTable) -> ListedTable:
        """The same with what is known of the table; a table that is gone meanwhile, or is broken, has a problem.

        Each is looked at in a transaction of its own: a lock on each table of the catalog would hold up others.

        Raises:
            MetastoreError: The metastore failed: that is no problem of one table.
        """
        try:
            with statement_scope(self._access.statement.apart()) as statement:
                access = statement.access(self._access.catalog)
                found = self._described(access, listed)
                statement.commit()
                return found
        except MetastoreError:
            raise
        except ConnectorError as error:
            return replace(listed, problem=error.message)

    def _described(self, access: CatalogAccess, listed: ListedTable) -> ListedTable:
        name = listed.name
        if listed.is_view:
            view = access.tables.view(access.begun, access.session, name)
            if view is None:
                return listed
            table = TableMetadata(name, view.columns, comment=view.comment, properties=view.properties)
            return replace(listed, view=view, table=table)
        resolved = self._resolve(access, CatalogSchemaTableName(access.catalog, name.schema, name.table))
        if isinstance(resolved, ResolvedSystemTable):
            return replace(listed, table=resolved.system_table.metadata)
        return replace(listed, table=resolved.table)

    def _is_view(self, name: SchemaTableName) -> bool:
        metadata, session = self._access.metadata, self._access.session
        if not isinstance(metadata, SupportsViews):
            return False
        with self._access.lock:
            try:
                return metadata.get_view(session, name) is not None
            except NotSupportedError:
                # A view that is not understood, or a table that cannot be read.
                return name in metadata.list_views(session, name.schema)


def allows(constraint: TupleDomain[str], column: str, value: str) -> bool:
    """Whether rows with this value of a column may be needed."""
    if constraint.domains is None:
        return False
    domain = constraint.domains.get(column)
    return domain is None or domain.includes_value(value)
