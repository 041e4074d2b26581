"""Aggregates."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import (
    LIST_ORDER,
    MOST_DIGITS,
    Kind,
    as_typed,
    decimal_type,
    digits_of,
    is_nested,
    kind_of,
    kind_of_type,
    whole_digits,
)
from lakeport.duckdb.macros import DecimalTerm, divided
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = ["AGGREGATES", "typed_average"]

_ORDERED = frozenset(kind for kind in Kind if kind not in (Kind.OTHER, Kind.NULL))
# Of floating-point numbers the engines keep different ones of -0.0 and 0.0.
_DISTINCT = _ORDERED - {Kind.FLOAT, Kind.DOUBLE}
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


def _collected(node: Expr) -> None:
    inner = _inner(node)
    if isinstance(node.this, exp.Order) or kind_of(inner) is Kind.NULL or inner.type is None:
        raise refused(node, "a list in an order, or of values of no type")
    is_set = isinstance(node.this, exp.Distinct) or isinstance(node, exp.ArrayUniqueAgg)
    _check_order(node, inner)
    if is_set and not _is_told_apart(inner.type):
        raise refused(node, f"distinct values of {kind_of(inner).value}")
    if kind_of(inner) is Kind.OTHER and not inner.type.expressions:
        raise refused(node, "values of an unknown type")
    node.type = exp.DataType(this=exp.DType.ARRAY, expressions=[inner.type], nested=True)


def _is_told_apart(of: exp.DataType) -> bool:
    """Whether both engines tell the same values of a type apart."""
    if is_nested(of, exp.DType.STRUCT):
        return all(_is_told_apart(field.args["kind"]) for field in of.expressions)
    return kind_of_type(of) in _DISTINCT


def _check_order(node: Expr, inner: Expr) -> None:
    fields = {} if inner.type is None else {one.name: one.args.get("kind") for one in inner.type.expressions}
    for name, _, _ in node.meta.get(LIST_ORDER, ()):
        if name not in fields or kind_of_type(fields[name]) not in _ORDERED:
            raise refused(node, f"an order by {name}, of which it is not known to be the same in both engines")


def _ordered(node: Expr, inner: Expr) -> list[Expr]:
    """The keys of the order of a list of structs."""
    return [
        exp.Ordered(
            this=exp.Anonymous(this="struct_extract", expressions=[inner.copy(), exp.Literal.string(name)]),
            desc=descends,
            nulls_first=nulls_first,
        )
        for name, descends, nulls_first in node.meta.get(LIST_ORDER, ())
    ]


def _as_list(node: Expr) -> Expr:
    """Spark leaves NULLs out, and gives an empty array of none. Rows are in their order, or as they come."""
    inner = _inner(node)
    is_set = isinstance(node.this, exp.Distinct) or isinstance(node, exp.ArrayUniqueAgg)
    kept = exp.Not(this=exp.Is(this=exp.paren(inner.copy()), expression=exp.Null()))
    values: Expr = exp.Distinct(expressions=[inner.copy()]) if is_set else inner.copy()
    keys = _ordered(node, inner)
    if keys:
        values = exp.Order(this=values, expressions=keys)
    collected = exp.Filter(this=exp.Anonymous(this="list", expressions=[values]), expression=exp.Where(this=kept))
    made = exp.Coalesce(this=collected, expressions=[exp.Array(expressions=[])])
    made.type = node.type
    return made


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
    if node.expression is None or node.args.get("count") is not None:
        raise refused(node, "other than two arguments")
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


def _any_of(node: Expr) -> None:
    """Which value it is no engine says."""
    if kind_of(node.this) in (Kind.NULL, Kind.OTHER):
        raise refused(node, f"of {kind_of(node.this).value}")
    node.type = node.this.type


def _joined(node: Expr) -> None:
    """``listagg``: both engines leave NULLs out."""
    inner = node.this.this if isinstance(node.this, exp.Order) else node.this
    separator = node.args.get("separator")
    if kind_of(inner) is not Kind.TEXT or not (separator is None or separator.is_string):
        raise refused(node, "of other than texts, or with a separator that is not written out")
    node.type = exp.DataType.build("VARCHAR")


def _with_separator(node: Expr) -> Expr:
    """DuckDB's own is a comma."""
    if node.args.get("separator") is None:
        node.set("separator", exp.Literal.string(""))
    return node


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


AGGREGATES: Rules = {
    exp.AnyValue: Rule(_any_of),
    exp.Group: Rule(_grouped, _with_rollup),
    exp.GroupConcat: Rule(_joined, _with_separator),
    exp.Grouping: Rule(_grouping, as_typed),
    exp.GroupingId: Rule(_grouping_id, _grouping_bits),
    **dict.fromkeys((exp.ArrayAgg, exp.ArrayUniqueAgg), Rule(_collected, _as_list)),
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
