"""Aggregates."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import MOST_DIGITS, Kind, as_typed, decimal_type, digits_of, kind_of, whole_digits
from lakeport.duckdb.macros import DecimalTerm, divided
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["AGGREGATES", "typed_average"]

_ORDERED = frozenset(kind for kind in Kind if kind not in (Kind.OTHER, Kind.NULL))
_SUMMED = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL})
# Digits that sums have more than their values, and averages behind the point (Sum.resultType, Average.resultType).
_SUM_DIGITS = 10
_AVERAGE_DIGITS = 4
_COUNT_DIGITS = 19
_MOST_ROWS = 2**63 - 1
_INT_DIGITS = 10
_SPREAD = "lakeport_spread"


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
    inner = _inner(node)
    inner.replace(exp.cast(inner.copy(), "DOUBLE"))
    return node


def _count(node: Expr) -> None:
    node.type = exp.DataType.build("BIGINT")


def _counted(node: Expr) -> Expr:
    """Of several values Spark counts rows without any NULL."""
    values = node.this.expressions if isinstance(node.this, exp.Distinct) else []
    if len(values) > 1:
        full = exp.and_(*(exp.Not(this=exp.Is(this=exp.paren(one), expression=exp.Null())) for one in values))
        row = exp.Anonymous(this="row", expressions=[one.copy() for one in values])
        case = exp.Case(ifs=[exp.If(this=full, true=row)])
        node.set("this", exp.Distinct(expressions=[case]))
    return node


def _logical(node: Expr) -> None:
    _of(frozenset({Kind.BOOLEAN}))(node)
    node.type = exp.DataType.build("BOOLEAN")


def _spread(node: Expr) -> None:
    """Sums of doubles, whose last digits depend on the order of rows in both engines."""
    _of(_SUMMED)(node)
    inner = _inner(node)
    node.meta[_SPREAD] = kind_of(inner)
    node.type = exp.DataType.build("DOUBLE")


def _of_doubles(node: Expr) -> Expr:
    inner = _inner(node)
    if node.meta[_SPREAD] is Kind.DECIMAL:
        inner.replace(exp.Anonymous(this="lakeport_decimal_double", expressions=[inner.copy()]))
    else:
        inner.replace(exp.cast(inner.copy(), "DOUBLE"))
    return node


def _median(node: Expr) -> None:
    inner = _inner(node)
    if kind_of(inner) is not Kind.INTEGER or (whole_digits(inner) or (MOST_DIGITS, 0))[0] > _INT_DIGITS:
        raise refused(node, "a median of other numbers than int, which engines round apart")
    node.type = exp.DataType.build("DOUBLE")
    node.meta[_SPREAD] = Kind.INTEGER


def _extreme_by(node: Expr) -> None:
    if kind_of(node.this) is Kind.OTHER:
        raise refused(node, "of a nested value")
    by = node.expression
    if kind_of(by) not in _ORDERED:
        raise refused(node, f"by {kind_of(by).value}")
    node.type = node.this.type


def _row_of_extreme(node: Expr) -> Expr:
    name = "arg_max_null" if isinstance(node, exp.ArgMax) else "arg_min_null"
    made = exp.Anonymous(this=name, expressions=[node.this, node.expression])
    made.type = node.type
    return made


def _grouping(node: Expr) -> None:
    if len(node.expressions) != 1:
        raise refused(node, "more than one argument")
    node.type = exp.DataType.build("TINYINT")


AGGREGATES: Rules = {
    exp.Grouping: Rule(_grouping, as_typed),
    **dict.fromkeys((exp.Min, exp.Max), Rule(_extreme)),
    exp.Count: Rule(_count, _counted),
    **dict.fromkeys((exp.LogicalAnd, exp.LogicalOr), Rule(_logical)),
    **dict.fromkeys(
        (exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop), Rule(_spread, _of_doubles)
    ),
    exp.Median: Rule(_median, _of_doubles),
    **dict.fromkeys((exp.ArgMax, exp.ArgMin), Rule(_extreme_by, _row_of_extreme)),
    exp.Sum: Rule(_sum, _typed_sum),
    exp.Avg: Rule(_average, typed_average),
}
