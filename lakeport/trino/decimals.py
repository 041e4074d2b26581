"""Digits of decimals in a query in Trino's SQL.

sqlglot gives a result the type of one of its operands, so the digits are counted here, as Trino 483 counts them. It and
Spark give results the same scale while they have at most 38 digits. Beyond that both cut the scale of quotients and
products, of which Spark takes one digit more, and Spark also that of sums (``DecimalType.adjustPrecisionScale``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp
from sqlglot.expressions import Expr

__all__ = ["Digits", "decimal_digits", "spark_loses", "with_decimal_digits"]

Digits: TypeAlias = tuple[int, int]
"""Precision and scale."""

_MAX_DIGITS = 38
_KEPT_SCALE = 6
"""Digits after the point that are never cut."""
_INTEGERS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}


def decimal_digits(node: Expr) -> Digits | None:
    """The digits of a decimal or integer; ``None`` for other types, or where they are unknown."""
    kind = node.type
    if kind is None:
        return None
    if kind.this.name in _INTEGERS:
        return _INTEGERS[kind.this.name], 0
    sizes = [size.name for size in kind.expressions]
    return (int(sizes[0]), int(sizes[1])) if kind.this.name == "DECIMAL" and len(sizes) == 2 else None


def spark_loses(precision: int, scale: int) -> bool:
    """Whether Spark reduces the scale of a result of so many digits."""
    return precision > _MAX_DIGITS and scale > _KEPT_SCALE


def with_decimal_digits(rules: Mapping[type[Expr], dict[str, object]]) -> dict[type[Expr], dict[str, object]]:
    """sqlglot's type rules, extended with the digits of decimal results.

    Args:
        rules: ``EXPRESSION_METADATA`` of a dialect.
    """
    counted: dict[type[Expr], dict[str, object]] = {}
    for kind, (operands, count) in _RULES.items():
        plain = rules[kind].get("annotator")
        counted[kind] = {"annotator": _counting(plain if callable(plain) else _as_double, operands, count)}
    return {**rules, **counted}


def _as_double(annotator: object, node: Expr) -> object:
    node.type = exp.DataType.build("DOUBLE")
    return node


def _counting(
    plain: Callable[[object, Expr], object],
    operands: Callable[[Expr], Sequence[Expr]],
    count: Callable[[Sequence[Digits]], Digits],
) -> Callable[[object, Expr], object]:
    def annotate(annotator: object, node: Expr) -> object:
        made = plain(annotator, node)
        values = [operand for operand in operands(node) if not isinstance(operand, exp.Null)]
        names = {value.type.this.name if value.type is not None else "" for value in values}
        # sqlglot makes the average of a decimal a double.
        if "DECIMAL" in names and not names & {"DOUBLE", "FLOAT"}:
            found = [decimal_digits(value) for value in values]
            known = [(min(digits[0], _MAX_DIGITS), digits[1]) for digits in found if digits is not None]
            counted = _whole if isinstance(node, exp.Round) and node.args.get("decimals") is None else count
            name = "DECIMAL({}, {})".format(*counted(known)) if known and len(known) == len(found) else "DECIMAL"
            node.type = exp.DataType.build(name)
        return made

    return annotate


def _sides(node: Expr) -> Sequence[Expr]:
    return node.this, node.args["expression"]


def _only(node: Expr) -> Sequence[Expr]:
    return (node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this,)


def _arguments(node: Expr) -> Sequence[Expr]:
    return (node.this, *node.expressions)


def _branches(node: Expr) -> Sequence[Expr]:
    last = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    first = [one.args["true"] for one in node.args["ifs"]] if isinstance(node, exp.Case) else [node.args["true"]]
    return first if last is None else [*first, last]


def _added(digits: Sequence[Digits]) -> Digits:
    scale = max(one for _, one in digits)
    return min(max(precision - one for precision, one in digits) + scale + 1, _MAX_DIGITS), scale


def _multiplied(digits: Sequence[Digits]) -> Digits:
    (precision, scale), (other_precision, other_scale) = digits
    return _cut(precision + other_precision, scale + other_scale)


def _divided(digits: Sequence[Digits]) -> Digits:
    (precision, scale), (other_precision, other_scale) = digits
    made = max(_KEPT_SCALE, scale + other_precision + 1)
    return _cut(precision - scale + other_scale + made, made)


def _cut(precision: int, scale: int) -> Digits:
    """At most 38 digits, by those after the point, of which 6 stay."""
    if precision <= _MAX_DIGITS:
        return precision, scale
    return _MAX_DIGITS, max(_MAX_DIGITS - (precision - scale), min(scale, _KEPT_SCALE))


def _remainder(digits: Sequence[Digits]) -> Digits:
    scale = max(one for _, one in digits)
    return min(precision - one for precision, one in digits) + scale, scale


def _summed(digits: Sequence[Digits]) -> Digits:
    return _MAX_DIGITS, digits[0][1]


def _widest(digits: Sequence[Digits]) -> Digits:
    scale = max(one for _, one in digits)
    return min(max(precision - one for precision, one in digits) + scale, _MAX_DIGITS), scale


def _rounded(digits: Sequence[Digits]) -> Digits:
    precision, scale = digits[0]
    return min(precision + 1, _MAX_DIGITS), scale


def _whole(digits: Sequence[Digits]) -> Digits:
    precision, scale = digits[0]
    return precision - scale + min(scale, 1), 0


def _sign(digits: Sequence[Digits]) -> Digits:
    return 1, 0


_RULES: dict[type[Expr], tuple[Callable[[Expr], Sequence[Expr]], Callable[[Sequence[Digits]], Digits]]] = {
    exp.Add: (_sides, _added),
    exp.Sub: (_sides, _added),
    exp.Mul: (_sides, _multiplied),
    exp.Div: (_sides, _divided),
    exp.Mod: (_sides, _remainder),
    exp.Sum: (_only, _summed),
    exp.Avg: (_only, _widest),
    exp.Coalesce: (_arguments, _widest),
    exp.Greatest: (_arguments, _widest),
    exp.Least: (_arguments, _widest),
    exp.Case: (_branches, _widest),
    exp.If: (_branches, _widest),
    exp.Round: (_only, _rounded),
    exp.Ceil: (_only, _whole),
    exp.Floor: (_only, _whole),
    exp.Sign: (_only, _sign),
}
