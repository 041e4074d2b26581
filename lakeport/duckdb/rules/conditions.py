"""Conditions, which have to be booleans: DuckDB takes numbers and texts for some, too."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind, kind_of
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["CONDITIONS", "check_condition"]

# Of an unknown type it may be one.
_FINE = (Kind.BOOLEAN, Kind.NULL, Kind.OTHER)


def check_condition(node: Expr) -> None:
    """Refuses a condition that is no boolean."""
    if kind_of(node) not in _FINE:
        raise refused(node, f"a condition that is {kind_of(node).value}; compare it, as with <> 0")


def _check_this(node: Expr) -> None:
    check_condition(node.this)


def _check_sides(node: Expr) -> None:
    check_condition(node.this)
    check_condition(node.expression)


def _check_truth(node: Expr) -> None:
    """``IS TRUE`` is of a condition, which Spark does not make of a number."""
    if isinstance(node.expression, exp.Boolean):
        check_condition(node.this)


CONDITIONS: Rules = {
    exp.Is: Rule(_check_truth),
    **dict.fromkeys((exp.Where, exp.Having, exp.Qualify, exp.Not), Rule(_check_this)),
    **dict.fromkeys((exp.And, exp.Or), Rule(_check_sides)),
}
