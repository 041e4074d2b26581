"""From a query in DuckDB's own SQL to one that is ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import duckdb
import pyarrow as pa
from sqlglot import exp

from lakeport.duckdb.functions import UsedMacros
from lakeport.duckdb.own_sql.conditions import pushed_texts
from lakeport.duckdb.own_sql.guard import check_parts
from lakeport.duckdb.own_sql.syntax import Node, below, node_of, nodes_of, not_run, parsed, text_of, written
from lakeport.duckdb.own_sql.tables import NamedTables, named_tables
from lakeport.duckdb.planned_query import PlannedQuery
from lakeport.duckdb.planning import QueryPlan, attach_tables
from lakeport.duckdb.query.parameters import parameter_value
from lakeport.duckdb.query.queries import Query, TableUse
from lakeport.duckdb.query.views import NamedView, expand_views
from lakeport.duckdb.tables.query_tables import NativeTable, Tables
from lakeport.engine import Parameters
from lakeport.transactions.lease import ReadLease

__all__ = ["OwnText", "plan_own_query"]


@dataclass(frozen=True, slots=True)
class OwnText:
    """A query as it was given.

    Attributes:
        text: In DuckDB's SQL.
        args: Values of its parameters.
    """

    text: str
    args: Parameters = None


def plan_own_query(
    database: duckdb.DuckDBPyConnection, macros: UsedMacros, tables: Tables, query: OwnText, lease: ReadLease
) -> QueryPlan:
    """Finds the tables of a query in DuckDB's own SQL, and has DuckDB run it as it is written.

    Args:
        database: Gets a cursor for the query.
        macros: Of the database; views need them.
        tables: Finds the tables.
        query: The query.
        lease: On the transactions of all of its tables.

    Raises:
        InvalidArgumentError: DuckDB does not understand it.
        NotSupportedError: It names something else than tables of the catalogs.
        ConnectorError: A table is not there, or its catalog refused.
    """
    cursor = database.cursor()
    document = parsed(cursor, query.text)
    check_parts(document)
    _fill_in(cursor, document, query.args)
    named = named_tables(document)
    planned = PlannedQuery(cursor, written(cursor, document), None, lease)
    views = {
        view: found
        for view, table in named.views.items()
        if table.is_plain and (found := tables.view(table.parts, lease)) is not None
    }
    plain = {view: table for view, table in named.views.items() if view not in views}
    scans = tables.scans_with(plain, _hidden(named), lease)
    planned.columns = sorted({name for scan in scans.values() for name in scan.columns})
    uses = _uses(named, {view: scan.schema for view, scan in scans.items()})
    natives, shows = attach_tables(
        planned, tables, {view: (plain[view], scan) for view, scan in scans.items()}, uses, lease
    )
    catalogs = tables.catalogs(plain.values())
    for view, stored in views.items():
        translated, reads = _define_stored(planned, macros, tables, view, stored, lease=lease)
        natives, shows = natives + reads[0], shows + reads[1]
        catalogs |= tables.catalogs(translated.tables.values())
    return QueryPlan(planned, frozenset(catalogs), natives, shows)


def _define_stored(
    planned: PlannedQuery, macros: UsedMacros, tables: Tables, view: str, stored: NamedView, lease: ReadLease
) -> tuple[Query, tuple[tuple[NativeTable, ...], tuple[Callable[[], None], ...]]]:
    """Has the query read a view of a catalog, whose text means what it means in Spark."""
    name = stored.name
    table = exp.table_(name.table, db=name.schema, catalog=name.catalog, quoted=True)
    statement = exp.Select(expressions=[exp.Star()]).from_(table)
    query = Query.of(expand_views(statement, lambda parts, owner: tables.view(parts, lease, owner)), f"{view}_")
    scans = tables.scans(query, lease)
    chars = tables.char_lengths(query.tables, lease)
    translated = query.in_duckdb({below: scan.schema for below, scan in scans.items()}, chars)
    macros.provide(translated.text)
    named = {below: (table, scans[below]) for below, table in query.tables.items()}
    found = attach_tables(planned, tables, named, translated.uses, lease, may_keep=False)
    planned.define(view, translated.text)
    return query, found


def _fill_in(connection: duckdb.DuckDBPyConnection, document: Node, args: Parameters) -> None:
    """Puts values in the places of parameters."""
    for node in list(below(document)):
        if node.get("class") != "PARAMETER":
            continue
        name = text_of(node, "identifier")
        value = parsed(connection, f"SELECT {parameter_value(name, args).sql(dialect='duckdb')}")
        select = node_of(nodes_of(value["statements"])[0].get("node"))
        alias = node.get("alias")
        node.clear()
        node.update(nodes_of(select.get("select_list"))[0], **({} if alias is None else {"alias": alias}))
    for statement in nodes_of(document.get("statements")):
        statement["named_param_map"] = []


def _hidden(named: NamedTables) -> set[str]:
    """Names of hidden columns that the query may mean."""
    found = {name for name in named.columns if name.startswith("$")}
    if found and named.has_all:
        raise not_run(f'"{min(found)}"', "a hidden column beside * or another part that means all columns; name these")
    return found


def _uses(named: NamedTables, schemas: Mapping[str, pa.Schema]) -> dict[str, TableUse]:
    conditions: dict[str, list[str]] = {view: [] for view in schemas}
    for view, condition in pushed_texts(named.filtered, schemas):
        conditions[view].append(condition)
    found = {}
    for view, schema in schemas.items():
        names = [name.lower() for name in schema.names]
        # DuckDB resolves names itself, which needs a column.
        columns = tuple(name for name in names if named.has_all or name in named.columns) or tuple(names[:1])
        once = named.times[view] == 1
        found[view] = TableUse(columns, tuple(conditions[view]) if once else (), times=named.times[view])
    return found
