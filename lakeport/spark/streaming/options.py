"""The read options of a stream: where it begins, and the limits of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.optional.streaming import StreamStart
from lakeport.planning.streams import StreamLimits

__all__ = ["StreamOptions", "stream_options"]

_VERSION, _TIMESTAMP, _OFFSET = "startingversion", "startingtimestamp", "startingoffset"
_STARTS = (_VERSION, _TIMESTAMP, _OFFSET)
_LIMITS = ("maxversionspertrigger", "maxfilespertrigger", "maxbytespertrigger")
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30}


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options of a stream.

    Attributes:
        start: Where it begins.
        limits: Limits of each batch.
        given: Names of the given options, lower case; batch reads do not support them.
    """

    start: StreamStart
    limits: StreamLimits
    given: tuple[str, ...]


def stream_options(
    table: object, options: Mapping[str, str], other_names: Mapping[str, str], zone: str
) -> tuple[StreamOptions, dict[str, str]]:
    """Separates the options of a stream from all others.

    Args:
        table: Its name, for messages.
        options: Values by name in lower case.
        other_names: A connector's own names of these options.
        zone: The session's time zone, for a time without one.

    Returns:
        The options of the stream, and the rest.

    Raises:
        InvalidArgumentError: A value is invalid, or two options set the start.
    """
    mine = {name: text for name, text in options.items() if other_names.get(name, name) in (*_STARTS, *_LIMITS)}
    rest = {name: text for name, text in options.items() if name not in mine}
    known = {other_names.get(name, name): text.strip() for name, text in mine.items()}
    starts = [name for name in mine if other_names.get(name, name) in _STARTS]
    if len(starts) > 1:
        raise InvalidArgumentError(f"{table}: the options {' and '.join(sorted(starts))} both set the start; keep one")
    versions, files, size = (_limit(table, name, known.get(name)) for name in _LIMITS)
    return StreamOptions(_start(table, known, zone), StreamLimits(versions, files, size), tuple(sorted(mine))), rest


def _start(table: object, known: Mapping[str, str], zone: str) -> StreamStart:
    if _TIMESTAMP in known:
        return StreamStart(TableVersion(VersionKind.TIMESTAMP, _time(table, known[_TIMESTAMP], zone)))
    name = _VERSION if _VERSION in known else _OFFSET
    text = known.get(name, "earliest")
    if text.lower() in ("earliest", "latest"):
        return StreamStart(latest=text.lower() == "latest")
    return StreamStart(TableVersion(VersionKind.VERSION, text), inclusive=name == _VERSION)


def _time(table: object, text: str, zone: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo is not None else found.replace(tzinfo=ZoneInfo(zone))
    except (ValueError, KeyError) as error:
        raise InvalidArgumentError(
            f"{table}: option startingTimestamp is {text!r}: {error}; expected a time such as 2024-01-31 09:30:00"
        ) from error


def _limit(table: object, name: str, text: str | None) -> int | None:
    if text is None:
        return None
    digits = text.rstrip("bBkKmMgG ")
    unit = text[len(digits) :].strip().lower()
    units = _UNITS if name == _LIMITS[2] else {"": 1}
    if not (digits.isascii() and digits.isdigit()) or int(digits) < 1 or unit not in units:
        expected = "such as 128m" if name == _LIMITS[2] else "a number of at least 1"
        raise InvalidArgumentError(f"{table}: option {name} is {text!r}; expected {expected}")
    return int(digits) * units[unit]
