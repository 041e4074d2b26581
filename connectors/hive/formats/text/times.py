"""Texts of dates and times to values, as Hive reads them; what it cannot read is NULL. Executor side.

Sources: Hive's ``Date.valueOf``, ``Timestamp.valueOf``, ``TimestampParser`` of 4.0; patterns are those of
``java.time.format.DateTimeFormatter``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.text.values import real_nulls

__all__ = ["TimestampReader", "civil_times", "parse_dates", "pattern_reader", "timestamp_reader"]

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
_ISO_INSTANT = (
    r"^(?P<y>-?[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})[Tt](?P<h>[0-9]{2}):(?P<i>[0-9]{2}):(?P<s>[0-9]{2})"
    r"(?:\.(?P<f>[0-9]{0,9}))?(?P<z>[Zz]|[+-][0-9]{2}:[0-9]{2})$"
)
_EXPONENT = r"^[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})[eE][+-]?[0-9]{1,2}$"
_WRITTEN_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_WRITTEN_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?$"
_BLANKS = "".join(map(chr, range(0x21)))
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

_MILLIS, _SHORTEST = "millis", 8

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


def timestamp_reader(
    formats: Sequence[str] = (), where: str = "the table", shortest: int = _SHORTEST
) -> TimestampReader:
    """The reader of wall-clock times.

    Args:
        formats: Patterns of ``timestamp.formats``; where none fits, Hive's own format is tried.
        where: Names the table for the message.
        shortest: Texts of fewer bytes are none; 0 where the SerDe does not ask ``LazyUtils.isDateMaybe``.

    Raises:
        NotSupportedError: A letter of a pattern is not understood.
    """
    # Hive asks for milliseconds first.
    readers = [_format_reader(text, where) for text in sorted(formats, key=lambda text: text != _MILLIS)]

    def read(texts: pa.Array) -> pa.Array:
        texts = real_nulls(texts, pc.greater_equal(pc.binary_length(texts), shortest))
        found = [reader(texts) for reader in readers]
        return pc.coalesce(*found, _parse_timestamps(texts))

    return read if readers else _parse_timestamps


def pattern_reader(pattern: str, where: str) -> TimestampReader:
    """The reader of times in one pattern; a text that does not fit is NULL.

    Raises:
        NotSupportedError: A letter of the pattern is not understood.
    """
    regex, month_names = _pattern_regex(pattern, where)

    def read(texts: pa.Array) -> pa.Array:
        if month_names:
            for number, name in enumerate(_MONTHS, 1):
                texts = pc.replace_substring(texts, name, f"\x01{number:02}")
        return civil_times(pc.extract_regex(texts, regex), smart=True)

    return read


def civil_times(fields: pa.Array, *, smart: bool = False) -> pa.Array:
    """Times of fields that a pattern found: ``y``, ``m``, ``d`` and, if there, ``h``, ``i``, ``s``, ``f`` (a fraction).

    Args:
        fields: Structs of texts.
        smart: As Java's ``ResolverStyle.SMART``: 31 February is its last day, and 24:00 the next day.
    """
    days, good = _days(fields, smart)
    hours, _ = _numbers(fields, "h")
    minutes, _ = _numbers(fields, "i")
    seconds, _ = _numbers(fields, "s")
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(_field(fields, "f"), 6, "0"), 0, 6)
    micros = pc.fill_null(real_nulls(fraction, pc.not_equal(fraction, "")), "0").cast(pa.int64()).to_numpy()
    midnight = (hours == 24) & (minutes == 0) & (seconds == 0) & (micros == 0) & smart
    good &= ((hours < 24) | midnight) & (minutes < 60) & (seconds < 60)
    # The year is bounded, so that nothing runs over.
    total = (days * 86400 + (hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros
    return pa.array(total, pa.int64(), mask=~good).view(_MICROS)


def _parse_timestamps(texts: pa.Array) -> pa.Array:
    if _all(pc.match_substring_regex(texts, _WRITTEN_TIMESTAMP)):
        # Arrow takes no more than six digits of a fraction; the others are cut off.
        try:
            return pc.utf8_slice_codeunits(texts, 0, 26).cast(_MICROS)
        except pa.ArrowInvalid:
            pass
    trimmed = pc.utf8_trim(real_nulls(texts, pc.greater_equal(pc.binary_length(texts), 8)), _BLANKS)
    found = civil_times(pc.extract_regex(trimmed, _TIMESTAMP))
    return pc.coalesce(found, civil_times(pc.extract_regex(trimmed, _ISO)))


def _days(fields: pa.Array, smart: bool = False) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Days since 1970 in the proleptic calendar, and where there is such a day."""
    year, good = _numbers(fields, "y")
    month, _ = _numbers(fields, "m", 1)
    day, _ = _numbers(fields, "d", 1)
    good &= (np.abs(year) < 200_000) & (month >= 1) & (month <= 12) & (day >= 1)
    months = ((np.where(good, year, 1970) - 1970) * 12 + np.where(good, month, 1) - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    inside = days.astype("datetime64[M]") == months
    if smart:
        last = (months + 1).astype("datetime64[D]") - 1
        days, inside = np.where(inside | (day > 31), days, last), inside | (day <= 31)
    good &= inside
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
    if pattern == _MILLIS:
        return _parse_millis
    read = _parse_iso_instants if pattern == "iso8601" else pattern_reader(pattern, where)
    # TimestampParser goes through milliseconds.
    return lambda texts: pc.floor_temporal(read(texts), 1, "millisecond")


def _parse_millis(texts: pa.Array) -> pa.Array:
    """Numbers as ``BigDecimal`` takes them, without what is behind the point."""
    good = real_nulls(texts, pc.match_substring_regex(texts, r"^[+-]?([0-9]{1,15}(\.[0-9]*)?|\.[0-9]+)$"))
    whole = pc.replace_substring_regex(good, r"^\+|\.[0-9]*$", "")
    whole = pc.replace_substring_regex(whole, r"^-?$", "0")
    found = pc.multiply(whole.cast(pa.int64()), 1000).view(_MICROS)
    odd = real_nulls(texts, pc.match_substring_regex(texts, _EXPONENT))
    if odd.null_count == len(odd):
        return found
    values = [None if text is None else int(Decimal(text)) * 1000 for text in odd.to_pylist()]
    bounded = [None if value is None or abs(value) >= 1 << 63 else value for value in values]
    return pc.coalesce(found, pa.array(bounded, pa.int64()).view(_MICROS))


def _parse_iso_instants(texts: pa.Array) -> pa.Array:
    """``DateTimeFormatter.ISO_INSTANT``; the wall-clock time of UTC."""
    fields = pc.extract_regex(texts, _ISO_INSTANT)
    shift = pc.struct_field(fields, "z")
    seconds = pc.cast(pc.add(_digits(shift, 1), _digits(shift, 4)), pa.int64())
    back = pc.multiply(pc.if_else(pc.starts_with(shift, "-"), seconds, pc.negate(seconds)), 1_000_000)
    return pc.add(civil_times(fields), back.view(pa.duration("us")))


def _digits(offsets: pa.Array, at: int) -> pa.Array:
    """Seconds of the hours (at 1) or minutes (at 4) of texts such as ``+01:30``; 0 of others."""
    text = pc.utf8_slice_codeunits(offsets, at, at + 2)
    number = pc.fill_null(real_nulls(text, pc.match_substring_regex(text, "^[0-9]{2}$")), "0").cast(pa.int64())
    return pc.multiply(number, 3600 if at == 1 else 60)


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
