"""Finding a table, also where one catalog names a table of another kind."""

from __future__ import annotations

from dataclasses import replace

from catalog.resolver import ResolvedSystemTable, ResolvedTable
from connector_spi.errors import NotSupportedError, SchemaNotFoundError, TableNotFoundError
from connector_spi.metadata import TableRedirection, TableVersion
from connector_spi.names import CatalogSchemaTableName, SchemaTableName, SystemTableName
from connector_spi.optional.changes import ChangeRange, TableChanges
from connector_spi.properties import closest
from lakeport.information_schema.listing import CatalogListing
from lakeport.information_schema.tables import catalog_listing, system_table
from lakeport.transactions.statement import CatalogAccess

__all__ = ["list_catalog", "redirected", "resolve", "resolve_with_changes"]


def list_catalog(access: CatalogAccess) -> CatalogListing:
    """Lists the schemas and tables of a catalog, those about the catalog itself included."""
    return catalog_listing(access, _resolved)


def resolve(
    access: CatalogAccess, name: CatalogSchemaTableName, version: TableVersion | None
) -> tuple[CatalogAccess, ResolvedTable | ResolvedSystemTable]:
    """Finds a table, and the access through which it is read; the same one each time in a transaction.

    Raises:
        SchemaNotFoundError: No such schema.
        TableNotFoundError: No such table.
        NotSupportedError: It cannot be read right.
    """
    about_catalog = _table_about_catalog(access, name, version)
    if about_catalog is not None:
        return access, about_catalog
    access, name = redirected(access, name)
    try:
        begun, found = access.tables.table(access.begun, access.session, name, version)
    except SchemaNotFoundError as error:
        known = list_catalog(access).about(name.schema.lower())
        if not known:
            raise
        raise TableNotFoundError(f"no table {name}{closest(name.table, known)}") from error
    return access.within(begun), found


def resolve_with_changes(
    access: CatalogAccess, name: CatalogSchemaTableName, change_range: ChangeRange
) -> tuple[CatalogAccess, ResolvedTable, TableChanges]:
    """Finds the changes of a table, and the access through which they are read.

    Raises:
        SchemaNotFoundError: No such schema.
        TableNotFoundError: No such table.
        NotSupportedError: The catalog or the table has no changes.
        InvalidArgumentError: The range is not one of the table, or is no longer there; says what is.
    """
    access, name = redirected(access, name)
    begun, table, changes = access.tables.changes(access.begun, access.session, name, change_range)
    return access.within(begun), table, changes


def redirected(access: CatalogAccess, name: CatalogSchemaTableName) -> tuple[CatalogAccess, CatalogSchemaTableName]:
    """The access through which a table is read, and its name there."""
    redirection = _redirection(access, name)
    if redirection is None:
        return access, name
    access = access.statement.redirected(access.catalog, redirection)
    return access, CatalogSchemaTableName(name.catalog, redirection.name.schema, redirection.name.table)


def _table_about_catalog(
    access: CatalogAccess, name: CatalogSchemaTableName, version: TableVersion | None
) -> ResolvedSystemTable | None:
    asked = SchemaTableName(name.schema.lower(), name.table.lower())
    table = system_table(access, asked, _resolved)
    if table is None:
        return None
    if version is not None:
        raise NotSupportedError(f"system table {name} has no older states; leave out AS OF")
    return ResolvedSystemTable(CatalogSchemaTableName(name.catalog, asked.schema, asked.table), table)


def _resolved(access: CatalogAccess, name: CatalogSchemaTableName) -> ResolvedTable | ResolvedSystemTable:
    return resolve(access, name, None)[1]


def _redirection(access: CatalogAccess, name: CatalogSchemaTableName) -> TableRedirection | None:
    table = SchemaTableName(name.schema.lower(), name.table.lower())
    found = access.tables.redirection(access.begun, access.session, table)
    system = None if found is not None else SystemTableName.parse(table)
    if system is None:
        return found
    # A table about a table goes where the table itself is read.
    base = access.tables.redirection(access.begun, access.session, system.base)
    return (
        None
        if base is None
        else replace(base, name=SchemaTableName(base.name.schema, f"{base.name.table}${system.kind}"))
    )
