"""From a translated query to one that DuckDB can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import duckdb
import pyarrow as pa

from connector_spi.errors import ColumnNotFoundError
from lakeport.duckdb.functions import UsedMacros
from lakeport.duckdb.planned_query import COUNTED, PlannedQuery
from lakeport.duckdb.query.named_table import NamedTable
from lakeport.duckdb.query.queries import TableUse
from lakeport.duckdb.tables.arrow_views import sized_view
from lakeport.duckdb.tables.join_keys import JoinKeys, KeyValues, may_prune
from lakeport.duckdb.tables.needed_rows import needed_rows
from lakeport.duckdb.tables.query_tables import NativeTable, Tables
from lakeport.duckdb.translating import TranslatedQuery
from lakeport.frames.table_scan import TableScan
from lakeport.transactions.lease import ReadLease

__all__ = ["QueryPlan", "attach_tables", "plan_query"]


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
    database: duckdb.DuckDBPyConnection, macros: UsedMacros, tables: Tables, query: TranslatedQuery, lease: ReadLease
) -> QueryPlan:
    """Has DuckDB read the tables of a query.

    Args:
        database: Gets a cursor for the query.
        macros: Of the database.
        tables: Finds the tables.
        query: The query.
        lease: On the transactions of all of them.

    Raises:
        ConnectorError: A catalog failed, or refused.
    """
    translated = query.translated
    macros.provide(translated.text)
    planned = PlannedQuery(database.cursor(), translated.text, translated.names, lease)
    named = {view: (table, query.scans[view]) for view, table in query.tables.items()}
    found = attach_tables(planned, tables, named, translated.uses, lease)
    return QueryPlan(planned, frozenset(tables.catalogs(query.tables.values())), *found)


def attach_tables(
    planned: PlannedQuery,
    tables: Tables,
    named: Mapping[str, tuple[NamedTable, TableScan]],
    uses: Mapping[str, TableUse],
    lease: ReadLease,
    *,
    may_keep: bool = True,
) -> tuple[tuple[NativeTable, ...], tuple[Callable[[], None], ...]]:
    """Has a query read its tables under the names of views.

    Args:
        planned: The query.
        tables: Finds its tables.
        named: The tables, by the names of the views.
        uses: What is needed of them.
        lease: On the transactions of all of them.
        may_keep: Whether the text of the query names the views itself, so that rows that it reads twice are kept.

    Returns:
        The tables whose files DuckDB reads itself, and what shows the reads of the others.

    Raises:
        ConnectorError: A catalog failed.
    """
    natives, shows = [], []
    keys = _join_keys({view: scan.schema for view, (_, scan) in named.items()}, uses)
    is_alone = sum(one.times for one in uses.values()) == 1 and may_keep
    for view, (table, scan) in named.items():
        planned.calls.work.check()
        use = uses[view]
        native = tables.native(planned, view, table, use, lease)
        if native is not None:
            for name, (schema, open_reader) in native.views.items():
                planned.register_rows(name, schema, open_reader)
            planned.define(view, native.query)
            natives.append(native)
            continue
        scan_view = view if is_alone else f"{view}_rows"
        fields = {field.name.lower(): (field.name, field.type) for field in scan.schema}
        needed = needed_rows(use.conditions, scan.schema, partial(_found, fields))
        columns = [fields[name][0] for name in use.columns]
        if columns:
            planned.register(scan_view, scan, needed, use.limit, keys[view])
        else:
            planned.register_count(scan_view, scan, needed, use.limit)
        if scan_view != view:
            rows = tables.estimated_rows(table, use, lease)
            read = pa.schema([scan.schema.field(name) for name in columns]) if columns else COUNTED
            planned.share(view, sized_view(scan_view, read, rows or 1), is_kept=use.times > 1 and may_keep)
        shows.append(partial(scan.show_read, columns, needed, use.limit))
    return tuple(natives), tuple(shows)


def _found(fields: Mapping[str, tuple[str, pa.DataType]], written: str) -> tuple[str, pa.DataType]:
    if written.lower() not in fields:
        raise ColumnNotFoundError(f"no column '{written}'")
    return fields[written.lower()]


def _join_keys(schemas: Mapping[str, pa.Schema], uses: Mapping[str, TableUse]) -> dict[str, JoinKeys]:
    """What the tables of a query tell each other of the values by which they are joined."""
    values: dict[tuple[str, str], KeyValues] = {}
    takes: dict[str, list[tuple[str, pa.DataType, KeyValues]]] = {view: [] for view in schemas}
    fields = {view: {field.name.lower(): field for field in schema} for view, schema in schemas.items()}
    for view, use in uses.items():
        for one in use.joined:
            own, other = fields[view].get(one.column), fields[one.view].get(one.other)
            if own is not None and other is not None and may_prune(own.type, other.type):
                known = values.setdefault((one.view, other.name), KeyValues())
                takes[view].append((own.name, own.type, known))
    return {
        view: JoinKeys({name: found for (of, name), found in values.items() if of == view}, tuple(takes[view]))
        for view in schemas
    }
