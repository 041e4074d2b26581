"""``SHOW STATS FOR table``, as in Trino; Spark's parser does not support it."""

from __future__ import annotations

import re

import pyarrow as pa

from catalog.resolver import ResolvedSystemTable
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.handles import TableHandle
from connector_spi.metadata import SupportsColumnStatistics, SupportsStatistics
from connector_spi.names import CatalogSchemaTableName, parse_name
from connector_spi.predicate import Value
from connector_spi.statistics import ColumnStatistics, TableStatistics
from lakeport.planning.redirection import resolve
from lakeport.transactions.statement import CatalogAccess, Statement

__all__ = ["STATS_SCHEMA", "show_stats_name", "stats_table_name", "table_stats"]

STATS_SCHEMA = pa.schema(
    [
        ("column_name", pa.string()),
        ("data_size", pa.float64()),
        ("distinct_values_count", pa.float64()),
        ("nulls_fraction", pa.float64()),
        ("row_count", pa.float64()),
        ("low_value", pa.string()),
        ("high_value", pa.string()),
    ]
)
"""The result: one row for each column of the table, and a last one for the table, whose ``column_name`` is NULL."""

_STATEMENT = re.compile(r"\s*SHOW\s+STATS\s+FOR\s+(.*?)\s*;?\s*", re.IGNORECASE | re.DOTALL)


def show_stats_name(text: str) -> str | None:
    """The name in a ``SHOW STATS FOR`` statement, as written; ``None`` where the text is another statement."""
    match = _STATEMENT.fullmatch(text)
    return match.group(1) if match else None


def stats_table_name(name: str, catalog: str, schema: str) -> CatalogSchemaTableName:
    """The full name of a table.

    Args:
        name: As written, of one to three parts.
        catalog: The current catalog.
        schema: The current schema.

    Raises:
        InvalidArgumentError: It is not a table name.
    """
    if name.startswith("("):
        raise InvalidArgumentError(f"SHOW STATS FOR {name:.40}: statistics are of tables, not of queries; name a table")
    parts = [part.lower() for part in parse_name(name)]
    if not 1 <= len(parts) <= 3:
        raise InvalidArgumentError(f"'{name}' has {len(parts)} parts; expected catalog, schema and table")
    full = [*[catalog, schema][: 3 - len(parts)], *parts]
    return CatalogSchemaTableName(full[0], full[1], full[2])


def table_stats(statement: Statement, name: CatalogSchemaTableName) -> pa.Table:
    """The statistics of a table, without reading it, with the schema ``STATS_SCHEMA``; NULL means unknown.

    Raises:
        ConnectorError: The table does not exist, cannot be read, or is a system table.
    """
    access, resolved = resolve(statement.access(name.catalog), name, None)
    if isinstance(resolved, ResolvedSystemTable):
        raise NotSupportedError(f"system table {name} has no statistics")
    with access.lock:
        found = _statistics(access, resolved.handle)
    known = dict(found.columns)
    rows = [_row(column.name, known.get(column.name)) for column in resolved.table.visible_columns()]
    rows.append({"row_count": found.row_count, "data_size": found.size_bytes})
    return pa.Table.from_pylist(rows, STATS_SCHEMA)


def _statistics(access: CatalogAccess, handle: TableHandle) -> TableStatistics:
    metadata = access.metadata
    if isinstance(metadata, SupportsColumnStatistics):
        return metadata.get_column_statistics(access.session, handle)
    if isinstance(metadata, SupportsStatistics):
        return metadata.get_table_statistics(access.session, handle)
    return TableStatistics()


def _row(name: str, known: ColumnStatistics | None) -> dict[str, object]:
    found = known or ColumnStatistics()
    return {
        "column_name": name,
        "data_size": found.size_bytes,
        "distinct_values_count": found.distinct_values,
        "nulls_fraction": found.null_fraction,
        "low_value": _text(found.low),
        "high_value": _text(found.high),
    }


def _text(value: Value | None) -> str | None:
    return None if value is None else str(value)
