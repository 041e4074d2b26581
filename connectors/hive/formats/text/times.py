"""Texts of dates and times to values, as Hive reads them; what it cannot read is NULL. Executor side.

Sources: Hive's ``Date.valueOf``, ``Timestamp.valueOf``, ``TimestampParser`` of 4.0; patterns are those of
``java.time.format.DateTimeFormatter``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.text.civil_times import civil_days, civil_times
from connectors.hive.formats.text.patterns import time_pattern
from connectors.hive.formats.text.values import real_nulls
from connectors.hive.formats.text.zones import in_zones

__all__ = ["TimestampReader", "parse_dates", "timestamp_reader"]

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
    days, good = civil_days(pc.extract_regex(pc.utf8_trim(long, _BLANKS), _DATE))
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


def _format_reader(pattern: str, where: str) -> TimestampReader:
    if pattern == _MILLIS:
        return _parse_millis
    if pattern == "iso8601":
        read = _parse_iso_instants
    else:
        known = time_pattern(pattern, where)

        def read(texts: pa.Array) -> pa.Array:
            wall, zones = known.read(texts)
            # A day alone is no instant, so that its zone does not matter.
            return in_zones(wall, zones, "UTC").cast(_MICROS) if known.zoned and known.timed else wall

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


def _all(mask: pa.Array) -> bool:
    return bool(pc.all(mask, min_count=0).as_py())
