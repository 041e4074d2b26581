"""Counts, and values that are chosen of others."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.aggregates.common import ORDERED, aggregated, check_kind
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["CHOSEN"]


def _extreme(node: Expr) -> None:
    check_kind(ORDERED)(node)
    if node.expressions:
        raise refused(node, "more than one argument")
    node.type = aggregated(node).type


def _count(node: Expr) -> None:
    is_distinct = isinstance(node.this, exp.Distinct)
    values = node.this.expressions if is_distinct else [node.this, *node.expressions]
    has_star = any(isinstance(one, exp.Star) for one in values)
    if node.this is None or (has_star and (is_distinct or len(values) > 1)):
        raise refused(node, "a count of other than * or values")
    node.type = exp.DataType.build("BIGINT")


def _counted(node: Expr) -> Expr:
    """Of several values Spark counts rows without any NULL."""
    is_distinct = isinstance(node.this, exp.Distinct)
    values = node.this.expressions if is_distinct else [node.this, *node.expressions]
    if len(values) > 1:
        full = exp.and_(*(exp.Not(this=exp.Is(this=exp.paren(one), expression=exp.Null())) for one in values))
        row: Expr = exp.Literal.number(1)
        if is_distinct:
            row = exp.Anonymous(this="row", expressions=[one.copy() for one in values])
        case = exp.Case(ifs=[exp.If(this=full, true=row)])
        node.set("this", exp.Distinct(expressions=[case]) if is_distinct else case)
        node.set("expressions", None)
    return node


def _logical(node: Expr) -> None:
    check_kind(frozenset({Kind.BOOLEAN}))(node)
    node.type = exp.DataType.build("BOOLEAN")


def _extreme_by(node: Expr) -> None:
    if node.expression is None or node.args.get("count") is not None:
        raise refused(node, "other than two arguments")
    if kind_of(node.this) is Kind.OTHER:
        raise refused(node, "of a nested value")
    by = node.expression
    if kind_of(by) not in ORDERED:
        raise refused(node, f"by {kind_of(by).value}")
    node.type = node.this.type


def _row_of_extreme(node: Expr) -> Expr:
    name = "arg_max_null" if isinstance(node, exp.ArgMax) else "arg_min_null"
    made = exp.Anonymous(this=name, expressions=[node.this, node.expression])
    made.type = node.type
    return made


def _any_of(node: Expr) -> None:
    """Which value it is no engine says."""
    if kind_of(node.this) in (Kind.NULL, Kind.OTHER):
        raise refused(node, f"of {kind_of(node.this).value}")
    node.type = node.this.type


CHOSEN: Rules = {
    exp.AnyValue: Rule(_any_of),
    **dict.fromkeys((exp.Min, exp.Max), Rule(_extreme)),
    exp.Count: Rule(_count, _counted),
    **dict.fromkeys((exp.LogicalAnd, exp.LogicalOr), Rule(_logical)),
    **dict.fromkeys((exp.ArgMax, exp.ArgMin), Rule(_extreme_by, _row_of_extreme)),
}
