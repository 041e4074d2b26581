"""Texts of dates and times to values, as Hive reads them; what it cannot read is NULL. Executor side.

Sources: Hive's ``Date.valueOf``, ``Timestamp.valueOf``, ``TimestampTZUtil.parse``, ``TimestampParser`` of 4.0; patterns
are those of ``java.time.format.DateTimeFormatter``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.text_values import real_nulls

__all__ = ["TimestampReader", "parse_dates", "parse_instants", "timestamp_reader"]

_MICROS = pa.timestamp("us")
_DATE_FIELDS = r"(?P<y>-?[0-9]{1,10})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})"
_TIME_FIELDS = r"(?P<h>[0-9]{1,2}):(?P<i>[0-9]{1,2}):(?P<s>[0-9]{1,2})(?:\.(?P<f>[0-9]{1,9}))?"
# What comes behind a day, but for a digit, does not matter.
_DATE = r"(?s)^(?P<y>-?[0-9]{1,4})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})(?:[^0-9].*)?$"
_TIMESTAMP = rf"^{_DATE_FIELDS} {_TIME_FIELDS}$"
# LocalDateTime.parse, which Hive tries last; seconds may be left out.
_ISO = (
    r"^(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})[Tt](?P<h>[0-9]{2}):(?P<i>[0-9]{2})"
    r"(?::(?P<s>[0-9]{2})(?:\.(?P<f>[0-9]{0,9}))?)?$"
)
_WRITTEN_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_WRITTEN_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?$"
_BLANKS = "".join(map(chr, range(0x21)))
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

TimestampReader = Callable[[pa.Array], pa.Array]
"""From strings to ``timestamp[us]``."""


def parse_dates(texts: pa.Array) -> pa.Array:
    """Dates, also with anything behind them; texts of fewer than 8 bytes are none (``LazyUtils.isDateMaybe``)."""
    if _all(pc.match_substring_regex(texts, _WRITTEN_DATE)):
        try:
            return texts.cast(pa.date32())
        except pa.ArrowInvalid:
            pass
    long = real_nulls(texts, pc.greater_equal(pc.binary_length(texts), 8))
    days, good = _days(pc.extract_regex(pc.utf8_trim(long, _BLANKS), _DATE))
    return pa.array(days.astype(np.int32), pa.int32(), mask=~good).view(pa.date32())


def timestamp_reader(formats: Sequence[str] = (), where: str = "the table") -> TimestampReader:
    """The reader of wall-clock times.

    Args:
        formats: Patterns of ``timestamp.formats``; where none fits, Hive's own format is tried.
        where: Names the table for the message.

    Raises:
        NotSupportedError: A letter of a pattern is not understood.
    """
    readers = [_format_reader(text, where) for text in formats]

    def read(texts: pa.Array) -> pa.Array:
        texts = real_nulls(texts, pc.greater_equal(pc.binary_length(texts), 8))
        found = [reader(texts) for reader in readers]
        return pc.coalesce(*found, _parse_timestamps(texts))

    return read if readers else _parse_timestamps


def parse_instants(texts: pa.Array, zone: str) -> pa.Array:
    """Instants: a wall-clock time with a zone behind it, or else in the session's zone. ``timestamp[us, UTC]``."""
    parts = pc.extract_regex(pc.utf8_trim(texts, _BLANKS), r"^(?P<t>[-0-9]+(?: [0-9:]+(?:\.[0-9]*)?)?) ?(?P<z>.*)$")
    wall = _parse_timestamps(pc.struct_field(parts, "t"))
    zones = pc.struct_field(parts, "z")
    result = pa.nulls(len(texts), pa.timestamp("us", "UTC"))
    for name in pc.unique(zones.drop_null()).to_pylist():
        mine = pc.fill_null(pc.equal(zones, name), False)
        result = pc.coalesce(result, _in_zone(real_nulls(wall, mine), name or zone))
    return result


def _parse_timestamps(texts: pa.Array) -> pa.Array:
    if _all(pc.match_substring_regex(texts, _WRITTEN_TIMESTAMP)):
        # Arrow takes no more than six digits of a fraction; the others are cut off.
        try:
            return pc.utf8_slice_codeunits(texts, 0, 26).cast(_MICROS)
        except pa.ArrowInvalid:
            pass
    trimmed = pc.utf8_trim(real_nulls(texts, pc.greater_equal(pc.binary_length(texts), 8)), _BLANKS)
    found = _civil(pc.extract_regex(trimmed, _TIMESTAMP))
    return pc.coalesce(found, _civil(pc.extract_regex(trimmed, _ISO)))


def _in_zone(wall: pa.Array, zone: str) -> pa.Array:
    name = re.sub(r"^(GMT|UTC|UT)(?=[+-])", "", zone)
    name = re.sub(r"^([+-])([0-9]):", r"\g<1>0\2:", name)
    name = re.sub(r"^([+-][0-9]{2})$", r"\1:00", name)
    if name in ("Z", "UTC", "GMT", "UT"):
        return wall.cast(pa.timestamp("us", "UTC"))
    try:
        return pc.assume_timezone(wall, name, ambiguous="earliest").cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:
        return _in_zone_with_gaps(wall, name)


def _in_zone_with_gaps(wall: pa.Array, zone: str) -> pa.Array:
    """As ``ZonedDateTime.of``: a time that a clock skips is read with the offset before the gap."""
    try:
        known = ZoneInfo(zone)
    except (KeyError, OSError, ValueError):
        return pa.nulls(len(wall), pa.timestamp("us", "UTC"))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    instants = [
        None if value is None else (value.replace(tzinfo=known) - epoch) // timedelta(microseconds=1)
        for value in wall.to_pylist()
    ]
    return pa.array(instants, pa.int64()).view(pa.timestamp("us", "UTC"))


def _civil(fields: pa.Array) -> pa.Array:
    """Times of fields that a pattern found: year, month, day and, if there, hour, minute, second, fraction."""
    days, good = _days(fields)
    seconds = np.zeros(len(fields), np.int64)
    for name, bound in (("h", 24), ("i", 60), ("s", 60)):
        numbers, _ = _numbers(fields, name)
        good &= numbers < bound
        seconds = seconds * 60 + numbers
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(_field(fields, "f"), 6, "0"), 0, 6)
    micros = pc.fill_null(real_nulls(fraction, pc.not_equal(fraction, "")), "0").cast(pa.int64()).to_numpy()
    # The year is bounded, so that nothing runs over.
    total = (days * 86400 + seconds) * 1_000_000 + micros
    return pa.array(total, pa.int64(), mask=~good).view(_MICROS)


def _days(fields: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Days since 1970 in the proleptic calendar, and where there is such a day."""
    year, good = _numbers(fields, "y")
    month, _ = _numbers(fields, "m", 1)
    day, _ = _numbers(fields, "d", 1)
    good &= (np.abs(year) < 200_000) & (month >= 1) & (month <= 12) & (day >= 1)
    months = ((np.where(good, year, 1970) - 1970) * 12 + np.where(good, month, 1) - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    good &= days.astype("datetime64[M]") == months
    return days.astype(np.int64), good


def _numbers(fields: pa.Array, name: str, default: int = 0) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    texts = _field(fields, name)
    present = pc.and_(pc.is_valid(texts), pc.not_equal(pc.fill_null(texts, ""), ""))
    numbers = pc.fill_null(real_nulls(texts, present).cast(pa.int64()), default)
    return numbers.to_numpy(zero_copy_only=False), present.to_numpy(zero_copy_only=False).copy()


def _field(fields: pa.Array, name: str) -> pa.Array:
    names = [field.name for field in fields.type]
    return pc.struct_field(fields, name) if name in names else pa.nulls(len(fields), pa.string())


def _format_reader(pattern: str, where: str) -> TimestampReader:
    if pattern == "millis":
        return _parse_millis
    if pattern == "iso8601":
        return lambda texts: _parse_pattern(texts, r"^" + _DATE_FIELDS + "T" + _TIME_FIELDS + "Z$", False)
    regex, month_names = _pattern_regex(pattern, where)
    return lambda texts: _parse_pattern(texts, regex, month_names)


def _parse_millis(texts: pa.Array) -> pa.Array:
    good = real_nulls(texts, pc.match_substring_regex(texts, r"^[+-]?[0-9]{1,15}(\.[0-9]*)?$"))
    millis = pc.replace_substring_regex(good, r"^\+|\.[0-9]*$", "").cast(pa.int64())
    return pc.multiply(millis, 1000).view(_MICROS)


def _parse_pattern(texts: pa.Array, regex: str, month_names: bool) -> pa.Array:
    if month_names:
        for number, name in enumerate(_MONTHS, 1):
            texts = pc.replace_substring(texts, name, f"\x01{number:02}")
    found = _civil(pc.extract_regex(texts, regex))
    # TimestampParser goes through milliseconds.
    return pc.floor_temporal(found, 1, "millisecond")


_LETTERS = {
    "yyyy": "(?P<y>[0-9]{4})",
    "uuuu": "(?P<y>-?[0-9]{4})",
    "MM": "(?P<m>[0-9]{2})",
    "M": "(?P<m>[0-9]{1,2})",
    "MMM": "\x01(?P<m>[0-9]{2})",
    "dd": "(?P<d>[0-9]{2})",
    "d": "(?P<d>[0-9]{1,2})",
    "HH": "(?P<h>[0-9]{2})",
    "H": "(?P<h>[0-9]{1,2})",
    "mm": "(?P<i>[0-9]{2})",
    "m": "(?P<i>[0-9]{1,2})",
    "ss": "(?P<s>[0-9]{2})",
    "s": "(?P<s>[0-9]{1,2})",
}
_PATTERN_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(.)", re.DOTALL)


def _pattern_regex(pattern: str, where: str) -> tuple[str, bool]:
    parts = []
    for match in _PATTERN_TOKEN.finditer(pattern):
        token = match.group()
        if match.group(2) is None:
            literal = (match.group(1) or "").replace("''", "'") or "'" if token.startswith("'") else token
            parts.append(re.escape(literal))
        elif token in _LETTERS:
            parts.append(_LETTERS[token])
        elif set(token) == {"S"} and len(token) <= 9:
            parts.append(f"(?P<f>[0-9]{{{len(token)}}})")
        else:
            raise _unknown_pattern(pattern, token, where)
        if token in "[]{}#":
            raise _unknown_pattern(pattern, token, where)
    names = re.findall(r"\?P<(.)>", "".join(parts))
    if "y" not in names or len(set(names)) < len(names):
        raise _unknown_pattern(pattern, pattern, where)
    return f"^{''.join(parts)}$", "\x01" in "".join(parts)


def _unknown_pattern(pattern: str, token: str, where: str) -> NotSupportedError:
    return NotSupportedError(
        f"{where} has {pattern!r} in timestamp.formats, of which {token!r} is not understood; expected yyyy, MM, dd, "
        "HH, mm, ss, S and literals, or millis, or iso8601: read the column as a string",
        error_codes.HIVE_UNSUPPORTED_FORMAT,
    )


def _all(mask: pa.Array) -> bool:
    return bool(pc.all(mask, min_count=0).as_py())
