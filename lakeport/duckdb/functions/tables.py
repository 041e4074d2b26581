"""All functions, and the macros of DuckDB that they are."""

from __future__ import annotations

from collections.abc import Mapping

from lakeport.duckdb.functions.arrays import ARRAYS
from lakeport.duckdb.functions.casts import CAST_MACROS
from lakeport.duckdb.functions.days import DAYS
from lakeport.duckdb.functions.formats import FORMAT_MACROS, FORMATS, READ_FUNCTIONS
from lakeport.duckdb.functions.function import Functions
from lakeport.duckdb.functions.numbers import NUMBER_FUNCTIONS
from lakeport.duckdb.functions.patterns import PATTERNS
from lakeport.duckdb.functions.texts import TEXT_FUNCTIONS
from lakeport.duckdb.macros import BASE_MACROS

__all__ = ["FUNCTIONS_BY_NAME", "MACROS", "macro_name"]

_TABLES: tuple[Functions, ...] = (
    TEXT_FUNCTIONS, NUMBER_FUNCTIONS, DAYS, FORMATS, ARRAYS, PATTERNS, READ_FUNCTIONS
)  # fmt: skip
FUNCTIONS_BY_NAME: Functions = {
    name: tuple(way for table in _TABLES for way in table.get(name, ()))
    for name in sorted({name for table in _TABLES for name in table})
}
"""Ways to call functions, by their names in lower case."""


def macro_name(name: str, way: int) -> str:
    """The macro of a way to call a function."""
    return f"lakeport_{name}_{way}"


def _parameters(count: int) -> str:
    return ", ".join("abcdefgh"[:count])


MACROS: Mapping[str, str] = {
    **BASE_MACROS,
    **CAST_MACROS,
    **FORMAT_MACROS,
    **{
        macro_name(name, way): f"({_parameters(len(function.takes))}) AS {function.text}"
        for name, ways in FUNCTIONS_BY_NAME.items()
        for way, function in enumerate(ways)
        if function.text
    },
}
"""Parameters and text of each macro, by its name."""
