"""Casts, with Spark's errors (``spark.sql.ansi.enabled``) where a value does not fit.

Texts of a form that Spark takes and this module does not know are errors here, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakeport.duckdb.functions.function import ERROR

__all__ = ["CAST_MACROS"]

# UTF8String.trimAll.
_BLANK = r"[\x00-\x20\x7f]*"
_WHOLE = rf"{_BLANK}([+-]?[0-9]+){_BLANK}"
_NUMBER = rf"{_BLANK}([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)){_BLANK}"
_DOUBLE = (
    rf"{_BLANK}([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{{1,3}})?|(?i:[+-]?inf|[+-]?infinity|nan)){_BLANK}"
)
# What follows a day is passed over (DateTimeUtils.stringToDate).
_DAY = rf"(?s){_BLANK}([0-9]{{4}})(-([0-9]{{1,2}})(-([0-9]{{1,2}})([ T].*)?)?)?{_BLANK}"
_TIME = (
    rf"{_BLANK}([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})"
    rf"([ T](([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{{1,6}})?)?))?{_BLANK}"
)
# What Spark may take besides.
_MAYBE_NUMBER = rf"(?i){_BLANK}[+-]?[\pN.]+(e[+-]?\pN+)?{_BLANK}"
_MAYBE_DOUBLE = rf"(?i){_BLANK}[+-]?(nan|inf|infinity|0x[0-9a-f.]+p[+-]?[0-9]+|[0-9.]+(e[+-]?[0-9]+)?)[df]?{_BLANK}"
_MAYBE_DAY = rf"(?s){_BLANK}[+-]?[0-9]{{4,7}}(-.*)?{_BLANK}"
_MAYBE_TIME = rf"(?s){_BLANK}([+-]?[0-9]{{4,7}}(-.*)?|T?[0-9]{{1,2}}:.*){_BLANK}"
_TRUE, _FALSE = "('t', 'true', 'y', 'yes', '1')", "('f', 'false', 'n', 'no', '0')"


def _invalid(name: str) -> str:
    return (
        f"error('[CAST_INVALID_INPUT] the text ''' || a || ''' is no {name} that both engines read alike; "
        f"take such rows out, or {ERROR}')"
    )


def _from_text(name: str, pattern: str, value: str) -> str:
    return (
        f"(a) AS CASE WHEN a IS NULL THEN NULL WHEN regexp_full_match(a, '{pattern}') "
        f"THEN coalesce({value}, {_invalid(name)}) ELSE {_invalid(name)} END"
    )


def _tried(name: str, pattern: str, possible: str, value: str) -> str:
    """As ``_from_text``, but NULL for a text that no engine takes."""
    unsure = f"WHEN regexp_full_match(a, '{possible}') THEN {_invalid(name)} " if possible else ""
    return f"(a) AS CASE WHEN regexp_full_match(a, '{pattern}') THEN {value} {unsure}END"


def _part(group: int) -> str:
    return f"coalesce(nullif(regexp_extract(a, '{_DAY}', {group}), ''), '1')"


def _written(kind: str) -> str:
    """Years of four digits are written alike."""
    return (
        f"(a) AS CASE WHEN a < {kind} '0001-01-01' OR a >= {kind} '9999-12-31' + INTERVAL 1 DAY THEN "
        f"error('[UNSUPPORTED_LOCAL_SQL] years of other than four digits are written apart; {ERROR}') "
    )


_VALUES = {
    **{
        name: (_WHOLE, "", f"try_cast(regexp_extract(a, '{_WHOLE}', 1) AS {name})")
        for name in ("TINYINT", "SMALLINT", "INT", "BIGINT")
    },
    "DOUBLE": (_DOUBLE, _MAYBE_DOUBLE, f"try_cast(regexp_extract(a, '{_DOUBLE}', 1) AS DOUBLE)"),
    "DECIMAL": (_NUMBER, _MAYBE_NUMBER, f"regexp_extract(a, '{_NUMBER}', 1)"),
    "DATE": (
        _DAY,
        _MAYBE_DAY,
        f"try_cast(regexp_extract(a, '{_DAY}', 1) || '-' || {_part(3)} || '-' || {_part(5)} AS DATE)",
    ),
    "TIMESTAMP": (
        _TIME,
        _MAYBE_TIME,
        f"try_cast(regexp_extract(a, '{_TIME}', 1) || ' ' || coalesce(nullif(regexp_extract(a, '{_TIME}', 3), ''), "
        "'00:00:00') AS TIMESTAMP)",
    ),
}
"""Forms of texts that both engines read alike, those that Spark may read besides, and the values of the first."""
_NAMES = {"DOUBLE": "double", "DECIMAL": "number", "DATE": "date", "TIMESTAMP": "time"}

CAST_MACROS: Mapping[str, str] = {
    **{
        f"lakeport_text_{_NAMES.get(name, name)}": _from_text(name, pattern, value)
        for name, (pattern, _, value) in _VALUES.items()
    },
    **{
        f"lakeport_try_text_{_NAMES.get(name, name)}": _tried(name, pattern, possible, value)
        for name, (pattern, possible, value) in _VALUES.items()
    },
    **{f"lakeport_double_{name}": f"(a) AS CAST(trunc(a) AS {name})" for name in ("INT", "BIGINT", "SMALLINT")},
    "lakeport_double_TINYINT": "(a) AS CAST(trunc(a) AS TINYINT)",
    "lakeport_text_boolean": (
        f"(a) AS CASE WHEN a IS NULL THEN NULL WHEN lower(trim(a, ' ')) IN {_TRUE} THEN true "
        f"WHEN lower(trim(a, ' ')) IN {_FALSE} THEN false ELSE {_invalid('BOOLEAN')} END"
    ),
    "lakeport_try_text_boolean": (
        f"(a) AS CASE WHEN lower(trim(a, ' ')) IN {_TRUE} THEN true WHEN lower(trim(a, ' ')) IN {_FALSE} THEN false END"
    ),
    # Through its text, which is rounded once; DuckDB divides two doubles.
    "lakeport_decimal_double": "(a) AS CAST(CAST(a AS VARCHAR) AS DOUBLE)",
    "lakeport_double_text_decimal": "(a) AS CAST(a AS VARCHAR)",
    "lakeport_text_instant": "(a) AS timezone('UTC', lakeport_text_time(a))",
    "lakeport_try_text_instant": "(a) AS timezone('UTC', lakeport_try_text_time(a))",
    "lakeport_instant_text": "(a) AS lakeport_time_text(timezone('UTC', a))",
    "lakeport_time_instant": "(a) AS timezone('UTC', CAST(a AS TIMESTAMP))",
    "lakeport_instant_date": "(a) AS CAST(timezone('UTC', a) AS DATE)",
    "lakeport_instant_time": "(a) AS timezone('UTC', a)",
    "lakeport_date_text": f"{_written('DATE')} ELSE CAST(a AS VARCHAR) END",
    "lakeport_time_text": f"{_written('TIMESTAMP')} ELSE CAST(a AS VARCHAR) END",
}
"""Macros of casts; the name of a type of whole numbers is in capitals."""
