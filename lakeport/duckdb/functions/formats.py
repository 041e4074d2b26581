"""Dates and times as texts of a pattern that is written out, and texts as dates.

Of the letters of Java's ``DateTimeFormatter`` those are known that give digits of a fixed number, and English names.
"""

from __future__ import annotations

import re
from functools import partial

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.function import ERROR, Function, Functions
from lakeport.duckdb.refusal import refused

__all__ = ["FORMATS", "FORMAT_MACROS", "READ_FUNCTIONS"]

_WRITTEN = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "yy": "%y", "MMM": "%b",
            "MMMM": "%B", "EEE": "%a", "EEEE": "%A", "E": "%a", "SSS": "%g", "SSSSSS": "%f"}  # fmt: skip
_READ = {"yyyy": "([0-9]{4})", "MM": "([0-9]{2})", "dd": "([0-9]{2})"}
_PART = re.compile(r"'([^']*)'|([A-Za-z])\2*|[-/.:,_ ]")


def _parts(node: exp.Anonymous, pattern: str) -> list[str]:
    found, at = [], 0
    while at < len(pattern):
        part = _PART.match(pattern, at)
        if part is None:
            raise refused(node, f"the pattern '{pattern}' from '{pattern[at:]}' on")
        found.append(part[0])
        at = part.end()
    return found


def _directives(node: exp.Anonymous, pattern: str) -> str:
    written = []
    for part in _parts(node, pattern):
        if part[0].isalpha() and part not in _WRITTEN:
            raise refused(node, f"'{part}' in a pattern, which is none of {', '.join(sorted(_WRITTEN))}")
        plain = part.strip("'") if part[0] == "'" and len(part) > 2 else part
        if plain == "''":
            raise refused(node, "a quote in a pattern")
        written.append(_WRITTEN.get(part, plain.replace("%", "%%")))
    return "".join(written)


def _check_written(node: exp.Anonymous) -> None:
    _directives(node, node.expressions[1].name)


def _as_written(node: exp.Anonymous) -> Expr:
    value, pattern = node.expressions
    return exp.Anonymous(
        this="lakeport_written", expressions=[value, exp.Literal.string(_directives(node, pattern.name))]
    )


def _check_read(node: exp.Anonymous) -> None:
    letters = [part for part in _parts(node, node.expressions[1].name) if part[0].isalpha() or part[0] == "'"]
    if sorted(letters) != sorted(_READ):
        raise refused(node, "a pattern that has not yyyy, MM and dd, each once and no other letter")


def _as_read(node: exp.Anonymous, macro: str) -> Expr:
    value, pattern = node.expressions
    parts = _parts(node, pattern.name)
    letters = [part for part in parts if part in _READ]
    regex = "".join(_READ.get(part, re.escape(part)) for part in parts)
    groups = [exp.Literal.number(letters.index(part) + 1) for part in ("yyyy", "MM", "dd")]
    return exp.Anonymous(this=macro, expressions=[value, exp.Literal.string(regex), *groups])


_GROUPS = ", ".join(f"CAST(regexp_extract(a, b, {group}) AS INT)" for group in "cde")
FORMAT_MACROS = {
    "lakeport_written": (
        "(a, b) AS CASE WHEN a < TIMESTAMP '0001-01-01' OR a >= TIMESTAMP '10000-01-01' THEN "
        f"error('[UNSUPPORTED_LOCAL_SQL] years of other than four digits are written apart; {ERROR}') "
        "ELSE strftime(a, b) END"
    ),
    "lakeport_read": (
        f"(a, b, c, d, e) AS CASE WHEN a IS NULL THEN NULL WHEN regexp_full_match(a, b) THEN make_date({_GROUPS}) "
        "ELSE error('[CANNOT_PARSE_TIMESTAMP] the text ''' || a || ''' has not the form of the pattern') END"
    ),
    "lakeport_read_instant": "(a, b, c, d, e) AS timezone('UTC', CAST(lakeport_read(a, b, c, d, e) AS TIMESTAMP))",
}
"""Macros of these functions."""

FORMATS: Functions = {
    "date_format": (Function("TS", "VARCHAR", check=_check_written, rewrite=_as_written),),
    "from_unixtime": (
        Function("i", "VARCHAR", "lakeport_written(make_timestamp(CAST(a AS BIGINT) * 1000000), "
                 "'%Y-%m-%d %H:%M:%S')"),
    ),
}  # fmt: skip
"""Functions that write dates and times."""
READ_FUNCTIONS: Functions = {
    "to_date": (Function("sS", "DATE", check=_check_read, rewrite=partial(_as_read, macro="lakeport_read")),),
    "to_timestamp": (
        Function("sS", "TIMESTAMPTZ", check=_check_read, rewrite=partial(_as_read, macro="lakeport_read_instant")),
    ),
}
"""Functions that read dates by a pattern."""
