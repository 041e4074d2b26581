"""Aggregate functions of Trino whose NULLs, order or digits are others in Spark."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.approximation import approximates
from lakeport.trino.building import call, cast, integer, is_null, text, when
from lakeport.trino.decimals import Digits, decimal_digits
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import Kind, kind_of

__all__ = ["AGGREGATE_NAMES", "AGGREGATE_RULES", "aggregate"]

_Again = Callable[[Expr], Expr]
"""Puts the FILTER and OVER of the translated aggregate around another one."""

_MAX_DIGITS = 38
_SUM_DIGITS = 10
"""Digits that Spark's sum of decimals has more than they."""
_COUNT_DIGITS = 12
"""Digits of a count that is divided by at once: more rows fail."""


def aggregate(node: Expr) -> Expr | None:
    """Translates an aggregate as its outermost part: with FILTER and OVER, or alone."""
    wrapped = isinstance(node.parent, exp.Filter | exp.Window) and node.arg_key == "this"
    if wrapped:
        return None
    core, depth = node, 0
    while isinstance(core, exp.Filter | exp.Window):
        core, depth = core.this, depth + 1
    rule = _BY_CLASS.get(type(core).__name__.upper() if not isinstance(core, exp.Anonymous) else core.name.upper())

    def again(other: Expr) -> Expr:
        if not depth:
            return other
        copied = node.copy()
        inner = copied
        for _ in range(depth - 1):
            inner = inner.this
        inner.set("this", other)
        return copied

    return rule(core, again) if rule is not None else None


def _avg(node: Expr, again: _Again) -> Expr | None:
    """Trino rounds the average of decimals to their scale; Spark's has four digits more."""
    kind = kind_of(_value(node))
    if kind in (Kind.INTEGER, Kind.FLOAT):
        return None
    digits = decimal_digits(_value(node))
    if kind is not Kind.DECIMAL or digits is None:
        shown = _value(node).sql(dialect="trino")
        raise UntranslatableError(node, "the type is not known here", f"write avg(CAST({shown} AS DOUBLE))")
    total, count = again(exp.Sum(this=node.this.copy())), again(exp.Count(this=node.this.copy()))
    kind_name = f"DECIMAL({digits[0]}, {digits[1]})"
    free = _MAX_DIGITS - 1 - _SUM_DIGITS - digits[0]
    if free >= _COUNT_DIGITS:
        # So many digits after the point that rounding twice is rounding once.
        return cast(exp.Div(this=total, expression=cast(count, f"DECIMAL({min(free, 19)}, 0)")), kind_name)
    return cast(_exact_quotient(total, count, digits), kind_name)


def _exact_quotient(total: Expr, count: Expr, digits: Digits) -> Expr:
    """A quotient rounded once, by the remainder of whole numbers; a lambda names both, so that they occur once."""
    scale = digits[1]
    shifted = exp.Mul(this=cast(total, f"DECIMAL({_MAX_DIGITS - scale}, {scale})"), expression=integer(10**scale))
    both = call("NAMED_STRUCT", text("n"), cast(shifted, "DECIMAL(38, 0)"), text("d"), cast(count, "DECIMAL(38, 0)"))
    n, d = exp.column("n", table="q"), exp.column("d", table="q")
    rest = exp.Paren(this=exp.Mod(this=n, expression=d))
    whole = exp.Div(this=exp.Paren(this=exp.Sub(this=n.copy(), expression=rest)), expression=d.copy())
    half = exp.GTE(this=exp.Mul(this=call("ABS", rest), expression=integer(2)), expression=d.copy())
    rounded = exp.Add(
        this=cast(whole, f"DECIMAL({_MAX_DIGITS - 2 - scale}, 0)"),
        expression=when(half, cast(call("SIGN", n), "INT"), integer(0)),
    )
    narrow = cast(rounded, f"DECIMAL({_MAX_DIGITS - 1 - scale}, 0)")
    unit = cast(text("1e-" + str(scale)), f"DECIMAL({max(scale, 1)}, {scale})")
    body = exp.Lambda(this=exp.Mul(this=narrow, expression=unit), expressions=[exp.to_identifier("q")])
    return call("ELEMENT_AT", call("TRANSFORM", call("ARRAY", both), body), integer(1))


def _array_agg(node: Expr, again: _Again) -> Expr:
    """Keeps NULLs, and is NULL over no rows; Spark ignores NULLs, and returns an empty array."""
    value, order = node.this, []
    if isinstance(value, exp.Order):
        value, order = value.this, value.expressions
    distinct = isinstance(value, exp.Distinct)
    value = value.expressions[0] if isinstance(value, exp.Distinct) else value
    fields = [text("v"), value]
    keys: list[str] = []
    for one in order:
        keys.append("v" if one.this == value else f"k{len(keys)}")
        fields += [] if keys[-1] == "v" else [text(keys[-1]), one.this]
    collected = again(call("COLLECT_SET" if distinct else "COLLECT_LIST", call("NAMED_STRUCT", *fields)))
    if order:
        sides = [exp.to_identifier("l"), exp.to_identifier("r")]
        collected = call("ARRAY_SORT", collected, exp.Lambda(this=_compared(keys, order), expressions=sides))
    values = call("TRANSFORM", collected, exp.Lambda(this=_field("e", "v"), expressions=[exp.to_identifier("e")]))
    return when(exp.GT(this=again(exp.Count(this=exp.Star())), expression=integer(0)), values)


def _compared(keys: list[str], order: list[Expr]) -> Expr:
    """-1, 0 or 1, as ``array_sort`` expects it, by each key with its direction and the place of its NULLs."""
    result: Expr = integer(0)
    for key, one in reversed(list(zip(keys, order, strict=True))):
        left, right = _field("l", key), _field("r", key)
        null_left = -1 if one.args.get("nulls_first") else 1
        compare = exp.GT if one.args.get("desc") else exp.LT
        result = exp.Case(
            ifs=[
                exp.If(this=exp.NullSafeEQ(this=left, expression=right), true=result),
                exp.If(this=is_null(left), true=integer(null_left)),
                exp.If(this=is_null(right), true=integer(-null_left)),
                exp.If(this=compare(this=left.copy(), expression=right.copy()), true=integer(-1)),
            ],
            default=integer(1),
        )
    return result


def _map_agg(node: Expr, again: _Again) -> Expr:
    """NULL keys are left out, and no rows are NULL; a key that occurs twice fails in Spark."""
    key, value = node.expressions
    pairs = call("COLLECT_LIST", when(exp.Not(this=is_null(key)), call("STRUCT", key, value)))
    count = again(exp.Count(this=key.copy()))
    return when(exp.GT(this=count, expression=integer(0)), call("MAP_FROM_ENTRIES", again(pairs)))


def _any_value(node: Expr, again: _Again) -> Expr:
    """A value that is not NULL if there is one; Spark's may be NULL."""
    made = again(call("ANY_VALUE", node.this, exp.true()))
    return again(call("FIRST", node.this, exp.true())) if isinstance(made, exp.Window) else made


def _every(node: Expr, again: _Again) -> Expr:
    return again(call("BOOL_AND", *node.expressions))


def _extreme_by(node: Expr, again: _Again) -> Expr | None:
    if node.args.get("count") is not None:
        raise UntranslatableError(node, "several values are not translated", "")
    return None


def _extreme(node: Expr, again: _Again) -> Expr | None:
    if node.expressions:
        raise UntranslatableError(node, "several values are not translated", "")
    return None


def _approx_distinct(node: Expr, again: _Again) -> Expr:
    if not approximates():
        raise UntranslatableError(node, *_REFUSED_APPROXIMATION, "use count(DISTINCT ...), " + _OPT_IN)
    error = node.args.get("accuracy")
    return again(call("APPROX_COUNT_DISTINCT", *([node.this] if error is None else [node.this, error])))


def _approx_percentile(node: Expr, again: _Again) -> Expr:
    if not approximates():
        raise UntranslatableError(node, *_REFUSED_APPROXIMATION, _OPT_IN)
    quantile = node.args["quantile"]
    if node.args.get("weight") is not None or node.args.get("accuracy") is not None:
        raise UntranslatableError(node, "weights and accuracies of percentiles are not translated", "")
    return again(call("PERCENTILE_APPROX", node.this, quantile))


def _listagg(node: Expr, again: _Again) -> Expr:
    value, order = node.this, None
    if isinstance(value, exp.Order):
        order, value = value.copy(), value.this
    if node.args.get("on_overflow") is not None:
        raise UntranslatableError(node, "ON OVERFLOW is not translated", "")
    separator = node.args.get("separator") or text("")
    made = exp.Anonymous(this="LISTAGG", expressions=[value.copy(), separator.copy()])
    if order is None:
        return again(made)
    order.set("this", None)
    return again(exp.WithinGroup(this=made, expression=order))


def _value(node: Expr) -> Expr:
    inner: Expr = node.this
    if isinstance(inner, exp.Distinct):
        inner = inner.expressions[0]
    return inner


def _field(name: str, key: str) -> Expr:
    return exp.Dot(this=exp.to_identifier(name), expression=exp.to_identifier(key))


_REFUSED_APPROXIMATION = ("Spark approximates differently and returns other numbers",)
_OPT_IN = "or allow it with SET SESSION approximate_functions = true"

_BY_CLASS: dict[str, Callable[[Expr, _Again], Expr | None]] = {
    "ANYVALUE": _any_value,
    "APPROXDISTINCT": _approx_distinct,
    "APPROXQUANTILE": _approx_percentile,
    "ARGMAX": _extreme_by,
    "ARGMIN": _extreme_by,
    "ARRAYAGG": _array_agg,
    "AVG": _avg,
    "EVERY": _every,
    "GROUPCONCAT": _listagg,
    "MAP_AGG": _map_agg,
    "MAX": _extreme,
    "MIN": _extreme,
}

AGGREGATE_RULES: dict[str, Rule] = dict.fromkeys(
    (
        "AnyValue", "ApproxDistinct", "ApproxQuantile", "ArgMax", "ArgMin", "ArrayAgg", "Avg", "Filter", "GroupConcat",
        "Max", "Min", "Window",
    ),
    aggregate,
)  # fmt: skip
"""By the names of sqlglot's classes."""

AGGREGATE_NAMES = frozenset({"EVERY", "MAP_AGG"})
"""Aggregates without a class in sqlglot."""
