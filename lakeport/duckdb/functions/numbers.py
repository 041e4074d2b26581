"""Functions of numbers. What rounds in another way in Java than in C, such as exp, ln and sin, is not among them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.function import Function, Functions, error_text
from lakeport.duckdb.kinds import MOST_DIGITS, decimal_type, digits_of, wider_whole
from lakeport.duckdb.refusal import refused

__all__ = ["NUMBER_FUNCTIONS"]

_BY_ZERO = error_text("REMAINDER_BY_ZERO", "remainder by zero; leave such rows out, as with nullif(divisor, 0)")
_SAFE = f"CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN b = 0 THEN {_BY_ZERO} "


def _wider(arguments: Sequence[Expr]) -> exp.DataType:
    return wider_whole(one.type for one in arguments) or exp.DataType.build("INT")


def _whole_decimal(arguments: Sequence[Expr]) -> exp.DataType:
    precision, scale = digits_of(arguments[0]) or (MOST_DIGITS, 0)
    return decimal_type(min(precision - scale + 1, MOST_DIGITS), 0)


def _known(node: exp.Anonymous) -> None:
    if digits_of(node.expressions[0]) is None:
        raise refused(node, "the digits of a decimal are not known")


def _whole(name: str) -> tuple[Function, ...]:
    return (
        Function("i", "BIGINT", "CAST(a AS BIGINT)"),
        Function("m", _whole_decimal, f"{name}(a)", check=_known),
        Function("f", "BIGINT", f"CAST({name}(a) AS BIGINT)"),
    )


NUMBER_FUNCTIONS: Functions = {
    "sqrt": (Function("d", "DOUBLE", "CASE WHEN a < 0 THEN CAST('nan' AS DOUBLE) ELSE sqrt(a) END"),),
    **dict.fromkeys(("ceil", "ceiling"), _whole("ceil")),
    "floor": _whole("floor"),
    **dict.fromkeys(
        ("sign", "signum"),
        (Function("d", "DOUBLE", "CASE WHEN isnan(a) OR a = 0 THEN a WHEN a < 0 THEN -1 WHEN a > 0 THEN 1 END"),),
    ),
    "pmod": (
        Function("ii", _wider, f"{_SAFE} WHEN CAST(a AS HUGEINT) % b < 0 THEN (CAST(a AS HUGEINT) % b + b) % b "
                 "ELSE CAST(a AS HUGEINT) % b END"),
    ),
    "mod": (Function("ii", _wider, "lakeport_mod(a, b)"),),
    "isnan": (Function("f", "BOOLEAN", "coalesce(isnan(a), false)"),),
    "nanvl": (Function("ff", "DOUBLE", "CASE WHEN isnan(a) THEN b ELSE a END"),),
    "pi": (Function("", "DOUBLE", "CAST('3.141592653589793' AS DOUBLE)"),),
    "e": (Function("", "DOUBLE", "CAST('2.718281828459045' AS DOUBLE)"),),
    "bit_count": (Function("i", "INT", "bit_count(CAST(a AS BIGINT))"),),
    "rint": (
        Function("f", "DOUBLE", "CASE WHEN isnan(a) OR isinf(a) OR abs(a) >= 4503599627370496 OR a = 0 THEN a "
                 "ELSE round_even(a, 0) END"),
    ),
}  # fmt: skip
"""Functions of numbers."""
