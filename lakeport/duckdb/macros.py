"""Functions of Spark that DuckDB lacks, as macros of it."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import MOST_DIGITS, decimal_type

__all__ = ["DIVIDE", "ITEM", "VALUE", "DecimalTerm", "create_macros", "divided"]

DIVIDE = "lakeport_divide"
"""The quotient of two numbers as a double."""
ITEM = "lakeport_item"
"""An element of an array, the first one at 0."""
VALUE = "lakeport_value"
"""The value of a key of a map; NULL where there is none."""
_HALF_UP = "lakeport_half_up"
_HALF_UP_SURELY = "lakeport_half_up_surely"
_WHOLE = "lakeport_whole"
_BY_ZERO = "[DIVIDE_BY_ZERO] division by zero; leave such rows out, as with nullif(divisor, 0)"
_TOO_LARGE = "the divisor has too many digits to round as Spark does; use the engine spark for it"
_OUTSIDE = "[INVALID_ARRAY_INDEX] no element at index "
_ELEMENTS = "; the array has elements: "
_MACROS = (
    # GetArrayItem, with spark.sql.ansi.enabled: NULL for NULL, and an error where there is no such element.
    f"""CREATE MACRO {ITEM}(a, i) AS CASE
        WHEN a IS NULL OR i IS NULL THEN NULL
        WHEN i < 0 OR i >= len(a) THEN error('{_OUTSIDE}' || i || '{_ELEMENTS}' || len(a))
        ELSE list_extract(a, i + 1)
    END""",
    # GetMapValue: never an error.
    f"CREATE MACRO {VALUE}(m, k) AS list_extract(map_extract(m, k), 1)",
    # NULL / 0 is NULL in Spark (DivModLike.eval).
    f"CREATE MACRO {DIVIDE}(a, b) AS CASE WHEN b = 0 AND a IS NOT NULL THEN error('{_BY_ZERO}') ELSE a / b END",
    # Spark rounds a quotient to 38 places first (Decimal./), then to its scale: that is rounding once as long as
    # divisor * 10^scale has no more than 38 digits, which ``most`` says.
    f"""CREATE MACRO {_HALF_UP}(a, b, most) AS CASE
        WHEN a IS NULL OR b IS NULL THEN NULL
        WHEN b = 0 THEN error('{_BY_ZERO}')
        WHEN abs(b) >= most THEN error('{_TOO_LARGE}')
        WHEN (a < 0) <> (b < 0) THEN -((2 * abs(a) + abs(b)) // (2 * abs(b)))
        ELSE (2 * abs(a) + abs(b)) // (2 * abs(b))
    END""",
    # For a divisor above 0 of few digits. What may fail, DuckDB computes for each row of a join rather than before it.
    f"""CREATE MACRO {_HALF_UP_SURELY}(a, b) AS
        CASE WHEN a < 0 THEN -((b - 2 * a) // (2 * b)) ELSE (2 * a + b) // (2 * b) END""",
    # A decimal times a power of ten: what is before the point, and what is behind it, which DuckDB's own product of
    # decimals would need 38 digits for together with the point's places.
    f"""CREATE MACRO {_WHOLE}(a, factor) AS
        CAST(trunc(a) AS HUGEINT) * CAST(factor AS HUGEINT) + CAST((a - trunc(a)) * factor AS HUGEINT)""",
)


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


def create_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the macros in a database."""
    for text in _MACROS:
        connection.execute(text)


def divided(left: DecimalTerm, right: DecimalTerm, result: tuple[int, int], *, most_divisor: int | None = None) -> Expr:
    """The quotient of two decimals, rounded half up.

    Args:
        left: The dividend.
        right: The divisor.
        result: Precision and scale of the quotient.
        most_divisor: What the divisor is at most, without its point, if it is surely above 0, or the dividend NULL.
    """
    precision, scale = result
    shift = scale - left.scale + right.scale
    dividend, divisor = _whole(left, left.scale + max(shift, 0)), _whole(right, right.scale + max(-shift, 0))
    most = 10 ** (MOST_DIGITS - scale)
    if most_divisor is not None and most_divisor * 10 ** max(-shift, 0) < most:
        quotient = exp.Anonymous(this=_HALF_UP_SURELY, expressions=[dividend, divisor])
    else:
        written = exp.cast(exp.Literal.string(str(most)), "HUGEINT")
        quotient = exp.Anonymous(this=_HALF_UP, expressions=[dividend, divisor, written])
    unit = exp.cast(exp.Literal.string(f"{10**-scale:.{scale}f}"), decimal_type(scale, scale))
    made = exp.Mul(this=exp.cast(quotient, decimal_type(MOST_DIGITS, 0), copy=False), expression=unit)
    return exp.cast(made, decimal_type(precision, scale), copy=False)


def _whole(term: DecimalTerm, places: int) -> Expr:
    """A decimal without its point, moved by some places to the right; values of too many digits fail."""
    factor = exp.cast(exp.Literal.string(str(10**places)), decimal_type(places + 1, 0))
    if term.precision + places > MOST_DIGITS:
        value = exp.cast(term.value, decimal_type(term.precision, term.scale), copy=False)
        return exp.Anonymous(this=_WHOLE, expressions=[value, factor])
    return exp.cast(exp.Mul(this=exp.Paren(this=term.value), expression=factor), "HUGEINT", copy=False)
