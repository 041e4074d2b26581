"""Functions of Spark that DuckDB lacks, as macros of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import MOST_DIGITS, decimal_type

__all__ = [
    "ANY_TRUE",
    "BASE_MACROS",
    "DAYS_BETWEEN",
    "DIVIDE",
    "DIVIDE_WHOLE",
    "ITEM",
    "NUMBERS_BETWEEN",
    "REMAINDER",
    "ROUND_DOUBLE",
    "VALUE",
    "DecimalTerm",
    "divided",
    "rounded",
]

DIVIDE = "lakeport_divide"
"""The quotient of two numbers as a double."""
ITEM = "lakeport_item"
"""An element of an array, the first one at 0."""
VALUE = "lakeport_value"
"""The value of a key of a map; NULL where there is none."""
DIVIDE_WHOLE = "lakeport_div"
"""The quotient of two whole numbers without its fraction."""
REMAINDER = "lakeport_mod"
"""What is left of a whole number after a division by another one."""
ANY_TRUE = "lakeport_any_true"
"""Whether one of an array of booleans is true; NULL where none is, and one is not known."""
DAYS_BETWEEN = "lakeport_days_between"
"""The dates from one to another, some days apart."""
NUMBERS_BETWEEN = "lakeport_numbers_between"
"""The whole numbers from one to another by a step; 0 is one to it."""
ROUND_DOUBLE = "lakeport_round"
"""A double, rounded half up to some places."""
_STABLE = "_stable"
_ERROR = re.compile(r"error\(('[^']*')\)")
_HALF_UP = "lakeport_half_up"
_HALF_UP_SURELY = "lakeport_half_up_surely"
_HALF_UP_WIDE = "lakeport_half_up_wide"
_WHOLE = "lakeport_whole"
_BY_ZERO = "[DIVIDE_BY_ZERO] division by zero; leave such rows out, as with nullif(divisor, 0)"
_TOO_LARGE = "the divisor has too many digits to round as Spark does; use the engine spark for it"
_OUTSIDE = "[INVALID_ARRAY_INDEX] no element at index "
_ELEMENTS = "; the array has elements: "
# DuckDB computes with decimals of so many digits as with bigints.
_INT64_DIGITS = 18
_REMAINDER_BY_ZERO = "[REMAINDER_BY_ZERO] remainder by zero; leave such rows out, as with nullif(divisor, 0)"
_NO_SEQUENCE = "no step of a sequence leads from its start to its end"
_IF_BOTH = "CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN b = 0 THEN"
_MACROS = {
    # GetArrayItem, with spark.sql.ansi.enabled: NULL for NULL, and an error where there is no such element.
    ITEM: f"""(a, i) AS CASE
        WHEN a IS NULL OR i IS NULL THEN NULL
        WHEN i < 0 OR i >= len(a) THEN error('{_OUTSIDE}' || i || '{_ELEMENTS}' || len(a))
        ELSE list_extract(a, i + 1)
    END""",
    # GetMapValue: never an error.
    VALUE: "(m, k) AS list_extract(map_extract(m, k), 1)",
    # NULL / 0 is NULL in Spark (DivModLike.eval).
    DIVIDE: f"(a, b) AS CASE WHEN b = 0 AND a IS NOT NULL THEN error('{_BY_ZERO}') ELSE a / b END",
    # Spark rounds a quotient to 38 places first (Decimal./), then to its scale: that is rounding once as long as
    # divisor * 10^scale has no more than 38 digits, which ``most`` says.
    _HALF_UP: f"""(a, b, most) AS CASE
        WHEN a IS NULL OR b IS NULL THEN NULL
        WHEN b = 0 THEN error('{_BY_ZERO}')
        WHEN abs(b) >= most THEN error('{_TOO_LARGE}')
        ELSE (CASE WHEN (a < 0) <> (b < 0) THEN -1 ELSE 1 END)
            * (abs(a) // abs(b) + CASE WHEN abs(a) % abs(b) >= abs(b) - abs(a) % abs(b) THEN 1 ELSE 0 END)
    END""",
    # For a divisor above 0 of few digits. What may fail, DuckDB computes for each row of a join rather than before it.
    _HALF_UP_SURELY: """(a, b) AS
        CASE WHEN a < 0 THEN -((b - 2 * a) // (2 * b)) ELSE (2 * a + b) // (2 * b) END""",
    # Twice a dividend of 38 digits would be too large.
    _HALF_UP_WIDE: """(a, b) AS a // b
        + CASE WHEN abs(a % b) >= b - abs(a % b) THEN CASE WHEN a < 0 THEN -1 ELSE 1 END ELSE 0 END""",
    # A decimal times a power of ten: what is before the point, and what is behind it, which DuckDB's own product of
    # decimals would need 38 digits for together with the point's places.
    DIVIDE_WHOLE: f"(a, b) AS {_IF_BOTH} error('{_BY_ZERO}') ELSE CAST(a AS HUGEINT) // b END",
    REMAINDER: f"(a, b) AS {_IF_BOTH} error('{_REMAINDER_BY_ZERO}') ELSE CAST(a AS HUGEINT) % b END",
    # Of a double Spark rounds the decimal that it is written as (RoundBase.nullSafeEval).
    ROUND_DOUBLE: """(a, b) AS CASE
        WHEN isnan(a) OR isinf(a) OR abs(a) >= 4503599627370496 THEN a
        WHEN abs(a) < 1e-15 AND a IS NOT NULL THEN 0
        ELSE CAST(CAST(round(CAST(CAST(a AS VARCHAR) AS DECIMAL(38, 20)), b) AS VARCHAR) AS DOUBLE)
    END""",
    ANY_TRUE: """(a) AS CASE
        WHEN a IS NULL THEN NULL WHEN list_contains(a, true) THEN true WHEN len(a) > list_count(a) THEN NULL ELSE false
    END""",
    "lakeport_empty_texts": "(a) AS list_transform(a, lambda x: coalesce(x, ''))",
    "lakeport_map": "(a, b) AS CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE map(a, b) END",
    DAYS_BETWEEN: f"""(a, b, c) AS CASE
        WHEN a IS NULL OR b IS NULL THEN NULL
        WHEN a > b THEN error('{_NO_SEQUENCE}')
        ELSE CAST(generate_series(CAST(a AS TIMESTAMP), CAST(b AS TIMESTAMP), to_days(c)) AS DATE[])
    END""",
    NUMBERS_BETWEEN: f"""(a, b, c) AS CASE
        WHEN a IS NULL OR b IS NULL THEN NULL
        WHEN (c > 0 AND a > b) OR (c < 0 AND a < b) THEN error('{_NO_SEQUENCE}')
        ELSE generate_series(a, b, CASE WHEN c <> 0 THEN c WHEN a > b THEN -1 ELSE 1 END)
    END""",
    # UTF8String.substringSQL: position 0 is the first character, and one below 0 counts from the end.
    "lakeport_first": "(a, b) AS CASE WHEN b > 0 THEN b - 1 WHEN b < 0 THEN length(a) + b ELSE 0 END",
    "lakeport_substring": """(a, b, c) AS CASE WHEN a IS NULL OR b IS NULL OR c IS NULL THEN NULL
        ELSE substring(a, greatest(lakeport_first(a, CAST(b AS BIGINT)), 0) + 1, greatest(
            lakeport_first(a, CAST(b AS BIGINT)) + c - greatest(lakeport_first(a, CAST(b AS BIGINT)), 0), 0))
    END""",
    "lakeport_today": "() AS CAST(timezone('UTC', now()) AS DATE)",
    _WHOLE: """(a, factor) AS
        CAST(trunc(a) AS HUGEINT) * CAST(factor AS HUGEINT) + CAST((a - trunc(a)) * factor AS HUGEINT)""",
}
# An order of a window takes no function that is volatile, as ``error`` is. A cast of a text fails, too, and says it.
BASE_MACROS: Mapping[str, str] = {
    **_MACROS,
    **{
        f"{name}{_STABLE}": _ERROR.sub(r"CAST(left(CAST(b AS VARCHAR), 0) || \1 AS HUGEINT)", _MACROS[name])
        for name in (DIVIDE, _HALF_UP)
    },
}
"""Parameters and text of each macro, by its name."""


@dataclass(frozen=True, slots=True)
class DecimalTerm:
    """A part of a quotient.

    Attributes:
        value: The expression.
        precision: Digits of its type.
        scale: Those behind the point.
    """

    value: Expr
    precision: int
    scale: int


def stable(order: Expr) -> None:
    """Has an order of a window fail by what is not volatile; changes it."""
    for one in order.find_all(exp.Anonymous):
        if f"{one.name}{_STABLE}" in BASE_MACROS:
            one.set("this", f"{one.name}{_STABLE}")


def divided(left: DecimalTerm, right: DecimalTerm, result: tuple[int, int], *, most_divisor: int | None = None) -> Expr:
    """The quotient of two decimals, rounded half up.

    Args:
        left: The dividend.
        right: The divisor.
        result: Precision and scale of the quotient.
        most_divisor: What the divisor is at most, without its point, if it is surely above 0, or the dividend NULL.
    """
    scale = result[1]
    shift = scale - left.scale + right.scale
    dividend, divisor = _whole(left, left.scale + max(shift, 0)), _whole(right, right.scale + max(-shift, 0))
    most = 10 ** (MOST_DIGITS - scale)
    if most_divisor is not None and most_divisor * 10 ** max(-shift, 0) < most:
        wide = left.precision + max(shift, 0) >= MOST_DIGITS
        quotient = exp.Anonymous(this=_HALF_UP_WIDE if wide else _HALF_UP_SURELY, expressions=[dividend, divisor])
    else:
        written = exp.cast(exp.Literal.string(str(most)), "HUGEINT")
        quotient = exp.Anonymous(this=_HALF_UP, expressions=[dividend, divisor, written])
    return _pointed(quotient, result)


def rounded(operation: type[Expr], left: DecimalTerm, right: DecimalTerm, result: tuple[int, int]) -> Expr:
    """A sum, a difference or a product of decimals, rounded half up to fewer digits behind the point.

    Args:
        operation: The class of the operation.
        left: Its first part.
        right: Its second part.
        result: Precision and scale of the result.
    """
    if operation is exp.Mul:
        places, parts = left.scale + right.scale, (left.scale, right.scale)
    else:
        places = max(left.scale, right.scale)
        parts = (places, places)
    whole = operation(this=_whole(left, parts[0]), expression=_whole(right, parts[1]))
    unit = exp.cast(exp.Literal.string(str(10 ** (places - result[1]))), "HUGEINT")
    return _pointed(exp.Anonymous(this=_HALF_UP_WIDE, expressions=[whole, unit]), result)


def _pointed(whole: Expr, result: tuple[int, int]) -> Expr:
    """A decimal of its digits."""
    precision, scale = result
    unit = exp.cast(exp.Literal.string(f"{10**-scale:.{scale}f}"), decimal_type(scale, scale))
    made = exp.Mul(this=exp.cast(whole, decimal_type(MOST_DIGITS, 0), copy=False), expression=unit)
    return exp.cast(made, decimal_type(precision, scale), copy=False)


def _whole(term: DecimalTerm, places: int) -> Expr:
    """A decimal without its point, moved by some places to the right; values of too many digits fail."""
    factor = exp.cast(exp.Literal.string(str(10**places)), decimal_type(places + 1, 0))
    if term.precision + places > MOST_DIGITS:
        value = exp.cast(term.value, decimal_type(term.precision, term.scale), copy=False)
        return exp.Anonymous(this=_WHOLE, expressions=[value, factor])
    wide = exp.Cast(this=term.value, to=decimal_type(max(term.precision, _INT64_DIGITS + 1), term.scale))
    return exp.cast(exp.Mul(this=wide, expression=factor), "HUGEINT", copy=False)
