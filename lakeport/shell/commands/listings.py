r"""The results of ``\l``, ``\dn``, ``\dt``, ``\dv`` and ``\df``; only the last one needs the engine."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from catalog.resolver import ResolvedSystemTable, ResolvedTable
from connector_spi.errors import ConnectorError
from connector_spi.names import CatalogSchemaTableName, SchemaTableName, quote_identifier
from connector_spi.optional.definitions import SupportsViews, ViewDefinition
from connector_spi.optional.procedures import Procedure
from connector_spi.schema import TableMetadata
from lakeport.catalog_session import AnySession
from lakeport.information_schema.tables import catalog_listing
from lakeport.planning.redirection import resolve
from lakeport.shell.commands.descriptions import Description, text_table
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import CatalogAccess, Statement

__all__ = ["RelationPattern", "catalog_rows", "function_rows", "relation_rows", "schema_rows"]

_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class RelationPattern:
    """Which tables are listed; each part is in lower case and may have ``*`` and ``?``.

    Attributes:
        catalog: Catalogs.
        schema: Schemas.
        table: Tables; empty for all.
        system: Whether a pattern of schemas is also about those about the catalog itself; a name always is.
    """

    catalog: str
    schema: str
    table: str
    system: bool = False

    @property
    def is_one_schema(self) -> bool:
        """It names one schema, which has to exist."""
        return _WILD.isdisjoint(self.catalog + self.schema)


def catalog_rows(session: AnySession) -> Description:
    """All catalogs, with the connector and the error of each."""
    rows = []
    for name in session.catalogs.shown_names():
        try:
            session.catalogs.get(name)
            problem = None
        except ConnectorError as error:
            problem = str(error)
        rows.append((name, session.catalogs.connector_name(name) or "?", problem))
    columns = ["catalog", "connector", "problem"]
    if all(problem is None for _, _, problem in rows):
        columns.pop()
    return Description("", text_table(columns, rows))


def schema_rows(session: AnySession, catalog: str, pattern: str, *, system: bool = False) -> Description:
    """Schemas of a catalog; those about the catalog itself only by a pattern, as in psql.

    Args:
        session: The session with the catalog.
        catalog: Name of the catalog.
        pattern: Pattern with ``*`` and ``?``; empty for all.
        system: Those about the catalog itself, too.
    """
    listing = catalog_listing(plain_statement(session.catalogs).access(catalog), _table_alone)
    names = listing.schemas() if system or pattern else listing.own_schemas()
    return Description(f"Schemas of {catalog}", text_table(["schema"], [(name,) for name in _matching(names, pattern)]))


def relation_rows(
    session: AnySession, pattern: RelationPattern, *, views_only: bool = False, verbose: bool = False
) -> Description:
    """Tables and views.

    Args:
        session: The session with the catalogs.
        pattern: Which.
        views_only: No tables.
        verbose: Say what each is, in which format and where, and the error of one that cannot be read.

    Raises:
        CatalogNotFoundError: The catalog does not exist.
        SchemaNotFoundError: The one schema does not exist; the message names similar ones.
    """
    catalogs = [pattern.catalog]
    if not _WILD.isdisjoint(pattern.catalog):
        catalogs = _matching(session.catalogs.shown_names(), pattern.catalog)
    statement = plain_statement(session.catalogs)
    found = [
        relation for catalog in catalogs for relation in _relations(statement.access(catalog), pattern)
        if relation.is_view or not views_only
    ]  # fmt: skip
    kind = "Views" if views_only else "Tables"
    if pattern.is_one_schema:
        title = f"{kind} of {quote_identifier(pattern.catalog)}.{quote_identifier(pattern.schema)}"
        rows: list[tuple[str | None, ...]] = [(one.name.table,) for one in found]
        columns = ["table"]
    else:
        title = kind
        rows = [(one.name.catalog, one.name.schema, one.name.table) for one in found]
        columns = ["catalog", "schema", "table"]
    if verbose:
        columns += ["type", "format", "location", "comment"]
        rows = [(*row, *details) for row, details in zip(rows, _all_details(statement, found), strict=True)]
    return Description(title, text_table(columns, rows))


def function_rows(session: AnySession, pattern: str) -> Description:
    """The engine's functions, and the procedures of the catalogs, with their arguments; this starts the engine."""
    usages = session.engine.function_usages(_matching(session.engine.function_names(), pattern))
    rows: list[tuple[str | None, ...]] = [
        (usage.name, "function", usage.signature, usage.description) for usage in usages
    ]
    for catalog in session.catalogs.shown_names():
        try:
            procedures = session.catalogs.get(catalog).procedures
        except ConnectorError:
            continue
        known = {one.name: one for one in procedures}
        rows += [
            (f"{catalog}.{one.schema}.{one.name}", "procedure", _signature(one), one.description)
            for one in map(known.__getitem__, _matching(known, pattern))
        ]
    return Description("", text_table(["name", "kind", "arguments", "description"], rows))


@dataclass(frozen=True, slots=True)
class _Relation:
    name: CatalogSchemaTableName
    is_view: bool


def _relations(access: CatalogAccess, pattern: RelationPattern) -> Iterator[_Relation]:
    metadata, listing = access.metadata, catalog_listing(access, _table_alone)
    schemas = [pattern.schema]
    if not pattern.is_one_schema:
        schemas = _matching(listing.schemas() if pattern.system else listing.own_schemas(), pattern.schema)
    for schema in schemas:
        tables = listing.table_names(schema)
        views: set[str] = set()
        if isinstance(metadata, SupportsViews) and not listing.about(schema).issuperset(tables):
            with access.lock:
                views = {name.table for name in metadata.list_views(access.session, schema)}
        for table in _matching(tables, pattern.table):
            yield _Relation(CatalogSchemaTableName(access.catalog, schema, table), table in views)


def _table_alone(access: CatalogAccess, name: CatalogSchemaTableName) -> ResolvedTable | ResolvedSystemTable:
    return resolve(access, name, None)[1]


def _all_details(statement: Statement, found: Sequence[_Relation]) -> Iterator[tuple[str | None, ...]]:
    """Types, formats, locations and comments; a connector that can is asked for all of a schema at once."""
    for (catalog, schema), of_schema in groupby(found, lambda one: (one.name.catalog, one.name.schema)):
        access, relations = statement.access(catalog), list(of_schema)
        tables = [SchemaTableName(schema, one.name.table) for one in relations if not one.is_view]
        known: Mapping[SchemaTableName, TableMetadata | ViewDefinition] = {}
        if len(tables) > 1:
            # Each table that is asked for by itself gets its error.
            with suppress(ConnectorError):
                known = catalog_listing(access, _table_alone).described_at_once(schema, tables)
        for one in relations:
            table = known.get(SchemaTableName(schema, one.name.table))
            yield _table_details(table) if isinstance(table, TableMetadata) else _details(access, one)


def _details(access: CatalogAccess, relation: _Relation) -> tuple[str | None, ...]:
    if relation.is_view:
        return "view", None, None, None
    try:
        _, resolved = resolve(access, relation.name, None)
    except ConnectorError as error:
        return "cannot be read", None, None, str(error)
    if isinstance(resolved, ResolvedSystemTable):
        return "system table", None, None, None
    return _table_details(resolved.table)


def _table_details(table: TableMetadata) -> tuple[str | None, ...]:
    properties = dict(table.properties)
    return (
        properties.get("table_type") or properties.get("type") or "table",
        properties.get("format") or properties.get("provider"),
        properties.get("location"),
        table.comment,
    )


def _signature(procedure: Procedure) -> str:
    return ", ".join(one.name if one.required else f"[{one.name}]" for one in procedure.arguments)


def _matching(names: Iterable[str], pattern: str) -> list[str]:
    ordered = sorted(names)
    return fnmatch.filter(ordered, pattern.lower()) if pattern else ordered
