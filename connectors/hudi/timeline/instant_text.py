"""Instants as users write them (HoodieSqlCommonUtils.formatQueryInstant, HoodieInstantTimeGenerator). Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from connector_spi.errors import InvalidArgumentError
from connectors.hudi.error_codes import HUDI_BAD_INSTANT

__all__ = ["instant_of_text", "instant_of_time", "time_of_instant", "timeline_zone"]

_DIGITS = re.compile(r"\d{14}|\d{17}")
_DATE = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?\s*(Z|[+-]\d{2}:?\d{2})?", re.IGNORECASE
)
_FORMS = (
    "an instant of 17 or 14 digits such as 20240131093000000, a date such as 2024-01-31, or a date and time such as "
    "2024-01-31 09:30:00.000 or 2024-01-31T09:30:00Z"
)


def instant_of_text(text: str, zone: tzinfo) -> str:
    """The instant that a text means, in 17 digits; an instant of digits stays as it is.

    Dates and times without an offset are the timeline's own wall clock, as in Hudi.

    Args:
        text: In any of the forms above.
        zone: The timeline's, for times with an offset.

    Raises:
        InvalidArgumentError: Another form, or no date of the calendar.
    """
    text = text.strip()
    if _DIGITS.fullmatch(text):
        return text
    match = _DATE.fullmatch(text)
    if match is None:
        raise InvalidArgumentError(f"'{text}' is no instant; expected {_FORMS}", HUDI_BAD_INSTANT)
    date, time, offset = match.groups()
    try:
        # Instants have milliseconds; what is finer is cut, never rounded up to an instant that was not meant.
        meant = datetime.fromisoformat(f"{date}T{_to_millis(time or '00:00')}{(offset or '').upper()}")
    except ValueError as error:
        raise InvalidArgumentError(f"'{text}' is no instant: {error}; expected {_FORMS}", HUDI_BAD_INSTANT) from error
    return _digits(meant if offset is None else meant.astimezone(zone))


def instant_of_time(time: datetime, zone: tzinfo) -> str:
    """The instant of a point in time, in 17 digits of the timeline's wall clock.

    Args:
        time: Aware.
        zone: The timeline's.
    """
    return _digits(time.astimezone(zone))


def time_of_instant(instant: str, zone: tzinfo) -> datetime | None:
    """The point in time, UTC, that an instant names; ``None`` for one that is no date, such as a bootstrap's."""
    if not _DIGITS.fullmatch(instant):
        return None
    try:
        wall = datetime.strptime(instant[:14], "%Y%m%d%H%M%S")
    except ValueError:
        return None
    wall = wall.replace(microsecond=int(instant[14:] or 0) * 1000, tzinfo=zone)
    return wall.astimezone(UTC)


def timeline_zone(utc: bool, session_zone: str) -> tzinfo:
    """The zone of a timeline's wall clock.

    Args:
        utc: ``hoodie.table.timeline.timezone`` is UTC. LOCAL is the zone of the writers' machines, which no table
            records: the session's stands for it, so that a time means the digits that the user wrote, as in Hudi.
        session_zone: The session's, an IANA name or an offset.

    Raises:
        InvalidArgumentError: The session's zone is not known.
    """
    if utc:
        return UTC
    try:
        return ZoneInfo(session_zone)
    except (ZoneInfoNotFoundError, ValueError):
        pass
    match = re.fullmatch(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?", session_zone)
    if session_zone.upper() in ("Z", "UTC", "GMT"):
        return UTC
    if match is None:
        raise InvalidArgumentError(
            f"the session's time zone '{session_zone}' is not known, which instants need; expected a name such as "
            "Europe/Berlin, or an offset such as +01:00",
            HUDI_BAD_INSTANT,
        )
    sign, hours, minutes = match.groups()
    offset = datetime.strptime(f"{sign}{hours:0>2}{minutes or '00'}", "%z").tzinfo
    assert offset is not None
    return offset


def _to_millis(time: str) -> str:
    whole, dot, fraction = time.partition(".")
    return f"{whole}.{fraction[:3]:0<3}" if dot else whole


def _digits(time: datetime) -> str:
    return f"{time.year:04d}{time:%m%d%H%M%S}{time.microsecond // 1000:03d}"
