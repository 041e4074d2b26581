"""Functions of numbers.

Java and C round the last digit of ``exp``, ``ln``, ``power``, ``sin`` and their like apart now and then; Java's own
documentation allows that for its versions, too.
"""

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


_NAN = "CAST('nan' AS DOUBLE)"
_ZERO = "CAST(0 AS DOUBLE)"


def _logarithm(text: str, *, of: str = "a <= 0") -> str:
    """Of numbers that have none it is NULL (``UnaryLogExpression``)."""
    return f"CASE WHEN {of} THEN NULL ELSE {text} END"


# In Java 1 to the power of NaN or of infinity is NaN.
_POWER = (
    Function("dd", "DOUBLE", f"CASE WHEN isnan(b) OR (abs(a) = 1 AND isinf(b)) THEN {_NAN} ELSE power(a, b) END"),
)
_NATURAL = (Function("d", "DOUBLE", _logarithm("ln(a)")),)

NUMBER_FUNCTIONS: Functions = {
    **{
        name: (Function("d", "DOUBLE", f"{name}(a)"),)
        for name in ("exp", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
    },
    "cot": (Function("d", "DOUBLE", "CAST(1 AS DOUBLE) / tan(a)"),),
    "atan2": (Function("dd", "DOUBLE", f"atan2(a + {_ZERO}, b + {_ZERO})"),),
    "degrees": (Function("d", "DOUBLE", "degrees(a)"),),
    "radians": (Function("d", "DOUBLE", "radians(a)"),),
    **dict.fromkeys(("power", "pow"), _POWER),
    "ln": _NATURAL,
    "log": (*_NATURAL, Function("dd", "DOUBLE", _logarithm("ln(b) / ln(a)", of="a <= 0 OR b <= 0"))),
    "log10": (Function("d", "DOUBLE", _logarithm("log10(a)")),),
    "log2": (Function("d", "DOUBLE", _logarithm("ln(a) / ln(CAST(2 AS DOUBLE))")),),
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
    "nanvl": (
        Function("FF", "FLOAT", "CASE WHEN isnan(a) THEN b ELSE a END"),
        Function("ff", "DOUBLE", "CASE WHEN isnan(a) THEN b ELSE a END"),
    ),
    "pi": (Function("", "DOUBLE", "CAST('3.141592653589793' AS DOUBLE)"),),
    "e": (Function("", "DOUBLE", "CAST('2.718281828459045' AS DOUBLE)"),),
    "bit_count": (Function("i", "INT", "bit_count(CAST(a AS BIGINT))"),),
    "rint": (
        Function("f", "DOUBLE", "CASE WHEN isnan(a) OR isinf(a) OR abs(a) >= 4503599627370496 OR a = 0 THEN a "
                 "ELSE round_even(a, 0) END"),
    ),
}  # fmt: skip
"""Functions of numbers."""
