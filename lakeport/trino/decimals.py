"""Digits of decimals in a query in Trino's SQL, as Spark counts them.

Trino and Spark give sums and products of decimals the same scale while the result has at most 38 digits. Beyond that
Trino keeps the scale, and Spark cuts it (``DecimalType.adjustPrecisionScale``), so that digits are rounded away.
sqlglot gives a result the type of one of its operands, so the digits are counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp
from sqlglot.expressions import Expr

__all__ = ["Digits", "decimal_digits", "loses_digits", "with_decimal_digits"]

Digits: TypeAlias = tuple[int, int]
"""Precision, which may be more than any decimal has, and scale."""

_MAX_DIGITS = 38
_KEPT_SCALE = 6
"""Digits after the point that Spark never cuts."""
_SUM_DIGITS = 10
_INTEGERS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}
"""``DecimalType.forType``."""


def decimal_digits(node: Expr) -> Digits | None:
    """The digits of a decimal or integer; ``None`` for other types, or where they are unknown."""
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        return len(node.name), 0
    kind = node.type
    if kind is None:
        return None
    if kind.this.name in _INTEGERS:
        return _INTEGERS[kind.this.name], 0
    sizes = [size.name for size in kind.expressions]
    return (int(sizes[0]), int(sizes[1])) if kind.this.name == "DECIMAL" and len(sizes) == 2 else None


def loses_digits(digits: Digits) -> bool:
    """Whether Spark reduces the scale of the result of an addition, subtraction or multiplication."""
    precision, scale = digits
    return precision > _MAX_DIGITS and scale > _KEPT_SCALE


def with_decimal_digits(rules: Mapping[type[Expr], dict[str, object]]) -> dict[type[Expr], dict[str, object]]:
    """sqlglot's type rules, extended with the digits of decimal results.

    Args:
        rules: ``EXPRESSION_METADATA`` of a dialect.
    """
    counted: dict[type[Expr], dict[str, object]] = {}
    for kind, (operands, count) in _RULES.items():
        plain = rules[kind]["annotator"]
        assert callable(plain)
        counted[kind] = {**rules[kind], "annotator": _counting(plain, operands, count)}
    return {**rules, **counted}


def _counting(
    plain: Callable[[object, Expr], object],
    operands: Callable[[Expr], Sequence[Expr]],
    count: Callable[[Sequence[Digits]], Digits],
) -> Callable[[object, Expr], object]:
    def annotate(annotator: object, node: Expr) -> object:
        made = plain(annotator, node)
        if node.type is not None and node.type.this.name == "DECIMAL":
            found = [decimal_digits(operand) for operand in operands(node) if not isinstance(operand, exp.Null)]
            known = [digits for digits in found if digits is not None]
            name = "DECIMAL({}, {})".format(*count(known)) if known and len(known) == len(found) else "DECIMAL"
            node.type = exp.DataType.build(name)
        return made

    return annotate


def _sides(node: Expr) -> Sequence[Expr]:
    return node.this, node.args["expression"]


def _branches(node: Expr) -> Sequence[Expr]:
    last = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    first = [one.args["true"] for one in node.args["ifs"]] if isinstance(node, exp.Case) else [node.args["true"]]
    return first if last is None else [*first, last]


def _added(digits: Sequence[Digits]) -> Digits:
    scale = max(one for _, one in digits)
    return max(precision - one for precision, one in digits) + scale + 1, scale


def _multiplied(digits: Sequence[Digits]) -> Digits:
    (precision, scale), (other_precision, other_scale) = digits
    return precision + other_precision + 1, scale + other_scale


def _summed(digits: Sequence[Digits]) -> Digits:
    precision, scale = digits[0]
    return min(precision + _SUM_DIGITS, _MAX_DIGITS), scale


def _widest(digits: Sequence[Digits]) -> Digits:
    scale = max(one for _, one in digits)
    return min(max(precision - one for precision, one in digits) + scale, _MAX_DIGITS), scale


_RULES: dict[type[Expr], tuple[Callable[[Expr], Sequence[Expr]], Callable[[Sequence[Digits]], Digits]]] = {
    exp.Add: (_sides, _added),
    exp.Sub: (_sides, _added),
    exp.Mul: (_sides, _multiplied),
    exp.Sum: (lambda node: (node.this,), _summed),
    exp.Coalesce: (lambda node: (node.this, *node.expressions), _widest),
    exp.Case: (_branches, _widest),
    exp.If: (_branches, _widest),
}
