"""What ``GROUP BY`` groups by."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import as_typed
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["GROUPS"]


def _grouping_id(node: Expr) -> None:
    """Its columns have to be those of ``GROUP BY``, which it means where it has none."""
    select = node.find_ancestor(exp.Select)
    group = None if select is None else select.args.get("group")
    known = [] if group is None else _keys(group)
    if not known or (node.expressions and node.expressions != known):
        raise refused(node, "other columns than those of GROUP BY, in their order")
    node.set("expressions", [one.copy() for one in known])
    node.type = exp.DataType.build("BIGINT")


def _keys(group: Expr) -> list[Expr]:
    """The columns of a ``GROUP BY``; none where they are listed in several sets."""
    if group.args.get("grouping_sets"):
        return []
    sets = [*(group.args.get("rollup") or []), *(group.args.get("cube") or [])]
    return [*group.expressions, *(one for part in sets for one in part.expressions)]


def _grouping_bits(node: Expr) -> Expr:
    """DuckDB's ``grouping`` of several columns has the same bits."""
    made = exp.Grouping(expressions=node.expressions)
    made.type = node.type
    return as_typed(made)


def _grouped(node: Expr) -> None:
    """Its parts are checked."""


def _with_rollup(node: Expr) -> Expr:
    """``GROUP BY a, b WITH ROLLUP`` as ``GROUP BY ROLLUP (a, b)``."""
    for key in ("rollup", "cube"):
        for one in node.args.get(key) or []:
            if not one.expressions:
                one.set("expressions", [part.copy() for part in node.expressions])
                node.set("expressions", None)
    return node


def _grouping(node: Expr) -> None:
    if len(node.expressions) != 1:
        raise refused(node, "more than one argument")
    node.type = exp.DataType.build("TINYINT")


GROUPS: Rules = {
    exp.Group: Rule(_grouped, _with_rollup),
    exp.Grouping: Rule(_grouping, as_typed),
    exp.GroupingId: Rule(_grouping_id, _grouping_bits),
}
