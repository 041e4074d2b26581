"""Old times of ORC files in zones whose history Java tells otherwise than ORC's C++ library. Executor side.

Java goes from instants to a writer's clock by ``java.util.TimeZone``, which has no history before 1900: the zone's
standard time of today holds then (``sun.util.calendar.ZoneInfo.getOffsets``). The C++ library goes by all changes that
the zone's file tells, and before the first one by the time that it brought (``Timezone.cc``).
"""

from __future__ import annotations

import struct
import zoneinfo
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from connectors.toolkit.schema.local_times import JAVA_START, java_standard_time

__all__ = ["differs_from_java", "java_shift"]

_BEFORE_ALL = -(1 << 40)
_HEADER = 44

_Table = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def java_shift(seconds: npt.NDArray[np.int64], zone: str) -> npt.NDArray[np.int64] | None:
    """What is to be added to times of a zone's clock that the C++ library gave, so that they are Java's.

    Args:
        seconds: Since 1970, on the clock.
        zone: The writer's zone; one that is not known changes nothing.

    Returns:
        Seconds for each; ``None`` where nothing changes.
    """
    table = _table(zone)
    if table is None or not len(seconds) or seconds.min() >= table[0][-1]:
        return None
    ends, shifts = table
    return shifts[np.searchsorted(ends, seconds, side="right")]


def differs_from_java(zone: str) -> bool:
    """Whether ``java_shift`` changes any time of a zone."""
    return _table(zone) is not None


@lru_cache(maxsize=64)
def _table(zone: str) -> _Table | None:
    """Ends of spans of the clock, and for each span what is to be added; the last one is open, with 0."""
    today = java_standard_time(zone)
    if today is None:
        return None
    try:
        found = _read(zone)
    except (OSError, struct.error, IndexError):
        return None
    if found is None:
        return None
    first = found.changes[0]
    borders = sorted({first, JAVA_START, *(one for one in found.changes if one < JAVA_START)})
    spans = list(pairwise([_BEFORE_ALL, *borders]))
    read = [found.cpp_offset(start) for start, _ in spans]
    java = [today if start < JAVA_START else found.offset(start) for start, _ in spans]
    if read == java:
        return None
    ends = np.array([end + offset for (_, end), offset in zip(spans, read, strict=True)], np.int64)
    shifts = [here - there for here, there in zip(java, read, strict=True)]
    return np.maximum.accumulate(ends), np.array([*shifts, 0], np.int64)


@dataclass(frozen=True, slots=True)
class _Zone:
    """The file of a zone (RFC 8536).

    Attributes:
        changes: Instants, in order.
        offsets: Seconds before the first of them, and from each on.
        daylight: Which of these are of daylight saving time.
    """

    changes: list[int]
    offsets: list[int]
    daylight: list[bool]

    def offset(self, instant: int) -> int:
        return self.offsets[bisect_right(self.changes, instant)]

    def cpp_offset(self, instant: int) -> int:
        if instant >= self.changes[0]:
            return self.offset(instant)
        ancient = (offset for offset, daylight in zip(self.offsets[1:], self.daylight[1:], strict=True) if not daylight)
        return next(ancient, self.offsets[1])


def _read(zone: str) -> _Zone | None:
    files = [Path(folder, zone) for folder in zoneinfo.TZPATH]
    content = next((file.read_bytes() for file in files if file.is_file()), b"")
    if content[:4] != b"TZif" or content[4:5] < b"2":
        return None
    utc, standard, leaps, changes, kinds, letters = struct.unpack(">6l", content[20:_HEADER])
    start = _HEADER + changes * 5 + kinds * 6 + letters + leaps * 8 + standard + utc
    changes, kinds = struct.unpack(">2l", content[start + 32 : start + 40])
    if not changes:
        return None
    start += _HEADER
    times = struct.unpack_from(f">{changes}q", content, start)
    order = (0, *content[start + changes * 8 : start + changes * 9])
    entries = [struct.unpack_from(">lb", content, start + changes * 9 + kind * 6) for kind in range(kinds)]
    return _Zone(list(times), [entries[kind][0] for kind in order], [bool(entries[kind][1]) for kind in order])
