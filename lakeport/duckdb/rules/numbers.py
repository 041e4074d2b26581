"""Arithmetic, with the types that Spark gives to results.

Decimals follow ``DecimalPrecisionTypeCoercion`` and ``DecimalType.adjustPrecisionScale``. What Spark rounds is rounded
here as there, half up.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import (
    KEEPS_SCALE,
    MOST_DIGITS,
    NUMBERS,
    Kind,
    as_typed,
    decimal_type,
    digits_of,
    kind_of,
    wider_whole,
)
from lakeport.duckdb.macros import DIVIDE, DIVIDE_WHOLE, REMAINDER, ROUND_DOUBLE, DecimalTerm, divided, rounded
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.comparisons import check_numbers
from lakeport.duckdb.rules.rule import Rule, Rules
from lakeport.duckdb.rules.times import check_days, check_shift

__all__ = ["NUMBERS_RULES", "inner_type", "typed_number"]

# Digits behind the point that Spark keeps of a result that has too many (DecimalType.MINIMUM_ADJUSTED_SCALE).
_LEAST_SCALE = 6
# Places to which a double of 15 digits can be rounded as a decimal.
_MOST_PLACES = 15
_DIGITS = "lakeport_digits"
_ROUNDED = "lakeport_rounded"
_LEFT = "lakeport_left"
_SMALL_DIGITS = 18


def inner_type(node: Expr) -> None:
    """Gives an expression the type of what is in it."""
    node.type = node.this.type


def typed_number(node: Expr) -> Expr:
    """The same as a decimal, or a whole number, of Spark's type; no value changes, but one that is too large."""
    return as_typed(node) if kind_of(node) in (Kind.DECIMAL, Kind.INTEGER) else node


def _arithmetic(node: Expr) -> None:
    parts = [node.this, node.expression]
    if isinstance(node.expression, exp.Interval):
        check_shift(node)
        return
    kinds = {kind_of(one) for one in parts}
    if kind_of(node.this) is Kind.DATE and kind_of(node.expression) is Kind.INTEGER and not isinstance(node, exp.Mul):
        check_days(node)
        return
    if not kinds <= NUMBERS:
        raise refused(node, f"arithmetic of {' and '.join(sorted(kind.value for kind in kinds))}")
    check_numbers(node, parts, kinds)
    if Kind.DOUBLE in kinds:
        node.type = exp.DataType.build("DOUBLE")
    elif kinds == {Kind.INTEGER}:
        node.type = wider_whole(one.type for one in parts)
    else:
        node.type = decimal_type(*_digits(node))


def _digits(node: Expr) -> tuple[int, int]:
    """Digits of a sum, a difference or a product in Spark."""
    (whole, scale), (other_whole, other_scale) = _known_digits(node)
    if isinstance(node, exp.Mul):
        precision, found = whole + other_whole + 1, scale + other_scale
    else:
        found = max(scale, other_scale)
        precision = max(whole - scale, other_whole - other_scale) + found + 1
    kept = _adjusted(precision, found)
    if kind_of(node.this) is Kind.DECIMAL:
        node.meta[_LEFT] = whole, scale
    if kept != (precision, found) and KEEPS_SCALE in node.meta:
        raise refused(node, f"a decimal of {precision} digits in a view that keeps the scale of decimals")
    if kept[1] != found:
        node.meta[_ROUNDED] = found
        node.meta[_DIGITS] = (whole, scale), (other_whole, other_scale)
    return kept


def _adjusted(precision: int, scale: int) -> tuple[int, int]:
    if precision <= MOST_DIGITS:
        return precision, scale
    whole = precision - scale
    return MOST_DIGITS, max(MOST_DIGITS - whole, min(scale, _LEAST_SCALE))


def _known_digits(node: Expr) -> tuple[tuple[int, int], tuple[int, int]]:
    left, right = digits_of(node.this), digits_of(node.expression)
    if left is None or right is None:
        raise refused(node, "the digits of a decimal are not known")
    return left, right


def _as_computed(node: Expr) -> Expr:
    if kind_of(node) in (Kind.DATE, Kind.TIMESTAMP, Kind.INSTANT):
        return as_typed(node)
    digits = digits_of(node)
    if _ROUNDED in node.meta and digits is not None:
        left, right = node.meta[_DIGITS]
        parts = DecimalTerm(node.this, *left), DecimalTerm(node.expression, *right)
        return rounded(type(node), *parts, digits)
    _widen(node, digits)
    if kind_of(node) is Kind.INTEGER:
        # DuckDB computes in the type of the other side with numbers that are written out.
        for part in (node.this, node.expression):
            number = part.this if isinstance(part, exp.Neg) else part
            if isinstance(number, exp.Literal) and node.type is not None:
                part.replace(exp.cast(part.copy(), node.type, copy=False))
    return typed_number(node)


def _widen(node: Expr, digits: tuple[int, int] | None) -> None:
    """DuckDB computes decimals of up to 18 digits in such a one, however many the result may have."""
    left = node.meta.get(_LEFT)
    if digits is not None and left is not None and digits[0] > _SMALL_DIGITS:
        wide = decimal_type(max(left[0], _SMALL_DIGITS + 1), left[1])
        # exp.cast would take a cast to other digits for this one.
        node.set("this", exp.Cast(this=node.this, to=wide))


def _divide(node: Expr) -> None:
    kinds = {kind_of(node.this), kind_of(node.expression)}
    if not kinds <= NUMBERS:
        raise refused(node, f"division of {' and '.join(sorted(kind.value for kind in kinds))}")
    if Kind.DECIMAL not in kinds or Kind.DOUBLE in kinds:
        check_numbers(node, (node.this, node.expression), kinds)
        node.type = exp.DataType.build("DOUBLE")
        return
    if KEEPS_SCALE in node.meta:
        raise refused(node, "a quotient of decimals in a view that keeps the scale of decimals")
    (precision, scale), (other_precision, other_scale) = _known_digits(node)
    found = max(_LEAST_SCALE, scale + other_precision + 1)
    node.type = decimal_type(*_adjusted(precision - scale + other_scale + found, found))
    node.meta[_DIGITS] = (precision, scale), (other_precision, other_scale)


def _quotient(node: Expr) -> Expr:
    digits, divisor = digits_of(node), node.expression
    if kind_of(node) is not Kind.DECIMAL or digits is None:
        if isinstance(divisor, exp.Literal) and float(divisor.name):
            return node
        return exp.Anonymous(this=DIVIDE, expressions=[node.this, divisor])
    left, right = node.meta[_DIGITS]
    most = _positive(divisor, right[1])
    return divided(DecimalTerm(node.this, *left), DecimalTerm(divisor, *right), digits, most_divisor=most)


def _positive(divisor: Expr, scale: int) -> int | None:
    """No less than a divisor that is written out and above 0, without its point."""
    number = divisor.this if isinstance(divisor, exp.Cast) else divisor
    if not isinstance(number, exp.Literal) or "e" in number.name.lower():
        return None
    found = int(Decimal(number.name).scaleb(scale))
    return found + 1 if found > 0 else None


def _remainder(node: Expr) -> None:
    parts = (node.this, node.expression)
    if {kind_of(one) for one in parts} != {Kind.INTEGER}:
        raise refused(node, "a remainder of other than whole numbers")
    node.type = wider_whole(one.type for one in parts)


def _typed_remainder(node: Expr) -> Expr:
    divisor = node.expression.this if isinstance(node.expression, exp.Neg) else node.expression
    if isinstance(divisor, exp.Literal) and int(divisor.name):
        return typed_number(node)
    made = exp.Anonymous(this=REMAINDER, expressions=[node.this, node.expression])
    made.type = node.type
    return as_typed(made)


def _whole_quotient(node: Expr) -> None:
    """``IntegralDivide`` gives a bigint."""
    if {kind_of(one) for one in (node.this, node.expression)} != {Kind.INTEGER}:
        raise refused(node, "div of other than whole numbers")
    node.type = exp.DataType.build("BIGINT")


def _typed_whole_quotient(node: Expr) -> Expr:
    made = exp.Anonymous(this=DIVIDE_WHOLE, expressions=[node.this, node.expression])
    made.type = node.type
    return as_typed(made)


def _bits(node: Expr) -> None:
    parts = [node.this] if isinstance(node, exp.BitwiseNot) else [node.this, node.expression]
    if {kind_of(one) for one in parts} != {Kind.INTEGER}:
        raise refused(node, "bits of other than whole numbers")
    node.type = wider_whole(one.type for one in parts)


def _negate(node: Expr) -> None:
    if kind_of(node.this) not in NUMBERS:
        raise refused(node, f"the negative of {kind_of(node.this).value}")
    inner_type(node)


def _absolute(node: Expr) -> None:
    if kind_of(node.this) not in NUMBERS:
        raise refused(node, f"of {kind_of(node.this).value} it is not known to give the same in both engines")
    inner_type(node)


def _round(node: Expr) -> None:
    """``RoundBase.dataType``: one digit more, since 9.99 may become 10.0."""
    digits, places, kind = digits_of(node.this), node.args.get("decimals"), kind_of(node.this)
    if places is not None and not (isinstance(places, exp.Literal) and places.name.isdigit()):
        raise refused(node, "the number of digits is not written out")
    shown = 0 if places is None else int(places.name)
    if kind is Kind.INTEGER or (kind is Kind.DOUBLE and shown <= _MOST_PLACES):
        inner_type(node)
        return
    if kind is not Kind.DECIMAL or digits is None:
        raise refused(node, f"{kind.value} is rounded, which engines do apart")
    scale = min(digits[1], shown)
    node.type = decimal_type(min(digits[0] - digits[1] + scale + 1, MOST_DIGITS), scale)


def _typed_round(node: Expr) -> Expr:
    if kind_of(node) is not Kind.DOUBLE:
        return typed_number(node)
    places = node.args.get("decimals") or exp.Literal.number(0)
    return exp.Anonymous(this=ROUND_DOUBLE, expressions=[node.this, places])


NUMBERS_RULES: Rules = {
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), Rule(_arithmetic, _as_computed)),
    exp.Div: Rule(_divide, _quotient),
    exp.Mod: Rule(_remainder, _typed_remainder),
    exp.IntDiv: Rule(_whole_quotient, _typed_whole_quotient),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot), Rule(_bits, typed_number)),
    exp.Neg: Rule(_negate),
    exp.Abs: Rule(_absolute),
    exp.Round: Rule(_round, _typed_round),
    exp.Paren: Rule(inner_type),
    exp.Subquery: Rule(inner_type),
}
