"""Instants on the clock of a zone, as Java shows them. Executor side."""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, date, datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["JAVA_START", "java_standard_time", "local_times"]

JAVA_START = -2_208_988_800
"""1900-01-01, in seconds: before it ``java.util.TimeZone`` knows no history."""

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_YEARS = range(2026, 2037)
_EPOCH = date(1970, 1, 1)
# Days from 1970 to the first of March, by the weekday of that day.
_MARCHES = {day % 7: day for day in ((date(year, 3, 1) - _EPOCH).days for year in _YEARS)}
_KNOWN_UNTIL = (date(2037, 3, 1) - _EPOCH).days * _DAY
_MARCH_ZERO = (date(2000, 3, 1) - _EPOCH).days
_FOUR_CENTURIES = 146_097


def local_times(instants: pa.Array, zone: str, *, legacy: bool = False) -> pa.Array:
    """Instants as wall-clock times of a zone.

    Args:
        instants: ``timestamp[us]``; a zone in its type is ignored.
        zone: An IANA name, or an offset such as ``+02:00`` or ``GMT+02:00``.
        legacy: Go by ``java.util.TimeZone``, for which before 1900 the zone's standard time of today holds; else by
            ``java.time``, which has the whole history.

    Returns:
        ``timestamp[us]``.
    """
    # Java also says GMT+02:00 for what Arrow knows as +02:00.
    zone = re.sub(r"^(GMT|UTC|UT)(?=[+-]\d\d:\d\d$)", "", zone)
    if zone in ("UTC", "Z", "GMT", "Etc/UTC"):
        return instants.view(pa.timestamp("us"))
    numbers = instants.view(pa.int64())
    bounds = pc.min_max(numbers)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    # Of what comes after 2037 Arrow knows no daylight saving time; years of like weekdays have the same rules.
    moved = _to_known_years(numbers) if high is not None and high >= _KNOWN_UNTIL else pa.scalar(0, pa.int64())
    known = pc.subtract(numbers, moved).view(pa.timestamp("us", zone))
    local = pc.add(pc.local_timestamp(known).view(pa.int64()), moved)
    standard = java_standard_time(zone) if legacy and low is not None and low < JAVA_START * _SECOND else None
    if standard is not None:
        old = pc.less(numbers, JAVA_START * _SECOND)
        local = pc.if_else(old, pc.add(numbers, standard * _SECOND), local)
    return local.view(pa.timestamp("us"))


@lru_cache(maxsize=64)
def java_standard_time(zone: str) -> int | None:
    """Seconds that a zone's standard time of today is ahead of UTC; ``None`` where the zone is not known."""
    try:
        known = zoneinfo.ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        return None
    months = (datetime(_YEARS[-1], month, 1, tzinfo=UTC).astimezone(known).utcoffset() for month in range(1, 13))
    return min(int(offset.total_seconds()) for offset in months if offset is not None)


def _to_known_years(numbers: pa.Array) -> pa.Array:
    """How many microseconds to go back from each instant to a year of the same weekdays whose rules Arrow knows."""
    days = numbers.fill_null(0).to_numpy(zero_copy_only=False) // _DAY
    of_era = (days - _MARCH_ZERO) % _FOUR_CENTURIES
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    march: npt.NDArray[np.int64] = days - (of_era - (365 * year + year // 4 - year // 100))
    like = np.array([_MARCHES[weekday] for weekday in range(7)], np.int64)[march % 7]
    return pa.array(np.where(days * _DAY >= _KNOWN_UNTIL, (march - like) * _DAY, 0), pa.int64())
