"""Which dates and times of an ORC file are the same numbers to every reader, by its footers. Executor side."""

from __future__ import annotations

import pyarrow as pa

from connectors.toolkit.codecs.varints import message_fields, unzigzag
from connectors.toolkit.orc.footer import OrcFooter, read_writer_zone

__all__ = ["has_modern_times", "is_of_utc"]

_TIMESTAMP, _DATE, _INSTANT = 9, 15, 18
_GREGORIAN_START = -141427  # 1582-10-15, days since 1970
# Of statistics of timestamps some are of the writer's zone (before ORC-135).
_AFTER_1970 = 3 * 86_400_000
_MOST_STRIPES = 16
_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT"})


def has_modern_times(footer: OrcFooter, column: int) -> bool:
    """Whether a column has no date that calendars name differently, and no time near 1970 or before.

    Just before 1970 a time with a fraction can be a second off, and which way is up to each reader
    (``orc_types.repair_times``).

    Args:
        footer: The file's.
        column: Position of the column among those at the top; all that is in it counts.
    """
    try:
        numbers = [footer.types[0].children[column]]
        for number in numbers:
            numbers += footer.types[number].children
            if len(numbers) > len(footer.types) or not _is_modern(footer, number):
                return False
    except (IndexError, ValueError):
        return False
    return True


def is_of_utc(file: pa.NativeFile, footer: OrcFooter, path: str) -> bool:
    """Whether all stripes say that they were written in UTC; files of very many stripes are not asked.

    Raises:
        CorruptFileError: The footer of a stripe is damaged.
    """
    numbers = range(len(footer.stripes))
    return len(numbers) <= _MOST_STRIPES and all(read_writer_zone(file, footer, one, path) in _UTC for one in numbers)


def _is_modern(footer: OrcFooter, number: int) -> bool:
    kind = footer.types[number].kind
    if kind not in (_TIMESTAMP, _DATE, _INSTANT):
        return True
    # Hive's writers turn statistics off together with row groups, and what then stands there is no bound.
    if kind == _INSTANT or not footer.row_index_stride:
        return False
    fields = dict(message_fields(footer.statistics[number]))
    if fields.get(1) == 0:
        return True
    bounds = fields.get(7 if kind == _DATE else 9)
    if not isinstance(bounds, bytes):
        return False
    lowest = [_signed(value) for key, value in message_fields(bounds) if key in ((1,) if kind == _DATE else (1, 3))]
    return bool(lowest) and min(lowest) >= (_GREGORIAN_START if kind == _DATE else _AFTER_1970)


def _signed(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("expected a number")
    return unzigzag(value)
