"""Arithmetic of Trino: divisions, decimals, rounding and logarithms."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, cast, integer, is_null, text, when
from lakeport.trino.decimals import Digits, decimal_digits, spark_loses
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import Kind, kind_of

__all__ = ["ARITHMETIC_RULES", "exact_cast"]

_MAX_DIGITS = 38
_MAX_ROUNDED_DIGITS = 15
_MICROS = {"SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000, "DAY": 86_400_000_000}


def exact_cast(value: Expr, digits: Digits) -> Expr:
    """A value as a decimal of at least its own digits."""
    kind = f"DECIMAL({min(digits[0], _MAX_DIGITS)}, {digits[1]})"
    plain = value.unnest()
    if isinstance(plain, exp.Cast) and plain.to == exp.DataType.build(kind):
        return value.copy()
    return cast(value, kind)


def _division(node: Expr) -> Expr | None:
    sides = (node.this, node.args["expression"])
    kinds = [kind_of(side) for side in sides]
    if kinds == [Kind.INTEGER, Kind.INTEGER]:
        return exp.IntDiv(this=node.this, expression=node.args["expression"])
    if Kind.FLOAT in kinds and Kind.UNKNOWN not in kinds:
        return None
    if Kind.DECIMAL in kinds:
        digits = [decimal_digits(side) for side in sides]
        if digits[0] is not None and digits[1] is not None:
            # Of equal types, which sums and literals do not have, both count the same digits.
            return exp.Div(this=exact_cast(sides[0], digits[0]), expression=exact_cast(sides[1], digits[1]))
        why = "the number of digits of the result depends on those of both sides, which are not known here"
    else:
        why = "Trino's division of integers is an integer, and the types are not known here"
    raise UntranslatableError(node, why, "cast one side to DOUBLE, or both to BIGINT")


def _arithmetic(node: Expr) -> Expr | None:
    sides = (node.this, node.args["expression"])
    kinds = [kind_of(side) for side in sides]
    moved = _moved_instant(node)
    if moved is not None:
        return moved
    if Kind.DECIMAL not in kinds or Kind.FLOAT in kinds:
        return None
    digits = [decimal_digits(side) for side in sides]
    if digits[0] is None or digits[1] is None:
        why = "the number of digits is not known here, and of large decimals Spark keeps fewer than Trino"
        raise UntranslatableError(node, why, "cast both sides to decimals of fewer digits, or to DOUBLE")
    narrow = _narrow_factors(digits[0], digits[1]) if isinstance(node, exp.Mul) else _narrow_terms(digits[0], digits[1])
    if narrow is None:
        return None
    casts = [exact_cast(side, one) for side, one in zip(sides, narrow, strict=True)]
    return exp.Paren(this=type(node)(this=casts[0], expression=casts[1]))


def _narrow_factors(first: Digits, second: Digits) -> tuple[Digits, Digits] | None:
    """Digits of two factors of whose product Spark keeps as many as Trino; ``None`` for their own.

    Spark counts one digit too many, so one factor gets one less before the point. A value that has it fails.
    """
    # One more, for Spark's bigint has 20.
    if not spark_loses(first[0] + second[0] + 2, first[1] + second[1]):
        return None
    if first[0] - first[1] > second[0] - second[1]:
        return (first[0] - 1, first[1]), second
    return first, (max(second[0] - 1, second[1], 1), second[1])


def _narrow_terms(first: Digits, second: Digits) -> tuple[Digits, Digits] | None:
    """Digits of two terms whose sum keeps its scale, as in Trino, where a sum of more digits fails."""
    scale = max(first[1], second[1])
    whole = max(first[0] - first[1], second[0] - second[1])
    if not spark_loses(whole + scale + 2, scale):
        return None
    whole = _MAX_DIGITS - 1 - scale
    return (min(first[0], whole + first[1]), first[1]), (min(second[0], whole + second[1]), second[1])


def _moved_instant(node: Expr) -> Expr | None:
    """A time with a zone plus an interval, which is a number of microseconds in Trino, and of days in Spark."""
    interval = node.args["expression"]
    if kind_of(node.this) is not Kind.ZONED or not isinstance(interval, exp.Interval):
        return None
    unit = interval.unit.name.upper() if interval.unit is not None else ""
    if unit in ("MONTH", "YEAR"):
        return None
    amount = interval.this.name
    if unit not in _MICROS or not amount.lstrip("-").isdigit():
        raise UntranslatableError(node, "the interval is not a whole number of one unit", "")
    micros = exp.Literal.number(str(abs(int(amount)) * _MICROS[unit]))
    forward = isinstance(node, exp.Add) != amount.startswith("-")
    now = call("UNIX_MICROS", node.this)
    return call(
        "TIMESTAMP_MICROS",
        exp.Add(this=now, expression=micros) if forward else exp.Sub(this=now, expression=micros),
    )


def _round(node: Expr) -> Expr | None:
    """Trino multiplies a double, rounds, and divides; Spark rounds its decimal text: 1.005 is 1.0 or 1.01."""
    decimals, kind = node.args.get("decimals"), kind_of(node.this)
    if kind not in (Kind.FLOAT, Kind.INTEGER, Kind.DECIMAL):
        raise UntranslatableError(node, "the type is not known here", "cast the value to DOUBLE")
    if decimals is None or (decimals.name == "0" and kind is not Kind.DECIMAL):
        return None
    if decimals.is_string or not decimals.name.isdigit() or int(decimals.name) > _MAX_ROUNDED_DIGITS:
        raise UntranslatableError(node, f"the number of digits has to be a literal from 0 to {_MAX_ROUNDED_DIGITS}", "")
    if kind is Kind.INTEGER:
        return None
    if kind is Kind.DECIMAL:
        digits = decimal_digits(node.this)
        if digits is None:
            raise UntranslatableError(node, "the number of digits is not known here", "cast the value to a decimal")
        # The scale stays in Trino.
        return exact_cast(call("ROUND", node.this, decimals), (digits[0] + 1, digits[1]))
    factor = exp.Literal.number(f"1e{decimals.name}")
    rounded = call("ROUND", exp.Mul(this=exp.Paren(this=node.this.copy()), expression=factor))
    shortened = exp.Paren(this=exp.Div(this=rounded, expression=factor.copy()))
    return cast(shortened, "FLOAT") if node.this.type.this.name == "FLOAT" else shortened


def _truncate(node: Expr) -> Expr:
    if node.args.get("decimals") is not None or kind_of(node.this) is not Kind.FLOAT:
        raise UntranslatableError(node, "truncate is translated for doubles, without digits", "")
    small = exp.LT(this=call("ABS", node.this), expression=exp.Literal.number("9e15"))
    return when(small, cast(cast(node.this, "BIGINT"), "DOUBLE"), node.this.copy())


def _logarithm(node: Expr) -> Expr:
    """Spark returns NULL where Trino returns minus infinity or NaN."""
    name, value = "LN", node.this
    if isinstance(node, exp.Log):
        base, value = node.this, node.args.get("expression")
        name = {"2": "LOG2", "10": "LOG10"}.get(base.name if isinstance(base, exp.Literal) else "", "")
        if not name or value is None:
            raise UntranslatableError(node, "log is translated for the bases 2 and 10", "write ln(x) / ln(base)")
    zero = integer(0)
    cases = [
        exp.If(this=exp.GT(this=value.copy(), expression=zero), true=call(name, value)),
        exp.If(this=exp.EQ(this=value.copy(), expression=zero.copy()), true=cast(text("-Infinity"), "DOUBLE")),
        exp.If(this=exp.LT(this=value.copy(), expression=zero.copy()), true=cast(text("NaN"), "DOUBLE")),
    ]
    return exp.Case(ifs=cases)


def _whole(node: Expr) -> Expr | None:
    """Trino returns a double for a double; Spark a bigint, whose range is smaller."""
    kind = kind_of(node.this)
    if kind in (Kind.INTEGER, Kind.DECIMAL):
        return None
    if kind is not Kind.FLOAT:
        raise UntranslatableError(node, "the type is not known here", "cast the value to DOUBLE")
    rounded = cast(call(type(node).__name__.upper(), node.this), "DOUBLE")
    # From there on all doubles are whole numbers.
    small = exp.LT(this=call("ABS", node.this), expression=exp.Literal.number("9e15"))
    return when(small, rounded, node.this.copy())


def _least_or_greatest(node: Expr) -> Expr:
    """NULL if any argument is NULL; Spark ignores NULLs."""
    values = [node.this, *node.expressions]
    return when(exp.or_(*map(is_null, values)), exp.Null(), call(type(node).__name__.upper(), *values))


ARITHMETIC_RULES: dict[str, Rule] = {
    "Add": _arithmetic,
    "Ceil": _whole,
    "Div": _division,
    "Floor": _whole,
    "Greatest": _least_or_greatest,
    "Least": _least_or_greatest,
    "Ln": _logarithm,
    "Log": _logarithm,
    "Mul": _arithmetic,
    "Round": _round,
    "Sub": _arithmetic,
    "Trunc": _truncate,
}
"""By the names of sqlglot's classes."""
