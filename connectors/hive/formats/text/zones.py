"""Wall-clock times in zones to instants, as ``ZonedDateTime.of`` of Java has them. Executor side."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.text.values import real_nulls

__all__ = ["in_zone", "in_zones"]

_INSTANTS = pa.timestamp("us", "UTC")
_OFFSET = re.compile(r"[+-]([01][0-9]):[0-5][0-9](?::[0-5][0-9])?")
# Names of the database of time zones that Java's own copy of it leaves out.
_UNKNOWN = frozenset({"EST", "HST", "MST", "ROC"})
# Of later years Arrow knows no daylight saving time.
_KNOWN_UNTIL = pa.scalar(datetime(2037, 1, 1), pa.timestamp("us"))
_PREFIX = re.compile(r"(?:UTC|GMT|UT)(?=[+-])")


def in_zones(wall: pa.Array, zones: pa.Array, default: str) -> pa.Array:
    """Instants of times that have zones of their own.

    Args:
        wall: ``timestamp[us]``.
        zones: A text for each of them; those of a time that is NULL do not matter.
        default: The zone where the text is empty, or NULL.

    Returns:
        ``timestamp[us, UTC]``, NULL where no zone has the name.
    """
    zones = pc.fill_null(zones, "")
    result = pa.nulls(len(wall), _INSTANTS)
    for name in pc.unique(zones).to_pylist():
        result = pc.coalesce(result, in_zone(real_nulls(wall, pc.equal(zones, name)), name or default))
    return result


def in_zone(wall: pa.Array, zone: str) -> pa.Array:
    """Instants of times in one zone; a time that a clock shows twice is the earlier."""
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
    """A time that a clock skips is read with the offset before the gap."""
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
