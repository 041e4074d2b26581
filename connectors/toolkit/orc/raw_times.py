"""Times as pyorc reads them: as numbers, since Python's have no years above 9999 and below 1. Executor side."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pyorc

__all__ = ["RAW_TIMES"]


class RawTimestamp(pyorc.converters.ORCConverter):  # type: ignore[misc]  # pyorc has no types
    """Timestamps as microseconds since 1970."""

    @staticmethod
    def from_orc(seconds: int, nanoseconds: int, timezone: ZoneInfo) -> int:
        return seconds * 1_000_000 + nanoseconds // 1000

    @staticmethod
    def to_orc(*args: object) -> tuple[int, int]:
        raise NotImplementedError("nothing is written")


class RawDate(pyorc.converters.ORCConverter):  # type: ignore[misc]  # pyorc has no types
    """Dates as days since 1970."""

    @staticmethod
    def from_orc(days: int) -> int:
        return days

    @staticmethod
    def to_orc(*args: object) -> int:
        raise NotImplementedError("nothing is written")


RAW_TIMES = {
    pyorc.TypeKind.TIMESTAMP: RawTimestamp,
    pyorc.TypeKind.TIMESTAMP_INSTANT: RawTimestamp,
    pyorc.TypeKind.DATE: RawDate,
}
