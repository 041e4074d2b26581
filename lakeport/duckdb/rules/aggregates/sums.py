"""Sums, averages and what is made of both."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import MOST_DIGITS, Kind, as_typed, decimal_type, digits_of, kind_of, whole_digits
from lakeport.duckdb.macros import DecimalTerm, divided
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.aggregates.common import aggregated, check_kind
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["SUMS", "typed_average"]

_SUMMED = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL})
# Digits that sums have more than their values, and averages behind the point (Sum.resultType, Average.resultType).
_SUM_DIGITS = 10
_AVERAGE_DIGITS = 4
_COUNT_DIGITS = 19
_MOST_ROWS = 2**63 - 1
_INT_DIGITS = 10
_SPREAD = "lakeport_spread"


def _sum(node: Expr) -> None:
    check_kind(_SUMMED)(node)
    inner = aggregated(node)
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
    check_kind(_SUMMED)(node)
    inner = aggregated(node)
    digits = digits_of(inner)
    if kind_of(inner) is not Kind.DECIMAL:
        node.type = exp.DataType.build("DOUBLE")
        return
    if digits is None or digits[0] + _AVERAGE_DIGITS > MOST_DIGITS:
        raise refused(node, "the digits of a decimal are not known, or too many")
    node.type = decimal_type(digits[0] + _AVERAGE_DIGITS, digits[1] + _AVERAGE_DIGITS)


def typed_average(node: Expr, over: Callable[[Expr], Expr] = lambda made: made) -> Expr:
    """Of decimals as their sum by their number; of others as doubles, as Spark adds them.

    Args:
        node: The average.
        over: Puts aggregates into its window.
    """
    digits = digits_of(node)
    if kind_of(node) is Kind.DECIMAL and digits is not None:
        total, count = over(exp.Sum(this=node.this.copy())), over(exp.Count(this=node.this))
        added = min(digits[0] - _AVERAGE_DIGITS + _SUM_DIGITS, MOST_DIGITS)
        # Of no values the sum is NULL.
        dividend = DecimalTerm(total, added, digits[1] - _AVERAGE_DIGITS)
        return divided(dividend, DecimalTerm(count, _COUNT_DIGITS, 0), digits, most_divisor=_MOST_ROWS)
    inner = aggregated(node)
    inner.replace(exp.cast(inner.copy(), "DOUBLE"))
    return node


def _spread(node: Expr) -> None:
    """Sums of doubles, whose last digits depend on the order of rows in both engines."""
    check_kind(_SUMMED)(node)
    inner = aggregated(node)
    node.meta[_SPREAD] = kind_of(inner)
    node.type = exp.DataType.build("DOUBLE")


def _of_doubles(node: Expr) -> Expr:
    inner = aggregated(node)
    if node.meta[_SPREAD] is Kind.DECIMAL:
        inner.replace(exp.Anonymous(this="lakeport_decimal_double", expressions=[inner.copy()]))
    else:
        inner.replace(exp.cast(inner.copy(), "DOUBLE"))
    return node


def _median(node: Expr) -> None:
    inner = aggregated(node)
    if kind_of(inner) is not Kind.INTEGER or (whole_digits(inner) or (MOST_DIGITS, 0))[0] > _INT_DIGITS:
        raise refused(node, "a median of other numbers than int, which engines round apart")
    node.type = exp.DataType.build("DOUBLE")
    node.meta[_SPREAD] = Kind.INTEGER


SUMS: Rules = {
    **dict.fromkeys(
        (exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop), Rule(_spread, _of_doubles)
    ),
    exp.Median: Rule(_median, _of_doubles),
    exp.Sum: Rule(_sum, _typed_sum),
    exp.Avg: Rule(_average, typed_average),
}
