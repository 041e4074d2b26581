"""Aggregates and windows."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import MOST_DIGITS, Kind, as_typed, decimal_type, digits_of, kind_of
from lakeport.duckdb.macros import DecimalTerm, divided
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["AGGREGATES"]

_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_ORDERED = frozenset(kind for kind in Kind if kind not in (Kind.OTHER, Kind.NULL))
_SUMMED = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL})
# Digits that sums have more than their values, and averages behind the point (Sum.resultType, Average.resultType).
_SUM_DIGITS = 10
_AVERAGE_DIGITS = 4
_COUNT_DIGITS = 19
_MOST_ROWS = 2**63 - 1


def _of(kinds: frozenset[Kind]) -> Callable[[Expr], None]:
    def check(node: Expr) -> None:
        found = kind_of(_inner(node))
        if found not in kinds:
            raise refused(node, f"of {found.value} it is not known to give the same in both engines")

    return check


def _inner(node: Expr) -> Expr:
    inner: Expr = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
    return inner


def _extreme(node: Expr) -> None:
    _of(_ORDERED)(node)
    if node.expressions:
        raise refused(node, "more than one argument")
    node.type = _inner(node).type


def _sum(node: Expr) -> None:
    _of(_SUMMED)(node)
    inner = _inner(node)
    digits = digits_of(inner)
    if kind_of(inner) is Kind.INTEGER:
        node.type = exp.DataType.build("BIGINT")
    elif kind_of(inner) is not Kind.DECIMAL:
        node.type = exp.DataType.build("DOUBLE")
    elif digits is None:
        raise refused(node, "the digits of a decimal are not known")
    else:
        node.type = decimal_type(min(digits[0] + _SUM_DIGITS, MOST_DIGITS), digits[1])


def _typed_sum(node: Expr) -> Expr:
    return node if kind_of(node) is Kind.DOUBLE else as_typed(node)


def _average(node: Expr) -> None:
    _of(_SUMMED)(node)
    inner = _inner(node)
    digits = digits_of(inner)
    if kind_of(inner) is not Kind.DECIMAL:
        node.type = exp.DataType.build("DOUBLE")
        return
    if digits is None or digits[0] + _AVERAGE_DIGITS > MOST_DIGITS:
        raise refused(node, "the digits of a decimal are not known, or too many")
    node.type = decimal_type(digits[0] + _AVERAGE_DIGITS, digits[1] + _AVERAGE_DIGITS)


def _typed_average(node: Expr) -> Expr:
    """Of decimals as their sum by their number; of others as doubles, as Spark adds them."""
    digits = digits_of(node)
    if kind_of(node) is Kind.DECIMAL and digits is not None:
        total = exp.Sum(this=node.this.copy())
        # Of no values the sum is NULL.
        count = exp.Count(this=node.this)
        added = min(digits[0] - _AVERAGE_DIGITS + _SUM_DIGITS, MOST_DIGITS)
        dividend = DecimalTerm(total, added, digits[1] - _AVERAGE_DIGITS)
        return divided(dividend, DecimalTerm(count, _COUNT_DIGITS, 0), digits, most_divisor=_MOST_ROWS)
    inner = _inner(node)
    inner.replace(exp.cast(inner.copy(), "DOUBLE"))
    return node


def _window(node: Expr) -> None:
    if node.args.get("spec") is not None or node.args.get("over") not in (None, "OVER"):
        raise refused(node, "a frame of rows")
    order = node.args.get("order")
    if order is not None and any(order.find_all(exp.Div, exp.Avg)):
        raise refused(node, "a quotient in the order of a window, which fails for a divisor of 0")
    if isinstance(node.this, exp.Avg) and kind_of(node.this) is Kind.DECIMAL:
        raise refused(node, "an average of decimals in a window")
    node.type = exp.DataType.build("INT") if isinstance(node.this, _RANKS) else node.this.type


def _typed_window(node: Expr) -> Expr:
    fine = isinstance(node.this, (exp.Count, exp.Min, exp.Max)) or kind_of(node) is Kind.DOUBLE
    return node if fine else as_typed(node)


def _count(node: Expr) -> None:
    node.type = exp.DataType.build("BIGINT")


def _grouping(node: Expr) -> None:
    if len(node.expressions) != 1:
        raise refused(node, "more than one argument")
    node.type = exp.DataType.build("TINYINT")


AGGREGATES: Rules = {
    exp.Grouping: Rule(_grouping, as_typed),
    **dict.fromkeys((exp.Min, exp.Max), Rule(_extreme)),
    exp.Count: Rule(_count),
    exp.Sum: Rule(_sum, _typed_sum),
    exp.Avg: Rule(_average, _typed_average),
    exp.Window: Rule(_window, _typed_window),
}
