"""Texts of ``timestamp with local time zone``, as Hive reads them; what it cannot read is NULL. Executor side.

Sources: Hive's ``TimestampParser``, ``TimestampTZUtil.parse`` and ``LazyTimestampLocalTZ`` of 4.0, and
``appendZoneOrOffsetId`` of ``java.time.format.DateTimeFormatterBuilder``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.text.times import civil_times, pattern_reader
from connectors.hive.formats.text.values import real_nulls

__all__ = ["InstantReader", "instant_reader"]

_INSTANTS = pa.timestamp("us", "UTC")
_TEXT = (
    r"^(?P<y>-?[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"
    r"(?: (?P<h>[0-9]{2}):(?P<i>[0-9]{2}):(?P<s>[0-9]{2})(?:\.(?P<f>[0-9]{1,9}))?)? ?(?P<z>[^ ].*)?$"
)
# Hive puts a zero into the first that it finds (``TimestampTZUtil.handleSingleDigitHourOffset``).
_ONE_DIGIT = r"^(.*?[+-])([0-9]:[0-9][0-9])"
_OFFSET = re.compile(r"[+-]([01][0-9]):[0-5][0-9](?::[0-5][0-9])?")
# Names of the database of time zones that Java's own copy of it leaves out.
_UNKNOWN = frozenset({"EST", "HST", "MST", "ROC"})
# Of later years Arrow knows no daylight saving time.
_KNOWN_UNTIL = pa.scalar(datetime(2037, 1, 1), pa.timestamp("us"))
_PREFIX = re.compile(r"(?:UTC|GMT|UT)(?=[+-])")

InstantReader = Callable[[pa.Array, str], pa.Array]
"""From strings, and the zone of those that name none, to ``timestamp[us, UTC]``."""


def instant_reader(formats: Sequence[str], where: str) -> InstantReader:
    """The reader of instants.

    Args:
        formats: Patterns of ``timestamp.formats``; where none fits, Hive's own format is tried.
        where: Names the table for the message.

    Raises:
        NotSupportedError: A letter of a pattern is not understood.
    """
    # Numbers are no instants for Hive, and ISO_INSTANT does not tell the day.
    readers = [pattern_reader(text, where) for text in formats if text not in ("millis", "iso8601")]

    def read(texts: pa.Array, zone: str) -> pa.Array:
        long = real_nulls(texts, pc.greater_equal(pc.binary_length(texts), 8))
        found = [_in_zone(reader(long), zone) for reader in readers]
        return pc.coalesce(*found, _parse(long, zone))

    return read


def _parse(texts: pa.Array, zone: str) -> pa.Array:
    whole = pc.replace_substring_regex(texts, _ONE_DIGIT, r"\10\2")
    fields = pc.extract_regex(whole, _TEXT)
    wall, zones = civil_times(fields, smart=True), pc.struct_field(fields, "z")
    result = pa.nulls(len(texts), _INSTANTS)
    for name in pc.unique(zones.drop_null()).to_pylist():
        mine = pc.fill_null(pc.equal(zones, name), False)
        result = pc.coalesce(result, _in_zone(real_nulls(wall, mine), name or zone))
    return result


def _in_zone(wall: pa.Array, zone: str) -> pa.Array:
    name = _PREFIX.sub("", zone)
    if name in ("Z", "UTC", "GMT", "UT"):
        return wall.cast(_INSTANTS)
    if name[:1] in ("+", "-"):
        return _at_offset(wall, name)
    if name in _UNKNOWN:
        return pa.nulls(len(wall), _INSTANTS)
    if pc.less(_KNOWN_UNTIL, pc.max(wall)).as_py():
        return _in_zone_with_gaps(wall, name)
    try:
        return pc.assume_timezone(wall, name, ambiguous="earliest").cast(_INSTANTS)
    except pa.ArrowInvalid:
        return _in_zone_with_gaps(wall, name)


def _at_offset(wall: pa.Array, offset: str) -> pa.Array:
    if _OFFSET.fullmatch(offset) is None:
        return pa.nulls(len(wall), _INSTANTS)
    parts = [int(part) for part in offset[1:].split(":")]
    shift = timedelta(**dict(zip(("hours", "minutes", "seconds"), parts, strict=False)))
    if shift > timedelta(hours=18):
        return pa.nulls(len(wall), _INSTANTS)
    shifted = pc.subtract(wall, pa.scalar(shift if offset[0] == "+" else -shift, pa.duration("us")))
    return shifted.cast(_INSTANTS)


def _in_zone_with_gaps(wall: pa.Array, zone: str) -> pa.Array:
    """As ``ZonedDateTime.of``: a time that a clock skips is read with the offset before the gap."""
    try:
        known = ZoneInfo(zone)
    except (KeyError, OSError, ValueError):
        return pa.nulls(len(wall), _INSTANTS)
    # Python's years begin with 1.
    known_years = pc.greater_equal(wall, pa.scalar(datetime(1, 1, 1), wall.type))
    old = pc.assume_timezone(real_nulls(wall, pc.invert(known_years)), zone, ambiguous="earliest").cast(_INSTANTS)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    instants = [
        None if value is None else (value.replace(tzinfo=known) - epoch) // timedelta(microseconds=1)
        for value in real_nulls(wall, known_years).to_pylist()
    ]
    return pc.coalesce(old, pa.array(instants, pa.int64()).view(_INSTANTS))
