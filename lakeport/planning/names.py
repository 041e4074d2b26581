"""Lists the names of schemas and tables, with no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName, parse_name, quote_identifier
from lakeport.information_schema.listing import CatalogListing
from lakeport.planning.redirection import list_catalog
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import statement_scope

__all__ = ["full_table_name", "list_schemas", "list_tables"]


def list_schemas(registry: CatalogRegistry, lease: ReadLease | None, catalog: str | None) -> list[str]:
    """Full names of the schemas of a catalog, or of all.

    Args:
        registry: The catalogs.
        lease: On transactions to list in; ``None`` for one of its own.
        catalog: As users write it; ``None`` is all catalogs.

    Raises:
        ConnectorError: There is no such catalog, or it failed.
    """
    names = _parts(catalog, 1, "a catalog, such as hive")
    return [
        _full(listing.catalog, schema)
        for listing in _listings(registry, lease, names)
        for schema in listing.own_schemas()
    ]


def list_tables(registry: CatalogRegistry, lease: ReadLease | None, name: str | None) -> list[str]:
    """Full names of the tables and views of a schema, a catalog, or all catalogs.

    Args:
        registry: The catalogs.
        lease: On transactions to list in; ``None`` for one of its own.
        name: A catalog, or a catalog and a schema; ``None`` is all catalogs.

    Raises:
        ConnectorError: There is no such catalog or schema, or it failed.
    """
    names = _parts(name, 2, "a catalog and a schema, such as hive.sales")
    return [
        _full(listing.catalog, schema, table)
        for listing in _listings(registry, lease, names)
        for schema in (names[1:] or listing.own_schemas())
        for table in listing.table_names(schema)
    ]


def full_table_name(name: str) -> CatalogSchemaTableName:
    """A table's name in full, in lower case.

    Raises:
        InvalidArgumentError: It is no name of three parts.
    """
    if not isinstance(name, str):
        raise InvalidArgumentError(f"the table is {name!r:.80}; expected its name, such as 'hive.sales.orders'")
    parts = parse_name(name)
    if len(parts) != 3:
        raise InvalidArgumentError(
            f"'{name}' has {len(parts)} parts; expected catalog, schema and table, such as hive.sales.orders"
        )
    return CatalogSchemaTableName(parts[0].lower(), parts[1].lower(), parts[2].lower())


def _listings(registry: CatalogRegistry, lease: ReadLease | None, names: Sequence[str]) -> Iterator[CatalogListing]:
    for catalog in names[:1] or registry.shown_names():
        with statement_scope(plain_statement(registry, lease)) as statement:
            yield list_catalog(statement.access(catalog))
            statement.commit()


def _parts(name: str | None, most: int, expected: str) -> Sequence[str]:
    if name is None:
        return ()
    if not isinstance(name, str):
        raise InvalidArgumentError(f"the name is {name!r:.80}; expected {expected}")
    parts = [part.lower() for part in parse_name(name)]
    if len(parts) > most:
        raise InvalidArgumentError(f"'{name}' has {len(parts)} parts; expected {expected}")
    return parts


def _full(*parts: str) -> str:
    return ".".join(quote_identifier(part) for part in parts)
