"""Dates and times of Trino.

A ``timestamp`` of Trino has no zone: Spark's TIMESTAMP_NTZ. Many of Spark's functions of times return times of the
session's zone, where some local times do not exist; they are not used.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import call, cast, integer, text, when
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.types import Kind, kind_of

__all__ = ["DATE_NAMES", "DATE_RULES"]

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_DAYS = {"DAY": 1, "WEEK": 7}
_MILLIS = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 604_800_000,
}
_TIMES = (Kind.TIMESTAMP, Kind.ZONED)
_TOKEN = re.compile(r"%-?[A-Za-z%]|[^%]")
# Letters of Python, in which sqlglot keeps patterns, in Java's.
_JAVA = {
    "%Y": "yyyy", "%y": "yy", "%m": "MM", "%-m": "M", "%b": "MMM", "%B": "MMMM", "%d": "dd", "%-d": "d", "%a": "EEE",
    "%A": "EEEE", "%W": "EEEE", "%j": "DDD", "%H": "HH", "%-H": "H", "%I": "hh", "%-I": "h", "%M": "mm", "%S": "ss",
    "%p": "a", "%T": "HH:mm:ss", "%r": "hh:mm:ss a", "%%": "'%'",
}  # fmt: skip
_NUMBERS = {"%Y": "y", "%m": "M", "%d": "d", "%H": "H", "%M": "m", "%S": "s", "%T": "H:m:s"}
_CLOCK = ("HH", "H", "hh", "h", "mm", "ss", "a")
_JODA = re.compile(r"(?:yyyy|MM|dd|HH|mm|ss|[-/:. ])*")
_UNITS = {
    "YEAR": "YEAR", "QUARTER": "QUARTER", "MONTH": "MONTH", "WEEK": "WEEKOFYEAR", "DAY": "DAY", "DAY_OF_MONTH": "DAY",
    "DOY": "DAYOFYEAR", "DAY_OF_YEAR": "DAYOFYEAR", "HOUR": "HOUR", "MINUTE": "MINUTE", "SECOND": "SECOND",
}  # fmt: skip


def _local(value: Expr) -> Expr:
    return value.copy() if kind_of(value) is Kind.DATE else cast(value, "TIMESTAMP_NTZ")


def _kind(node: Expr, value: Expr) -> Kind:
    kind = kind_of(value)
    if kind is not Kind.DATE and kind not in _TIMES:
        raise UntranslatableError(node, "the type is not known here", "cast the value to DATE or TIMESTAMP")
    return kind


def _unit(node: Expr, units: dict[str, int]) -> str:
    given = node.args.get("unit")
    unit = given.name.upper() if given is not None else "DAY"
    if unit not in units:
        raise UntranslatableError(node, f"the unit {unit} is not translated here", f"use {', '.join(units)}")
    return unit


def _date_add(node: Expr) -> Expr:
    kind = _kind(node, node.this)
    if kind is Kind.ZONED:
        raise UntranslatableError(node, "Spark adds days of the session's zone", "cast the value to TIMESTAMP")
    # The result of milliseconds depends on the precision of the timestamp.
    times = {} if kind is Kind.DATE else {one: size for one, size in _MILLIS.items() if one != "MILLISECOND"}
    unit = _unit(node, {**_MONTHS, **_DAYS, **times})
    amount = exp.Paren(this=node.args["expression"].copy())
    if unit in _MONTHS:
        months = _whole(amount, _MONTHS[unit])
        if kind is Kind.DATE:
            return call("ADD_MONTHS", node.this, months)
        return exp.Paren(this=exp.Add(this=_local(node.this), expression=call("MAKE_YM_INTERVAL", integer(0), months)))
    if kind is Kind.DATE:
        return call("DATE_ADD", node.this, _whole(amount, _DAYS[unit]))
    zero = integer(0)
    if unit in _DAYS:
        interval = call("MAKE_DT_INTERVAL", _whole(amount, _DAYS[unit]))
    else:
        millis = exp.Mul(this=amount, expression=cast(text(f"{_MILLIS[unit] / 1000:.3f}"), "DECIMAL(7, 3)"))
        interval = call("MAKE_DT_INTERVAL", zero, zero, zero, cast(millis, "DECIMAL(18, 6)"))
    return exp.Paren(this=exp.Add(this=_local(node.this), expression=interval))


def _whole(amount: Expr, factor: int) -> Expr:
    return cast(amount if factor == 1 else exp.Mul(this=amount, expression=integer(factor)), "INT")


def _date_diff(node: Expr) -> Expr:
    """Whole units between two values, rounded to zero."""
    start, end = node.args["expression"], node.this
    kinds = {_kind(node, start), _kind(node, end)}
    if len(kinds) != 1:
        raise UntranslatableError(node, "both sides are to be of one type", "cast both sides to DATE or TIMESTAMP")
    is_date = kinds == {Kind.DATE}
    unit = _unit(node, {**_MONTHS, **(_DAYS if is_date else _MILLIS)})
    start, end = _local(start), _local(end)
    if unit in _MONTHS:
        later = exp.Neg(this=exp.Paren(this=_months(end, start, is_date)))
        months = when(exp.LTE(this=start, expression=end), _months(start, end, is_date), later)
        whole: Expr = exp.IntDiv(this=months, expression=integer(_MONTHS[unit]))
    elif is_date:
        whole = exp.IntDiv(this=call("DATEDIFF", end, start), expression=integer(_DAYS[unit]))
    else:
        whole = exp.IntDiv(
            this=exp.Paren(this=exp.Sub(this=_millis(end), expression=_millis(start))),
            expression=integer(_MILLIS[unit]),
        )
    return cast(whole, "BIGINT")


def _millis(value: Expr) -> Expr:
    """Milliseconds since 1970, as if in UTC, rounded down."""
    begin = cast(text("1970-01-01 00:00:00"), "TIMESTAMP_NTZ")
    since = cast(exp.Paren(this=exp.Sub(this=value.copy(), expression=begin)), "INTERVAL SECOND")
    return cast(call("FLOOR", exp.Mul(this=cast(since, "DECIMAL(20, 6)"), expression=integer(1000))), "BIGINT")


def _months(start: Expr, end: Expr, is_date: bool) -> Expr:
    """Whole months from a start to an end that is not before it; a day beyond the month's last is its last."""
    years = exp.Mul(
        this=exp.Paren(this=exp.Sub(this=call("YEAR", end), expression=call("YEAR", start))), expression=integer(12)
    )
    months = exp.Sub(this=exp.Add(this=years, expression=call("MONTH", end)), expression=call("MONTH", start))
    moved = (
        call("ADD_MONTHS", start, months)
        if is_date
        else exp.Add(this=start.copy(), expression=call("MAKE_YM_INTERVAL", integer(0), months))
    )
    past = when(exp.GT(this=moved, expression=end.copy()), integer(1), integer(0))
    return exp.Sub(this=months.copy(), expression=past)


def _date_trunc(node: Expr) -> Expr:
    kind = _kind(node, node.this)
    units = {**_MONTHS, **_DAYS, **({} if kind is Kind.DATE else {"HOUR": 3, "MINUTE": 2, "SECOND": 1})}
    unit = _unit(node, units)
    value = _local(node.this)
    if unit in ("HOUR", "MINUTE", "SECOND"):
        names = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
        parts = [call(name, value) if name in names[: names.index(unit) + 1] else integer(0) for name in names]
        return call("MAKE_TIMESTAMP_NTZ", *parts)
    day = cast(value, "DATE")
    start = day if unit == "DAY" else call("TRUNC", day, text(unit))
    return start if kind is Kind.DATE else cast(start, "TIMESTAMP_NTZ")


def _date_format(node: Expr) -> Expr:
    pattern = node.args.get("format")
    if pattern is None or not pattern.is_string:
        raise UntranslatableError(node, "the pattern is not a literal", "")
    _kind(node, node.this)
    return _formatted(node.this, _java_pattern(node, pattern.name, _JAVA))


def _date_parse(node: Expr) -> Expr:
    """Numbers may have fewer digits, as in Trino, unless they follow one another."""
    pattern = node.args.get("format")
    if pattern is None or not pattern.is_string or kind_of(node.this) is not Kind.TEXT:
        raise UntranslatableError(node, "the pattern is not a literal, or the value not known to be text", "")
    adjoining = re.search(r"%[A-Za-z]%", pattern.name) is not None
    letters = {one: _JAVA[one] if adjoining else ours for one, ours in _NUMBERS.items()}
    parts = _java_pattern(node, pattern.name, letters)
    if parts[:1] != ["yyyy" if adjoining else "y"]:
        raise UntranslatableError(node, "the pattern does not begin with %Y", "")
    return call("TO_TIMESTAMP_NTZ", node.this, text("".join(parts)))


def _java_pattern(node: Expr, pattern: str, letters: dict[str, str]) -> list[str]:
    parts = _TOKEN.findall(pattern)
    for part in parts:
        if len(part) > 1 and part not in letters:
            raise UntranslatableError(node, f"the pattern holds more than {' '.join(_mysql(letters))}", "")
    if "".join(parts) != pattern or any(part in "'[]{}#" for part in parts):
        raise UntranslatableError(node, "the pattern holds a character that means something in Spark", "")
    words = [letters[part] if len(part) > 1 else f"'{part}'" if part.isalpha() else part for part in parts]
    return [one for word in words for one in (re.findall(r"[A-Za-z]+|[^A-Za-z]", word) if ":" in word else [word])]


def _mysql(letters: dict[str, str]) -> list[str]:
    """The letters as Trino has them."""
    theirs = {"%M": "%i", "%S": "%s", "%B": "%M", "%A": "%W", "%-m": "%c", "%-d": "%e", "%-H": "%k", "%-I": "%l"}
    return sorted({theirs.get(one, one) for one in letters})


def _format_datetime(node: Expr) -> Expr:
    value, pattern = node.expressions
    _kind(node, value)
    if not pattern.is_string or not _JODA.fullmatch(pattern.name):
        raise UntranslatableError(node, "the pattern holds more than yyyy MM dd HH mm ss and - / : .", "")
    return _formatted(value, re.findall(r"([A-Za-z]+|[^A-Za-z])", pattern.name))


def _formatted(value: Expr, parts: list[str]) -> Expr:
    """The date as Spark formats it, and the time from its numbers: Spark would move it into the session's zone."""
    local = cast(value, "TIMESTAMP_NTZ")
    made: list[Expr] = []
    dates = ""
    for part in [*parts, ""]:
        if part and part not in _CLOCK:
            dates += part
            continue
        if dates:
            is_plain = made and not any(one.isalpha() for one in dates)
            plain = text(dates.replace("'", ""))
            made.append(plain if is_plain else call("DATE_FORMAT", cast(local, "DATE"), text(dates)))
        made += [_clock(local, part)] if part else []
        dates = ""
    return call("CONCAT", *made)


def _clock(value: Expr, letters: str) -> Expr:
    hour = call("HOUR", value)
    if letters == "a":
        return when(exp.LT(this=hour, expression=integer(12)), text("AM"), text("PM"))
    half = exp.Mod(this=exp.Paren(this=exp.Add(this=hour, expression=integer(11))), expression=integer(12))
    numbers = {
        "H": hour, "h": exp.Paren(this=exp.Add(this=half, expression=integer(1))), "m": call("MINUTE", value),
        "s": call("SECOND", value),
    }  # fmt: skip
    number = cast(numbers[letters[0]], "STRING")
    return call("LPAD", number, integer(2), text("0")) if len(letters) == 2 else number


def _day_of_week(node: Expr) -> Expr:
    """1 is Monday; Spark's WEEKDAY counts from 0."""
    return exp.Paren(this=exp.Add(this=call("WEEKDAY", node.this), expression=integer(1)))


def _extract(node: Expr) -> Expr:
    unit, value = node.this.name.upper(), node.args["expression"]
    if unit in ("DOW", "DAY_OF_WEEK"):
        return exp.Paren(this=exp.Add(this=call("WEEKDAY", value), expression=integer(1)))
    if unit in ("YOW", "YEAR_OF_WEEK"):
        return exp.Extract(this=exp.var("YEAROFWEEK"), expression=value.copy())
    if unit not in _UNITS:
        raise UntranslatableError(node, f"{unit} of a time is another number in Spark", "")
    return call(_UNITS[unit], value)


def _year_of_week(node: Expr) -> Expr:
    return exp.Extract(this=exp.var("YEAROFWEEK"), expression=node.this.copy())


def _millisecond(node: Expr) -> Expr:
    (value,) = node.expressions
    if _kind(node, value) is Kind.DATE:
        raise UntranslatableError(node, "a date has no milliseconds", "")
    return cast(exp.Paren(this=exp.Mod(this=_millis(_local(value)), expression=integer(1000))), "BIGINT")


def _now(node: Expr) -> Expr:
    """Trino's has milliseconds."""
    if node.this is not None and node.this.name not in ("", "3"):
        raise UntranslatableError(node, "only the precision 3 is translated", "write current_timestamp")
    return call("TIMESTAMP_MILLIS", call("UNIX_MILLIS", call("CURRENT_TIMESTAMP")))


def _from_unixtime(node: Expr) -> Expr:
    if any(node.args.get(key) for key in ("scale", "zone", "hours", "minutes", "format")):
        raise UntranslatableError(node, "from_unixtime with a zone is not translated", "")
    if kind_of(node.this) is Kind.INTEGER:
        return call("TIMESTAMP_SECONDS", node.this)
    if kind_of(node.this) not in (Kind.FLOAT, Kind.DECIMAL):
        raise UntranslatableError(node, "the type is not known here", "cast the value to DOUBLE")
    scaled = exp.Mul(this=exp.Paren(this=node.this.copy()), expression=integer(1000))
    return call("TIMESTAMP_MILLIS", cast(call("ROUND", scaled), "BIGINT"))


def _to_unixtime(node: Expr) -> Expr:
    kind = _kind(node, node.this)
    if kind is Kind.DATE:
        raise UntranslatableError(node, "a date is not a time", "cast the value to TIMESTAMP")
    if kind is Kind.ZONED:
        return exp.Paren(this=exp.Div(this=call("UNIX_MICROS", node.this), expression=exp.Literal.number("1e6")))
    begin = cast(text("1970-01-01 00:00:00"), "TIMESTAMP_NTZ")
    since = cast(exp.Paren(this=exp.Sub(this=_local(node.this), expression=begin)), "INTERVAL SECOND")
    return cast(cast(since, "DECIMAL(20, 6)"), "DOUBLE")


def _last_day(node: Expr) -> Expr:
    if kind_of(node.this) is not Kind.DATE:
        raise UntranslatableError(node, "it is translated for dates only", "cast the value to DATE")
    return call("LAST_DAY", node.this)


def _from_iso8601_date(node: Expr) -> Expr:
    return cast(node.this, "DATE")


def _to_iso8601(node: Expr) -> Expr:
    if kind_of(node.expressions[0]) is not Kind.DATE:
        raise UntranslatableError(node, "it is translated for dates only", "use date_format")
    return cast(node.expressions[0], "STRING")


DATE_RULES: dict[str, Rule] = {
    "CurrentTimestamp": _now,
    "DateAdd": _date_add,
    "DateDiff": _date_diff,
    "DateTrunc": _date_trunc,
    "DayOfWeekIso": _day_of_week,
    "Extract": _extract,
    "FromISO8601Date": _from_iso8601_date,
    "LastDay": _last_day,
    "StrToTime": _date_parse,
    "TimeToStr": _date_format,
    "TimeToUnix": _to_unixtime,
    "TimestampTrunc": _date_trunc,
    "UnixToTime": _from_unixtime,
    "YearOfWeek": _year_of_week,
}
"""By the names of sqlglot's classes."""

DATE_NAMES: dict[str, Rule] = {
    "FORMAT_DATETIME": _format_datetime,
    "MILLISECOND": _millisecond,
    "TO_ISO8601": _to_iso8601,
}
"""Functions without a class in sqlglot."""
