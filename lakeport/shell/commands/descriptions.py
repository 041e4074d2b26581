r"""The results of ``\d``, ``\l``, ``\dn`` and ``\dt``, from Lakeport's own metadata, without Spark."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from catalog.resolver import ResolvedSystemTable, resolve_schema
from connector_spi.errors import ConnectorError
from connector_spi.names import CatalogSchemaTableName, quote_identifier
from connector_spi.schema import ColumnMetadata
from lakeport.planning.redirection import resolve
from lakeport.session import Session
from lakeport.transactions.plain_statement import plain_statement

__all__ = ["Description", "catalog_rows", "describe_table", "function_rows", "schema_rows", "table_rows"]

_FIRST_PROPERTIES = ("provider", "format", "type", "external", "location")


@dataclass(frozen=True, slots=True)
class Description:
    """A table to show, with lines around it.

    Attributes:
        title: Line above it; empty for none.
        table: Its rows.
        notes: Lines below it.
    """

    title: str
    table: pa.Table
    notes: tuple[str, ...] = ()


def catalog_rows(session: Session) -> Description:
    """All catalogs, with the connector and the error of each."""
    rows = []
    for name in session.catalogs.names():
        try:
            session.catalogs.get(name)
            problem = None
        except ConnectorError as error:
            problem = str(error)
        rows.append((name, session.catalogs.connector_name(name) or "?", problem))
    columns = ["catalog", "connector", "problem"]
    if all(problem is None for _, _, problem in rows):
        columns.pop()
    return Description("", _table(columns, rows))


def schema_rows(session: Session, catalog: str, pattern: str) -> Description:
    """Schemas of a catalog.

    Args:
        session: The session with the catalog.
        catalog: Name of the catalog.
        pattern: Pattern with ``*`` and ``?``; empty for all.
    """
    access = plain_statement(session.catalogs).access(catalog)
    with access.lock:
        names = access.metadata.list_schema_names(access.session)
    return Description(f"Schemas of {catalog}", _table(["schema"], [(name,) for name in _matching(names, pattern)]))


def table_rows(session: Session, catalog: str, schema: str, pattern: str) -> Description:
    """Tables and views of a schema; ``pattern`` as in ``schema_rows``.

    Raises:
        SchemaNotFoundError: The schema does not exist; the message names similar ones.
    """
    access = plain_statement(session.catalogs).access(catalog)
    about = [one.metadata.name.table for one in access.connector.system_tables if one.metadata.name.schema == schema]
    with access.lock:
        names = about or [name.table for name in access.metadata.list_tables(access.session, schema)]
        if not names:
            resolve_schema(access.session, access.metadata, catalog, schema)
    return Description(
        f"Tables of {quote_identifier(catalog)}.{quote_identifier(schema)}",
        _table(["table"], [(name,) for name in _matching(names, pattern)]),
    )


def function_rows(session: Session, pattern: str) -> Description:
    """Spark's functions, and the procedures of the catalogs; this starts Spark."""
    rows: list[tuple[str, str, str | None]] = [
        (name, "function", None) for name in _matching(session.engine.function_names(), pattern)
    ]
    for catalog in session.catalogs.names():
        try:
            procedures = session.catalogs.get(catalog).procedures
        except ConnectorError:
            continue
        known = {one.name: one for one in procedures}
        rows += [
            (f"{catalog}.{known[name].schema}.{name}", "procedure", known[name].description)
            for name in _matching(known, pattern)
        ]
    return Description("", _table(["name", "kind", "description"], rows))


def describe_table(session: Session, name: CatalogSchemaTableName, *, verbose: bool) -> Description:
    """Columns, partition keys, format, location and comment of a table.

    Args:
        session: The session with the catalog.
        name: The table, or a system table.
        verbose: Include hidden columns, all properties and the system tables.

    Raises:
        TableNotFoundError: The table does not exist; the message names similar ones.
        ConnectorError: The table cannot be read.
    """
    access, resolved = resolve(plain_statement(session.catalogs).access(name.catalog), name, None)
    if isinstance(resolved, ResolvedSystemTable):
        return Description(f"System table {name}", _columns(resolved.system_table.metadata.columns, ()))
    table = resolved.table
    shown = table.columns if verbose else table.visible_columns()
    notes = [f"Partition keys: {', '.join(table.partitioned_by)}"] if table.partitioned_by else []
    properties = dict(table.properties)
    first = [key for key in _FIRST_PROPERTIES if key in properties]
    notes += [f"{key.replace('_', ' ').capitalize()}: {properties.pop(key)}" for key in first]
    notes += [f"Comment: {table.comment}"] if table.comment else []
    if verbose:
        with access.lock:
            kinds = sorted(access.metadata.list_system_table_kinds())
        notes += [f"System tables: {', '.join(f'{name.table}${kind}' for kind in kinds)}"] if kinds else []
        notes += ["Properties:"] if properties else []
        notes += [f"  {key} = {value}" for key, value in sorted(properties.items())]
    return Description(f"Table {name}", _columns(shown, table.partitioned_by), tuple(notes))


def _columns(columns: Sequence[ColumnMetadata], keys: Sequence[str]) -> pa.Table:
    rows = []
    for column, type_name in zip(columns, _type_names(columns), strict=True):
        marks = [
            "partition key" if column.name in keys else "",
            "hidden" if column.hidden else "",
            "" if column.nullable else "not null",
        ]
        kind = column.declared_type or type_name
        rows.append((column.name, kind, ", ".join(mark for mark in marks if mark) or None, column.comment))
    names = ["column", "type", "", "comment"]
    kept = [index for index, name in enumerate(names) if index < 2 or any(row[index] for row in rows)]
    return _table([names[index] for index in kept], [tuple(row[index] or "" for index in kept) for row in rows])


def _type_names(columns: Sequence[ColumnMetadata]) -> list[str]:
    # The type names are Spark's; this imports PySpark, but starts no Java.
    from pyspark.sql.types import StructType

    from lakeport.spark.bridge.types import spark_schema_json

    fields = StructType.fromJson(json.loads(spark_schema_json(columns))).fields
    return [field.dataType.simpleString() for field in fields]


def _table(names: Sequence[str], rows: Sequence[tuple[str | None, ...]]) -> pa.Table:
    arrays = [pa.array([row[index] for row in rows], pa.string()) for index in range(len(names))]
    return pa.Table.from_arrays(arrays, names=list(names))


def _matching(names: Iterable[str], pattern: str) -> list[str]:
    ordered = sorted(names)
    return fnmatch.filter(ordered, pattern.lower()) if pattern else ordered
