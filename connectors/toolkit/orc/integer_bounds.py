"""The least and the greatest integer of columns, by an ORC file's statistics (``OrcProto.ColumnStatistics``).

``StripeStatistics`` knows more types and asks pyorc, which reads the footer once more; this is for few columns that
are looked at in every file.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from connectors.toolkit.codecs.varints import message_fields, unzigzag
from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.orc.wire import decompress

__all__ = ["IntegerBounds", "file_bounds", "stripe_bounds"]


@dataclass(frozen=True, slots=True)
class IntegerBounds:
    """All values of a column of integers are from ``low`` to ``high``, both inclusive, and none is NULL."""

    low: int
    high: int


Bounds = tuple[IntegerBounds | None, ...]


def file_bounds(footer: OrcFooter, columns: Sequence[int]) -> Bounds:
    """The bounds of top-level columns in the whole file; ``None`` on any doubt.

    Args:
        footer: The file's.
        columns: Their positions.
    """
    try:
        numbers = _numbers(footer, columns)
        found = {number: footer.statistics[number] for number in numbers}
        return tuple(_bounds(found[number], footer.rows) for number in numbers)
    except (IndexError, ValueError):
        return (None,) * len(columns)


def stripe_bounds(source: pa.NativeFile, footer: OrcFooter, columns: Sequence[int]) -> tuple[Bounds, ...]:
    """The bounds of top-level columns in each stripe; ``None`` on any doubt.

    Args:
        source: The open file.
        footer: Its footer.
        columns: Positions of the columns.
    """
    if len(footer.stripes) == 1 and footer.stripes[0].rows == footer.rows:
        return (file_bounds(footer, columns),)
    unknown: tuple[Bounds, ...] = ((None,) * len(columns),) * len(footer.stripes)
    try:
        numbers = _numbers(footer, columns)
        raw = footer.stripe_statistics.read(source)
        content = decompress(raw, footer.codec, footer.block_size)
        messages = [value for tag, value in message_fields(content) if tag == 1 and isinstance(value, bytes)]
        if len(messages) != len(footer.stripes):
            return unknown
        return tuple(
            _of_stripe(message, numbers, stripe.rows) for message, stripe in zip(messages, footer.stripes, strict=True)
        )
    except (IndexError, ValueError, zlib.error, pa.ArrowException):
        # What prunes needs no statistics: a reader of rows says what is wrong with the file.
        return unknown


def _numbers(footer: OrcFooter, columns: Sequence[int]) -> list[int]:
    # Hive's writers turn statistics off together with row groups, and what then stands there is no bound.
    if not footer.row_index_stride:
        raise ValueError("no statistics")
    return [footer.types[0].children[column] for column in columns]


def _of_stripe(message: bytes, numbers: Sequence[int], rows: int) -> Bounds:
    wanted, found = frozenset(numbers), dict[int, bytes]()
    fields = (value for tag, value in message_fields(message) if tag == 1 and isinstance(value, bytes))
    for number, value in enumerate(fields):
        if number in wanted:
            found[number] = value
            if len(found) == len(wanted):
                break
    return tuple(_bounds(found[number], rows) if number in found else None for number in numbers)


def _bounds(message: bytes, rows: int) -> IntegerBounds | None:
    fields = dict(message_fields(message))
    integers = fields.get(2)
    if fields.get(1) != rows or not isinstance(integers, bytes):
        return None
    known = dict(message_fields(integers))
    low, high = known.get(1), known.get(2)
    if not isinstance(low, int) or not isinstance(high, int) or unzigzag(low) > unzigzag(high):
        return None
    return IntegerBounds(unzigzag(low), unzigzag(high))
