"""Dates and times as texts of a pattern that is written out, and texts as dates.

Of the letters of Java's ``DateTimeFormatter`` those are known that give digits of a fixed number, and English names.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.functions.function import ERROR, Function, Functions
from lakeport.duckdb.refusal import refused

__all__ = ["FORMATS", "FORMAT_MACROS", "READ_FUNCTIONS"]

_WRITTEN = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "yy": "%y", "MMM": "%b",
            "MMMM": "%B", "EEE": "%a", "EEEE": "%A", "E": "%a", "SSS": "%g", "SSSSSS": "%f",
            "M": "%-m", "d": "%-d", "H": "%-H", "m": "%-M", "s": "%-S"}  # fmt: skip
_READ = {"yyyy": "([0-9]{4})", "MM": "([0-9]{2})", "dd": "([0-9]{2})"}
# Of one letter Java reads any number of digits.
_READ_TIMES = {
    **_READ, "y": "([0-9]{4})", "M": "([0-9]{1,2})", "d": "([0-9]{1,2})", "HH": "([01][0-9]|2[0-3])",
    "H": "([01]?[0-9]|2[0-3])", "mm": "([0-5][0-9])", "m": "([0-5]?[0-9])", "ss": "([0-5][0-9])", "s": "([0-5]?[0-9])",
}  # fmt: skip
_ORDER = "yMdHms"
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


def _check_read_time(node: exp.Anonymous) -> None:
    parts = _parts(node, node.expressions[1].name)
    letters = [part for part in parts if part[0].isalpha() or part[0] == "'"]
    first = [part[0] for part in letters]
    if any(part not in _READ_TIMES for part in letters) or len(set(first)) < len(first) or not {*"yMd"} <= {*first}:
        raise refused(node, f"a pattern that has not a year, month and day, or others than {', '.join(_READ_TIMES)}")
    if any(len(part) == 1 and part.isalpha() and other[0].isalpha() for part, other in pairwise(parts)):
        raise refused(node, "a letter for digits of any number that stands before others")


def _as_read_time(node: exp.Anonymous) -> Expr:
    """Parts that the pattern lacks are 0."""
    value, pattern = node.expressions
    parts = _parts(node, pattern.name)
    regex = "".join(_READ_TIMES.get(part, re.escape(part)) for part in parts)
    letters = [part[0] for part in parts if part in _READ_TIMES]
    groups = [exp.Literal.number(letters.index(letter) + 1 if letter in letters else 0) for letter in _ORDER]
    return exp.Anonymous(this="lakeport_read_time", expressions=[value, exp.Literal.string(regex), *groups])


_TIME_GROUPS = ", ".join(
    f"CASE WHEN {group} = 0 THEN 0 ELSE CAST(regexp_extract(a, b, {group}) AS INT) END" for group in "cdefgh"
)
_NOT_READ = "error('[CANNOT_PARSE_TIMESTAMP] the text ''' || a || ''' has not the form of the pattern')"
_GROUPS = ", ".join(f"CAST(regexp_extract(a, b, {group}) AS INT)" for group in "cde")
FORMAT_MACROS = {
    "lakeport_written": (
        "(a, b) AS CASE WHEN a < TIMESTAMP '0001-01-01' OR a >= TIMESTAMP '10000-01-01' THEN "
        f"error('[UNSUPPORTED_LOCAL_SQL] years of other than four digits are written apart; {ERROR}') "
        "ELSE strftime(a, b) END"
    ),
    "lakeport_read": (
        f"(a, b, c, d, e) AS CASE WHEN a IS NULL THEN NULL WHEN regexp_full_match(a, b) THEN make_date({_GROUPS}) "
        f"ELSE {_NOT_READ} END"
    ),
    "lakeport_read_time": (
        "(a, b, c, d, e, f, g, h) AS CASE WHEN a IS NULL THEN NULL WHEN regexp_full_match(a, b) THEN "
        f"make_timestamp({_TIME_GROUPS}) ELSE {_NOT_READ} END"
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
    "to_timestamp_ntz": (Function("sS", "TIMESTAMPNTZ", check=_check_read_time, rewrite=_as_read_time),),
}
"""Functions that read dates by a pattern."""
