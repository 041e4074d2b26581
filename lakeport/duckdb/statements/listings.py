"""``SHOW`` and ``DESCRIBE`` with the columns that Spark gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa

from catalog.registry import CatalogRegistry
from catalog.resolver import ResolvedSystemTable
from connector_spi.errors import InvalidArgumentError, SchemaNotFoundError
from connector_spi.names import CatalogSchemaTableName, parse_name
from connector_spi.properties import closest
from connector_spi.schema import ColumnMetadata, TableMetadata
from lakeport.duckdb.current_names import CurrentNames
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules import FUNCTIONS
from lakeport.information_schema.listing import CatalogListing
from lakeport.planning.redirection import list_catalog, resolve
from lakeport.sql.create_table import create_table_text
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import statement_scope
from lakeport.type_names import type_name

__all__ = ["Listings"]

_SHOW = re.compile(
    r"(?P<what>CATALOGS|SCHEMAS|DATABASES|NAMESPACES|TABLES|COLUMNS)(?:\s+(?:IN|FROM)\s+(?P<name>[^'\s]\S*))?"
    r"(?:\s+(?:LIKE\s+)?'(?P<pattern>[^']*)')?",
    re.IGNORECASE,
)
_SHOWN = "CATALOGS, SCHEMAS, TABLES, COLUMNS, CREATE TABLE, FUNCTIONS and STATS are shown"
_CREATE = re.compile(r"CREATE\s+TABLE\s+(?P<name>(?:[^\s`;']|`[^`]*`)+)", re.IGNORECASE)
_FUNCTIONS = re.compile(
    r"(?:(?P<whose>USER|SYSTEM|ALL)\s+)?FUNCTIONS(?:\s+(?:IN|FROM)\s+[^'\s]+)?"
    r"(?:\s+(?:LIKE\s+)?(?:'(?P<pattern>[^']*)'|(?P<name>[\w.]+)))?",
    re.IGNORECASE,
)


class Listings:
    """Answers what there is.

    Args:
        registry: The catalogs.
        current: The current names.
    """

    def __init__(self, registry: CatalogRegistry, current: CurrentNames) -> None:
        self._registry = registry
        self._current = current

    def show(self, text: str, lease: ReadLease | None) -> pa.Table:
        """What ``SHOW text`` gives.

        Raises:
            NotSupportedError: Spark alone shows it.
            ConnectorError: There is no such catalog, schema or table.
        """
        if (functions := _FUNCTIONS.fullmatch(text.strip())) is not None:
            kept = _pattern(functions["pattern"] or functions["name"])
            found = [] if (functions["whose"] or "").upper() == "USER" else FUNCTIONS
            return pa.table({"function": pa.array([one for one in sorted(found) if kept(one)], pa.string())})
        if (created := _CREATE.fullmatch(text.strip())) is not None:
            return self._create_table(parse_name(created["name"]), lease)
        asked = _SHOW.fullmatch(text.strip())
        if asked is None:
            raise refused(f"SHOW {text.strip()}", _SHOWN)
        what, name = asked["what"].upper(), parse_name(asked["name"]) if asked["name"] else ()
        if what == "COLUMNS":
            return pa.table({"col_name": [column.name for column in self._columns(name, lease)]})
        kept = _pattern(asked["pattern"])
        if what == "CATALOGS":
            return pa.table(
                {"catalog": pa.array([one for one in self._registry.shown_names() if kept(one)], pa.string())}
            )
        if what != "TABLES":
            catalog = name[0] if name else self._current.catalog
            found = self._listed(catalog, lease, None)
            return pa.table({"namespace": pa.array([one for one in found if kept(one)], pa.string())})
        catalog, schema = self.schema_of(name)
        tables = [one for one in self._listed(catalog, lease, schema) if kept(one)]
        return pa.table(
            {
                "namespace": pa.array([schema] * len(tables), pa.string()),
                "tableName": pa.array(tables, pa.string()),
                "isTemporary": pa.array([False] * len(tables)),
            }
        )

    def describe(self, parts: Sequence[str], lease: ReadLease | None) -> pa.Table:
        """What ``DESCRIBE table`` gives: names, types and comments of its columns."""
        columns = self._columns(parts, lease)
        return pa.table(
            {
                "col_name": pa.array([column.name for column in columns], pa.string()),
                "data_type": pa.array([type_name(column) for column in columns], pa.string()),
                "comment": pa.array([column.comment for column in columns], pa.string()),
            }
        )

    def use(self, parts: Sequence[str], lease: ReadLease | None) -> None:
        """Selects a catalog, a schema of the current one, or both.

        Raises:
            CatalogNotFoundError, SchemaNotFoundError: It is not there.
        """
        if len(parts) == 1 and parts[0].lower() in self._registry.names():
            self._current.catalog, self._current.schema = parts[0].lower(), "default"
            return
        catalog, schema = self.schema_of(parts)
        with statement_scope(plain_statement(self._registry, lease, self._current.properties)) as statement:
            listing = list_catalog(statement.access(catalog))
            if not listing.has_schema(schema):
                near = closest(schema, listing.schemas())
                raise SchemaNotFoundError(f"no schema {catalog}.{schema}{near}")
            statement.commit()
        self._current.catalog, self._current.schema = catalog, schema

    def schema_of(self, parts: Sequence[str]) -> tuple[str, str]:
        """Catalog and schema of a name.

        Raises:
            InvalidArgumentError: The name says none, and none is selected.
        """
        lowered = [part.lower() for part in parts]
        found = (self._current.catalog, self._current.schema)[: max(2 - len(lowered), 0)] + tuple(lowered)
        if len(found) != 2 or not all(found):
            raise InvalidArgumentError(
                f"'{'.'.join(parts)}' names no schema; expected catalog.schema, or USE one first"
            )
        return found[0], found[1]

    def _create_table(self, parts: Sequence[str], lease: ReadLease | None) -> pa.Table:
        full = self._current.full(parts)
        text = create_table_text(full, self._table(full, lease))
        return pa.table({"createtab_stmt": pa.array([text], pa.string())})

    def _columns(self, parts: Sequence[str], lease: ReadLease | None) -> Sequence[ColumnMetadata]:
        return self._table(self._current.full(parts), lease).visible_columns()

    def _table(self, full: CatalogSchemaTableName, lease: ReadLease | None) -> TableMetadata:
        with statement_scope(plain_statement(self._registry, lease, self._current.properties)) as statement:
            _, resolved = resolve(statement.access(full.catalog), full, None)
            statement.commit()
        return resolved.system_table.metadata if isinstance(resolved, ResolvedSystemTable) else resolved.table

    def _listed(self, catalog: str, lease: ReadLease | None, schema: str | None) -> list[str]:
        if not catalog:
            raise InvalidArgumentError("no catalog is selected; name one as in SHOW SCHEMAS IN hive, or USE one first")
        with statement_scope(plain_statement(self._registry, lease, self._current.properties)) as statement:
            listing: CatalogListing = list_catalog(statement.access(catalog.lower()))
            found = listing.schemas() if schema is None else listing.table_names(schema)
            statement.commit()
            return found


def _pattern(text: str | None) -> Callable[[str], bool]:
    """Spark's patterns of names: ``*`` is any text, ``|`` joins several, and letters have no case."""
    if text is None:
        return lambda name: True
    patterns = [re.escape(part.strip()).replace(r"\*", ".*") for part in text.split("|")]
    return lambda name: any(re.fullmatch(pattern, name, re.IGNORECASE) for pattern in patterns)
