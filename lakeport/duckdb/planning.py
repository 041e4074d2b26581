"""From a parsed query to one that DuckDB can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import duckdb
import pyarrow as pa
from sqlglot import exp

from connector_spi.errors import ColumnNotFoundError
from lakeport.duckdb.functions import UsedMacros
from lakeport.duckdb.planned_query import PlannedQuery
from lakeport.duckdb.query.queries import Query
from lakeport.duckdb.query.views import expand_views
from lakeport.duckdb.tables.arrow_views import sized_view
from lakeport.duckdb.tables.needed_rows import needed_rows
from lakeport.duckdb.tables.query_tables import NativeTable, Tables
from lakeport.transactions.lease import ReadLease

__all__ = ["QueryPlan", "plan_query"]


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A planned query, and how its tables are read.

    Attributes:
        planned: The query.
        catalogs: Of its tables.
        natives: Tables whose files DuckDB reads itself.
        shows: Show the reads of the other tables to the observer of them.
    """

    planned: PlannedQuery
    catalogs: frozenset[str]
    natives: tuple[NativeTable, ...]
    shows: tuple[Callable[[], None], ...]


def plan_query(
    database: duckdb.DuckDBPyConnection, macros: UsedMacros, tables: Tables, statement: exp.Query, lease: ReadLease
) -> QueryPlan:
    """Finds the tables of a query, and has DuckDB read them.

    Args:
        database: Gets a cursor for the query.
        macros: Of the database.
        tables: Finds them.
        statement: In Spark's SQL; changed.
        lease: On the transactions of all of them.

    Raises:
        ConnectorError: A table is not there, its catalog refused, or only Spark runs such a query.
    """
    query = Query.of(expand_views(statement, lambda parts, owner: tables.view(parts, lease, owner)))
    scans = tables.scans(query, lease)
    translated = query.in_duckdb({view: scan.schema for view, scan in scans.items()})
    macros.provide(translated.text)
    planned = PlannedQuery(database.cursor(), translated.text, translated.names, lease)
    natives, shows = [], []
    for view, scan in scans.items():
        use = translated.uses[view]
        native = tables.native(planned.cursor, view, query.tables[view], use, lease)
        if native is not None:
            for name, (schema, open_reader) in native.views.items():
                planned.register_rows(name, schema, open_reader)
            planned.define(view, native.query)
            natives.append(native)
            continue
        scan_view = view if sum(one.times for one in translated.uses.values()) == 1 else f"{view}_rows"
        fields = {field.name.lower(): (field.name, field.type) for field in scan.schema}
        needed = needed_rows(use.conditions, scan.schema, partial(_found, fields))
        planned.register(scan_view, scan, needed, use.limit)
        columns = [fields[name][0] for name in use.columns] or scan.columns[:1]
        if scan_view != view:
            rows = tables.estimated_rows(query.tables[view], use, lease)
            read = pa.schema([scan.schema.field(name) for name in columns])
            planned.share(view, sized_view(scan_view, read, rows or 1), is_kept=use.times > 1)
        shows.append(partial(scan.show_read, columns, needed, use.limit))
    return QueryPlan(planned, frozenset(tables.catalogs(query)), tuple(natives), tuple(shows))


def _found(fields: Mapping[str, tuple[str, pa.DataType]], written: str) -> tuple[str, pa.DataType]:
    if written.lower() not in fields:
        raise ColumnNotFoundError(f"no column '{written}'")
    return fields[written.lower()]
