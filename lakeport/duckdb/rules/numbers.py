"""Arithmetic, with the types that Spark gives to results.

Decimals follow ``DecimalPrecisionTypeCoercion`` and ``DecimalType.adjustPrecisionScale``. Results that Spark would have
to round are refused, but for quotients, which are rounded here as there.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import MOST_DIGITS, NUMBERS, Kind, as_typed, decimal_type, digits_of, kind_of, wider_whole
from lakeport.duckdb.macros import DIVIDE, DecimalTerm, divided
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.comparisons import check_numbers
from lakeport.duckdb.rules.rule import Rule, Rules
from lakeport.duckdb.rules.times import check_shift, shifted

__all__ = ["NUMBERS_RULES", "inner_type", "typed_number"]

# Digits behind the point that Spark keeps of a result that has too many (DecimalType.MINIMUM_ADJUSTED_SCALE).
_LEAST_SCALE = 6
_DIGITS = "lakeport_digits"


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
    kept_precision, kept_scale = _adjusted(precision, found)
    if kept_scale != found:
        raise refused(node, f"a decimal of {precision} digits, of which Spark rounds some away")
    return kept_precision, kept_scale


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
    if isinstance(node.expression, exp.Interval):
        return shifted(node)
    if kind_of(node) is Kind.INTEGER:
        # DuckDB computes in the type of the other side with numbers that are written out.
        for part in (node.this, node.expression):
            number = part.this if isinstance(part, exp.Neg) else part
            if isinstance(number, exp.Literal) and node.type is not None:
                part.replace(exp.cast(part.copy(), node.type, copy=False))
    return typed_number(node)


def _divide(node: Expr) -> None:
    kinds = {kind_of(node.this), kind_of(node.expression)}
    if not kinds <= NUMBERS:
        raise refused(node, f"division of {' and '.join(sorted(kind.value for kind in kinds))}")
    if Kind.DECIMAL not in kinds or Kind.DOUBLE in kinds:
        check_numbers(node, (node.this, node.expression), kinds)
        node.type = exp.DataType.build("DOUBLE")
        return
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
    divisor = node.expression.this if isinstance(node.expression, exp.Neg) else node.expression
    if not isinstance(divisor, exp.Literal) or not int(divisor.name):
        raise refused(node, "Spark fails where the divisor is 0, and DuckDB does not")
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
    digits, places = digits_of(node.this), node.args.get("decimals")
    if kind_of(node.this) is not Kind.DECIMAL or digits is None:
        raise refused(node, "other numbers than decimals are rounded, which engines do apart")
    if places is not None and not (isinstance(places, exp.Literal) and places.name.isdigit()):
        raise refused(node, "the number of digits is not written out")
    scale = min(digits[1], 0 if places is None else int(places.name))
    node.type = decimal_type(min(digits[0] - digits[1] + scale + 1, MOST_DIGITS), scale)


NUMBERS_RULES: Rules = {
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), Rule(_arithmetic, _as_computed)),
    exp.Div: Rule(_divide, _quotient),
    exp.Mod: Rule(_remainder, typed_number),
    exp.Neg: Rule(_negate),
    exp.Abs: Rule(_absolute),
    exp.Round: Rule(_round, typed_number),
    exp.Paren: Rule(inner_type),
    exp.Subquery: Rule(inner_type),
}
