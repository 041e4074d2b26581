r"""The result of ``\d``, from Lakeport's own metadata, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from catalog.resolver import ResolvedSystemTable
from connector_spi.names import CatalogSchemaTableName
from connector_spi.schema import ColumnMetadata, TableBuckets
from lakeport.catalog_session import AnySession
from lakeport.planning.redirection import resolve
from lakeport.transactions.plain_statement import plain_statement
from lakeport.type_names import type_name

__all__ = ["Description", "describe_table", "text_table"]

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


def describe_table(session: AnySession, name: CatalogSchemaTableName, *, verbose: bool) -> Description:
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
    notes += [f"Buckets: {_buckets(table.buckets)}"] if table.buckets else []
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


def text_table(names: Sequence[str], rows: Sequence[tuple[str | None, ...]]) -> pa.Table:
    """A table of texts."""
    arrays = [pa.array([row[index] for row in rows], pa.string()) for index in range(len(names))]
    return pa.Table.from_arrays(arrays, names=list(names))


def _buckets(buckets: TableBuckets) -> str:
    order = f", sorted by {', '.join(buckets.sorted_by)}" if buckets.sorted_by else ""
    return f"{buckets.count} by {', '.join(buckets.columns)}{order}"


def _columns(columns: Sequence[ColumnMetadata], keys: Sequence[str]) -> pa.Table:
    rows = []
    for column in columns:
        marks = [
            "partition key" if column.name in keys else "",
            "hidden" if column.hidden else "",
            "" if column.nullable else "not null",
        ]
        rows.append((column.name, type_name(column), ", ".join(mark for mark in marks if mark) or None, column.comment))
    names = ["column", "type", "", "comment"]
    kept = [index for index, name in enumerate(names) if index < 2 or any(row[index] for row in rows)]
    return text_table([names[index] for index in kept], [tuple(row[index] or "" for index in kept) for row in rows])
