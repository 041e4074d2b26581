"""Comparisons, and what has to be comparable: orders, joins, set operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import (
    MOST_DIGITS,
    NUMBERS,
    Kind,
    decimal_type,
    digits_of,
    kind_of,
    shared_type,
    whole_digits,
    wider_whole,
)
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.rules.chars import check_chars, pad_list, pad_sides, refuse_chars
from lakeport.duckdb.rules.conditions import check_condition
from lakeport.duckdb.rules.rule import Rule, Rules

__all__ = [
    "COMPARISONS",
    "DATE_TEXT",
    "TIME_TEXT",
    "check_compared",
    "check_numbers",
    "is_text",
    "same_type",
    "wider_decimal",
]

DATE_TEXT = re.compile(r"\d{4}-\d\d?-\d\d?")
TIME_TEXT = re.compile(rf"{DATE_TEXT.pattern}( \d\d:\d\d:\d\d(\.\d{{1,6}})?)?")
# A decimal of so many digits is a whole number of a double, divided by a power of ten: rounded once.
_EXACT_IN_DOUBLE = 15
_COMPARED: tuple[type[Expr], ...] = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ
)  # fmt: skip


def check_compared(node: Expr, parts: Sequence[Expr]) -> None:
    """Refuses parts that the engines cast apart, or do not compare alike."""
    plain = [one for one in parts if kind_of(one) is not Kind.NULL]
    kinds = {kind_of(one) for one in plain}
    if Kind.OTHER in kinds:
        raise refused(node, "values of nested or unknown types are not compared")
    if len(kinds) < 2:
        return
    if kinds <= NUMBERS:
        check_numbers(node, plain, kinds)
        return
    if kinds in ({Kind.FLOAT, Kind.DOUBLE}, {Kind.DATE, Kind.TIMESTAMP}):
        return
    for kind, pattern in ((Kind.DATE, DATE_TEXT), (Kind.TIMESTAMP, TIME_TEXT), (Kind.INSTANT, TIME_TEXT)):
        if kinds == {kind, Kind.TEXT} and all(is_text(one, pattern) for one in plain if kind_of(one) is Kind.TEXT):
            return
    raise refused(node, f"{' and '.join(sorted(kind.value for kind in kinds))} are compared, which engines cast apart")


def check_numbers(node: Expr, parts: Iterable[Expr], kinds: set[Kind]) -> None:
    """Refuses decimals that meet doubles and are not exact in them."""
    if Kind.DOUBLE in kinds:
        for one in parts:
            if kind_of(one) is Kind.DECIMAL and not is_exact_in_double(one):
                raise refused(node, "a decimal of many digits becomes a double, which the engines round apart")


def is_exact_in_double(node: Expr) -> bool:
    """Whether a decimal becomes the same double in both engines."""
    return (digits_of(node) or (MOST_DIGITS, 0))[0] <= _EXACT_IN_DOUBLE


def is_text(node: Expr, pattern: re.Pattern[str]) -> bool:
    """Whether an expression is a text of this form."""
    return isinstance(node, exp.Literal) and node.is_string and pattern.fullmatch(node.name) is not None


def same_type(node: Expr, parts: Sequence[Expr]) -> exp.DataType | None:
    """The type of a result that is one of some parts; ``None`` where all are NULL.

    Raises:
        NotSupportedError: They are of different types.
    """
    plain = [one for one in parts if kind_of(one) is not Kind.NULL]
    kinds = {kind_of(one) for one in plain}
    if kinds == {Kind.DECIMAL, Kind.INTEGER} or kinds == {Kind.DECIMAL}:
        return _wider(node, plain)
    if kinds in ({Kind.INTEGER, Kind.DOUBLE}, {Kind.FLOAT, Kind.DOUBLE}):
        return exp.DataType.build("DOUBLE")
    if Kind.OTHER in kinds and (shared := shared_type(one.type for one in plain)) is not None:
        return shared
    if kinds == {Kind.TEXT}:
        return exp.DataType.build("VARCHAR")
    alike = kinds == {Kind.INTEGER} or all(one.type == plain[0].type for one in plain)
    if not alike or Kind.OTHER in kinds:
        raise refused(node, "its results are of different types")
    return wider_whole(one.type for one in plain)


def wider_decimal(parts: Iterable[Expr]) -> exp.DataType | None:
    """The decimal that holds all parts (DecimalPrecisionTypeCoercion.widerDecimalType); ``None`` where none does."""
    found = [whole_digits(one) for one in parts]
    digits = [one for one in found if one is not None]
    whole, scale = max((one[0] - one[1] for one in digits), default=0), max((one[1] for one in digits), default=0)
    known = len(digits) == len(found) and bool(digits) and whole + scale <= MOST_DIGITS
    return decimal_type(whole + scale, scale) if known else None


def _wider(node: Expr, parts: Iterable[Expr]) -> exp.DataType:
    found = wider_decimal(parts)
    if found is None:
        raise refused(node, "the digits of a decimal are not known, or too many")
    return found


def _compare(node: Expr) -> None:
    parts = [node.this, node.expression]
    check_compared(node, parts)
    check_chars(node, parts)


def _between(node: Expr) -> None:
    parts = [node.this, node.args["low"], node.args["high"]]
    check_compared(node, parts)
    # Spark 4.0 pads the bounds, and 4.3 does not.
    refuse_chars(node, parts)


def _in(node: Expr) -> None:
    query = node.args.get("query")
    if query is None and not node.expressions:
        raise refused(node, "a list without values")
    values = [one.unalias() for one in node.expressions]
    check_compared(node, [node.this, *values, *([] if query is None else query.unnest().selects)])
    check_chars(node, [node.this, *values])
    if any(isinstance(one, exp.Null) for one in values):
        # Beside NULL Spark pads none of them.
        refuse_chars(node, [node.this])


def _ordered(node: Expr) -> None:
    if kind_of(node.this) is Kind.OTHER and not isinstance(node.this, exp.Literal):
        raise refused(node, "an order of nested or unknown types")


def _join(node: Expr) -> None:
    kind = str(node.args.get("kind") or "").upper()
    if node.args.get("method") or kind not in ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"):
        raise refused(node, "a join of this kind")
    if node.args.get("on") is not None:
        check_condition(node.args["on"])


def _set_operation(node: Expr) -> None:
    if node.args.get("by_name"):
        raise refused(node, "columns are found by name")
    for left, right in zip(node.this.unnest().selects, node.expression.unnest().selects, strict=False):
        kinds = {kind_of(left.unalias()), kind_of(right.unalias())} - {Kind.NULL}
        is_nested = kinds == {Kind.OTHER} and node.args.get("distinct") is False
        if is_nested and shared_type(one.unalias().type for one in (left, right)) is not None:
            continue
        if len(kinds) > 1 or Kind.OTHER in kinds:
            raise refused(node, f"column '{left.alias_or_name}' is of different types")


COMPARISONS: Rules = {
    **dict.fromkeys(_COMPARED, Rule(_compare, pad_sides)),
    **dict.fromkeys((exp.Union, exp.Intersect, exp.Except), Rule(_set_operation)),
    exp.Between: Rule(_between),
    exp.In: Rule(_in, pad_list),
    exp.Ordered: Rule(_ordered),
    exp.Join: Rule(_join),
}
