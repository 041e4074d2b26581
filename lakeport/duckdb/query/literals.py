"""Types of numbers that are written out, as Spark gives them."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import EXACT, MOST_DIGITS
from lakeport.duckdb.refusal import refused

__all__ = ["type_whole_numbers", "write_types"]

_INTS, _BIGINTS = 2**31, 2**63
"""How many whole numbers of a type there are on either side of zero."""


def write_types(tree: Expr) -> None:
    """Gives numbers with a point their type: they are decimals in both engines, but not in sqlglot.

    So are whole numbers that no bigint holds. Casts fail where a value does not fit, as since Spark 4; sqlglot takes
    them for those that give NULL.

    Args:
        tree: A statement; changed.

    Raises:
        NotSupportedError: A number has more digits than a decimal.
    """
    for cast in list(tree.find_all(exp.TryCast)):
        if not cast.args.get("safe"):
            cast.replace(exp.Cast(this=cast.this, to=cast.args["to"]))
    for literal in list(tree.find_all(exp.Literal)):
        text = literal.name
        if literal.is_string or "e" in text.lower() or isinstance(literal.parent, exp.Cast):
            continue
        if "." in text:
            whole, _, fraction = text.partition(".")
            _as_decimal(literal, max(len(whole.lstrip("0")) + len(fraction), 1), len(fraction))
        elif (least := _signed_least(literal, _BIGINTS)) is not None:
            least.replace(exp.cast(least.copy(), "BIGINT"))
        elif text.isdigit() and int(text) >= _BIGINTS:
            _as_decimal(literal, len(text.lstrip("0")), 0)


def type_whole_numbers(tree: Expr) -> None:
    """Gives whole numbers that no int holds the type of those that do; sqlglot calls all of them int.

    Args:
        tree: A statement whose parts have types; changed.
    """
    for literal in tree.find_all(exp.Literal):
        is_whole = not literal.is_string and literal.name.isdigit()
        if is_whole and int(literal.name) >= _INTS and _signed_least(literal, _INTS) is None:
            literal.type = exp.DataType.build("BIGINT")


def _signed_least(literal: exp.Literal, count: int) -> Expr | None:
    """The least number of a type, with its sign, that a literal is the digits of; ``None`` for others."""
    signed = literal.parent
    is_least = isinstance(signed, exp.Neg) and literal.name.isdigit() and int(literal.name) == count
    return signed if is_least else None


def _as_decimal(literal: exp.Literal, digits: int, scale: int) -> None:
    if digits > MOST_DIGITS:
        raise refused(literal, f"a number of {digits} digits")
    made = exp.cast(literal.copy(), f"DECIMAL({digits}, {scale})")
    made.this.meta[EXACT] = True
    literal.replace(made)
