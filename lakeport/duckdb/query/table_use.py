"""What queries need of their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.expressions import Expr
from sqlglot.optimizer.scope import Scope, traverse_scope

__all__ = ["JoinedColumn", "TableUse", "table_uses"]

_INNER = ("", "INNER", "CROSS")


@dataclass(frozen=True, slots=True)
class JoinedColumn:
    """A column of whose rows only those are needed that have the value of another table's column.

    Attributes:
        column: Its name in lower case.
        view: The view of the other table.
        other: The other column.
    """

    column: str
    view: str
    other: str


@dataclass(frozen=True, slots=True)
class TableUse:
    """What a query needs of a table.

    Attributes:
        columns: Names in lower case.
        conditions: In Spark's SQL, by the names of the columns alone; rows that do not pass them all are not needed.
        limit: So many rows are enough, whichever; ``None`` for all.
        times: How often the query reads it.
        joined: Columns by which it is joined with tables that the query reads once, too.
    """

    columns: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    limit: int | None = None
    times: int = 1
    joined: tuple[JoinedColumn, ...] = ()


def table_uses(query: Expr, views: Collection[str]) -> dict[str, TableUse]:
    """What a query needs of its tables, by the names of the views.

    Args:
        query: With qualified columns.
        views: All of its tables.
    """
    columns: dict[str, dict[str, None]] = {view: {} for view in views}
    conditions: dict[str, list[str]] = {view: [] for view in views}
    limits: dict[str, int] = {}
    times: Counter[str] = Counter()
    joined: dict[str, list[JoinedColumn]] = {view: [] for view in views}
    for scope in traverse_scope(query):
        tables = {name: source.name for name, source in scope.sources.items() if isinstance(source, exp.Table)}
        times.update(tables[name] for name in scope.selected_sources if name in tables)
        for column in scope.columns:
            if column.table in tables:
                columns[tables[column.table]][column.name.lower()] = None
        for alias, condition in _conditions(scope):
            # A subquery that is LATERAL knows the tables before it, too, whose rows it does not leave out.
            if alias in tables and alias in scope.selected_sources:
                conditions[tables[alias]].append(condition)
        for (own, name), (alias, other) in _joined_columns(scope):
            if own in tables and alias in tables:
                joined[tables[own]].append(JoinedColumn(name, tables[alias], other))
        limit = _limit(scope.expression)
        if limit is not None and len(scope.selected_sources) == 1:
            limits.update((tables[name], limit) for name in scope.selected_sources if name in tables)
    # Of a table that is read twice, either read needs rows of its own.
    return {
        view: TableUse(
            tuple(found),
            tuple(conditions[view]),
            limits.get(view),
            joined=tuple(one for one in joined[view] if times[one.view] == 1),
        )
        if times[view] == 1
        else TableUse(tuple(found), times=times[view])
        for view, found in columns.items()
    }


def _limit(query: Expr) -> int | None:
    """How many rows of its table a query needs that shows rows one by one, as they come; ``None`` for all."""
    limit = query.args.get("limit")
    if not isinstance(query, exp.Select) or not isinstance(limit, exp.Limit):
        return None
    if {name for name, value in query.args.items() if value} - {"expressions", "from_", "limit"}:
        return None
    if any(True for one in query.selects for _ in one.find_all(exp.AggFunc, exp.Window, exp.Query, exp.UDTF)):
        return None
    count = limit.expression
    return int(count.name) if isinstance(count, exp.Literal) and count.name.isdigit() else None


def _conditions(scope: Scope) -> Iterator[tuple[str, str]]:
    """Conditions that rows of one table alone decide, by its alias.

    Outer joins have rows in place of those that are left out.
    """
    if not _has_inner_joins(scope):
        return
    for part in _conditions_of(scope.expression):
        aliases = {column.table for column in part.find_all(exp.Column)}
        if len(aliases) == 1 and not any(True for _ in part.find_all(exp.Query)) and not _has_char(part):
            plain = part.copy()
            for column in plain.find_all(exp.Column):
                column.set("table", None)
            yield aliases.pop(), plain.sql("spark")


def _joined_columns(scope: Scope) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of columns of two tables that are equal in all rows of a query, in either order; aliases and names."""
    if not isinstance(scope.expression, exp.Select) or not _has_inner_joins(scope):
        return
    for part in _conditions_of(scope.expression):
        if not isinstance(part, exp.EQ) or _has_char(part):
            continue
        if isinstance(part.this, exp.Column) and isinstance(part.expression, exp.Column):
            pair = [(one.table, one.name.lower()) for one in (part.this, part.expression)]
            if pair[0][0] != pair[1][0] and all(alias in scope.selected_sources for alias, _ in pair):
                yield pair[0], pair[1]
                yield pair[1], pair[0]


def _has_inner_joins(scope: Scope) -> bool:
    return not any(join.side or join.method or (join.kind or "") not in _INNER for join in scope.find_all(exp.Join))


def _conditions_of(query: Expr) -> Iterator[Expr]:
    """What all rows of a query without outer joins fulfil."""
    where = query.args.get("where")
    found = [*([] if where is None else [where.this]), *(join.args.get("on") for join in query.args.get("joins") or [])]
    for condition in found:
        if isinstance(condition, exp.And):
            yield from condition.flatten()
        elif condition is not None:
            yield condition


def _has_char(part: Expr) -> bool:
    """Whether it is about a ``char``, whose values Spark pads before it compares them."""
    types = (one.type for one in part.find_all(exp.Column))
    return any(isinstance(one, exp.DataType) and one.this is exp.DType.CHAR for one in types)
