"""What queries need of their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.expressions import Expr
from sqlglot.optimizer.scope import Scope, traverse_scope

__all__ = ["TableUse", "table_uses"]

_INNER = ("", "INNER", "CROSS")


@dataclass(frozen=True, slots=True)
class TableUse:
    """What a query needs of a table.

    Attributes:
        columns: Names in lower case.
        conditions: In Spark's SQL, by the names of the columns alone; rows that do not pass them all are not needed.
        limit: So many rows are enough, whichever; ``None`` for all.
        times: How often the query reads it.
    """

    columns: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    limit: int | None = None
    times: int = 1


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
    for scope in traverse_scope(query):
        tables = {name: source.name for name, source in scope.sources.items() if isinstance(source, exp.Table)}
        times.update(tables[name] for name in scope.selected_sources if name in tables)
        for column in scope.columns:
            if column.table in tables:
                columns[tables[column.table]][column.name.lower()] = None
        for alias, condition in _conditions(scope):
            if alias in tables:
                conditions[tables[alias]].append(condition)
        limit = _limit(scope.expression)
        if limit is not None and len(scope.selected_sources) == 1:
            limits.update((tables[name], limit) for name in scope.selected_sources if name in tables)
    # Of a table that is read twice, either read needs rows of its own.
    return {
        view: TableUse(tuple(found), tuple(conditions[view]), limits.get(view))
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
    where = scope.expression.args.get("where")
    if where is None or any(join.side or (join.kind or "") not in _INNER for join in scope.find_all(exp.Join)):
        return
    parts = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    for part in parts:
        aliases = {column.table for column in part.find_all(exp.Column)}
        if len(aliases) == 1 and not any(True for _ in part.find_all(exp.Query)):
            plain = part.copy()
            for column in plain.find_all(exp.Column):
                column.set("table", None)
            yield aliases.pop(), plain.sql("spark")
