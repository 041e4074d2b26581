"""What a function of Spark is to DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.kinds import Kind

__all__ = ["ERROR", "LETTERS", "Function", "Functions", "ResultType", "error_text"]

ResultType: TypeAlias = str | Callable[[Sequence[Expr]], exp.DataType]
"""A type by its name, or by the arguments."""

LETTERS: Mapping[str, frozenset[Kind]] = {
    "s": frozenset({Kind.TEXT}),
    "i": frozenset({Kind.INTEGER}),
    "m": frozenset({Kind.DECIMAL}),
    "F": frozenset({Kind.FLOAT}),
    "f": frozenset({Kind.DOUBLE, Kind.FLOAT}),
    "d": frozenset({Kind.DOUBLE, Kind.FLOAT, Kind.INTEGER, Kind.DECIMAL}),
    "D": frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.INSTANT, Kind.TEXT}),
    "T": frozenset({Kind.TIMESTAMP, Kind.INSTANT, Kind.DATE}),
    "b": frozenset({Kind.BOOLEAN}),
    "x": frozenset({Kind.BINARY}),
    "*": frozenset(Kind) - {Kind.OTHER},
}
"""Kinds that an argument may have: a text, a whole number, a decimal, a float, a float or a double, a number that
becomes a double, what becomes a date, what becomes a time, a boolean, bytes, or any value that is not nested.

Besides these, ``S`` is a text that is written out, ``I`` such a whole number, ``A`` an array and ``M`` a map.
"""

ERROR = "use the engine spark for it"


@dataclass(frozen=True, slots=True)
class Function:
    """A way to call a function.

    Attributes:
        takes: A letter for each argument.
        gives: Spark's type of the result.
        text: DuckDB's SQL, of the arguments ``a``, ``b``, ``c`` and ``d``. Other macros may be named.
        check: Refuses arguments that are of the right kinds, and yet not understood; gets the call.
        rewrite: Makes DuckDB's expression of the rewritten arguments, where ``text`` cannot.
    """

    takes: str
    gives: ResultType
    text: str = ""
    check: Callable[[exp.Anonymous], None] | None = None
    rewrite: Callable[[exp.Anonymous], Expr] | None = None


Functions: TypeAlias = Mapping[str, tuple[Function, ...]]
"""Ways to call functions, by their names in lower case."""


def error_text(code: str, message: str) -> str:
    """DuckDB's SQL of an error while a query runs; quotes in the message are doubled."""
    escaped = message.replace("'", "''")
    return f"error('[{code}] {escaped}')"
