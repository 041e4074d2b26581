"""What is in a catalog: schemas, tables, and what is known of each table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from catalog.resolver import ResolvedSystemTable, ResolvedTable, resolve_schema
from connector_spi.errors import AccessDeniedError, ConnectorError, MetastoreError, NotSupportedError
from connector_spi.names import CatalogSchemaTableName, SchemaTableName
from connector_spi.optional.definitions import SupportsViews, ViewDefinition
from connector_spi.optional.listing import SupportsTableListing
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
            names = [
                SchemaTableName(schema, table)
                for table in self.table_names(schema)
                if allows(constraint, "table_name", table)
            ]
            views = self._views(schema, [name for name in names if name not in self._about])
            for name in names:
                yield ListedTable(name, name in views)

    def all_described(self, constraint: TupleDomain[str]) -> Iterator[ListedTable]:
        """The same as ``tables`` with what is known of each; connectors that can are asked for many at once.

        Args:
            constraint: As of ``tables``.

        Raises:
            MetastoreError: As of ``described``.
        """
        for schema, listed in groupby(self.tables(constraint), lambda one: one.name.schema):
            tables = list(listed)
            known = self.described_at_once(schema, [one.name for one in tables]) if len(tables) > 1 else {}
            for table in tables:
                found = known.get(table.name)
                yield self.described(table) if found is None else _with_metadata(table, found)

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

    def described_at_once(
        self, schema: str, names: Sequence[SchemaTableName]
    ) -> dict[SchemaTableName, TableMetadata | ViewDefinition]:
        """What a connector that can says of many tables of a schema in few calls; others are left out."""
        metadata = self._access.metadata
        own = [name.table for name in names if name not in self._about]
        if not isinstance(metadata, SupportsTableListing):
            return {}
        with self._access.lock:
            return {one.name: one for one in metadata.list_table_metadata(self._access.session, schema, own)}

    def _described(self, access: CatalogAccess, listed: ListedTable) -> ListedTable:
        name = listed.name
        if listed.is_view:
            view = access.tables.view(access.begun, access.session, name)
            if view is None:
                return listed
            return _with_metadata(listed, view)
        resolved = self._resolve(access, CatalogSchemaTableName(access.catalog, name.schema, name.table))
        if isinstance(resolved, ResolvedSystemTable):
            return replace(listed, table=resolved.system_table.metadata)
        return replace(listed, table=resolved.table)

    def _views(self, schema: str, names: Sequence[SchemaTableName]) -> frozenset[SchemaTableName]:
        """Which of some tables of a schema are views."""
        metadata, session = self._access.metadata, self._access.session
        if not isinstance(metadata, SupportsViews) or not names:
            return frozenset()
        with self._access.lock:
            if len(names) == 1:
                # A view that is not understood, or a table that cannot be read, is left to the list.
                with suppress(NotSupportedError, AccessDeniedError):
                    return frozenset(names if metadata.get_view(session, names[0]) is not None else ())
            return frozenset(metadata.list_views(session, schema))


def allows(constraint: TupleDomain[str], column: str, value: str) -> bool:
    """Whether rows with this value of a column may be needed."""
    if constraint.domains is None:
        return False
    domain = constraint.domains.get(column)
    return domain is None or domain.includes_value(value)


def _with_metadata(listed: ListedTable, found: TableMetadata | ViewDefinition) -> ListedTable:
    if isinstance(found, TableMetadata):
        return replace(listed, table=found)
    return replace(listed, view=found, table=_shown_columns(found))


def _shown_columns(view: ViewDefinition) -> TableMetadata:
    return TableMetadata(view.name, view.columns, comment=view.comment, properties=view.properties)
