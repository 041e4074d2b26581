"""What an ORC file says of its types and times that pyarrow leaves out. Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError
from connectors.toolkit.orc.footer import OrcFooter, OrcType, read_writer_zone
from connectors.toolkit.orc.zone_history import differs_from_java, java_shift
from connectors.toolkit.schema.type_adaptation import map_nested

__all__ = ["CHAR", "mark_chars", "repair_times"]

CHAR = pa.large_string()
"""Marks ``char(n)`` in a file's schema; the values read are strings, padded to their length."""

_CHAR_KIND = 17
# ORC's own Java library, Presto and Trino (``OrcFile.WriterImplementation``).
_ORC_JAVA = 0
_JAVA_WRITERS = (_ORC_JAVA, 2, 4)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_SECONDS = 86_400


def mark_chars(schema: pa.Schema, types: Sequence[OrcType], path: str) -> pa.Schema:
    """The schema with ``CHAR`` for columns and fields of that type.

    Args:
        schema: As pyarrow tells it.
        types: All types of the file, as the footer numbers them.
        path: Names the file for messages.

    Raises:
        CorruptFileError: The types do not belong together.
    """
    if all(one.kind != _CHAR_KIND for one in types):
        return schema
    try:
        fields = zip(schema, types[0].children, strict=True)
        return pa.schema([field.with_type(_marked(field.type, types, child)) for field, child in fields])
    except (IndexError, ValueError) as error:
        raise CorruptFileError(f"{path} cannot be read as ORC: its types do not belong together") from error


def repair_times(
    batch: pa.RecordBatch,
    source: pa.NativeFile,
    footer: OrcFooter,
    index: int,
    path: str,
    *,
    seconds_right: bool = False,
) -> pa.RecordBatch:
    """Puts right the times of Java writers that ORC's C++ library reads otherwise than Java.

    Writers cut seconds towards zero, and readers take a second off instants before 1970 that have a fraction of more
    than a millisecond. pyarrow does so by the wall-clock time instead, which is another day around 1970 where the
    writer was in another zone than UTC (Java's ``TreeReaderFactory.TimestampTreeReader`` has it right). Its own writer
    does likewise, so that files of it read right as they are.

    Java tells the history of zones before 1900 otherwise (``zone_history``), but not to Presto and Trino.

    Args:
        batch: A stripe, or columns of it, as read.
        source: The file.
        footer: Its footer.
        index: Which stripe.
        path: Names the file for messages.
        seconds_right: The reader took the second off as Java does.
    """
    if footer.writer not in _JAVA_WRITERS or not any(_is_old(column) for column in batch.columns):
        return batch
    zone = read_writer_zone(source, footer, index, path)
    offset = 0 if seconds_right else _offset_1970(zone)
    history = zone if footer.writer == _ORC_JAVA and differs_from_java(zone) else ""
    if not offset and not history:
        return batch
    columns = [_repaired(column, offset, history) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _marked(arrow: pa.DataType, types: Sequence[OrcType], number: int) -> pa.DataType:
    one = types[number]
    if one.kind == _CHAR_KIND:
        return CHAR
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(_marked(arrow.value_type, types, one.children[0])))
    if pa.types.is_map(arrow):
        keys, items = (_marked(each, types, child) for each, child in zip(_inner(arrow), one.children, strict=True))
        return pa.map_(keys, arrow.item_field.with_type(items))
    if pa.types.is_struct(arrow):
        fields = zip(arrow, one.children, strict=True)
        return pa.struct([field.with_type(_marked(field.type, types, child)) for field, child in fields])
    return arrow


def _inner(arrow: pa.DataType) -> tuple[pa.DataType, pa.DataType]:
    return arrow.key_type, arrow.item_type


def _is_wall_clock(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow)) and arrow.tz is None


def _is_old(array: pa.Array) -> bool:
    """Whether it holds times of 1970-01-02 and before."""
    if pa.types.is_struct(array.type):
        return any(_is_old(child) for child in array.flatten())
    if pa.types.is_map(array.type):
        return _is_old(array.keys) or _is_old(array.items)
    if pa.types.is_list(array.type):
        return _is_old(array.values)
    if not _is_wall_clock(array.type):
        return False
    least = pc.min(array.view(pa.int64())).as_py()
    return least is not None and least <= _DAY_SECONDS * _per_second(array.type)


def _repaired(array: pa.Array, offset: int, history: str) -> pa.Array:
    def children(parts: Sequence[pa.Array]) -> list[pa.Array]:
        return [_repaired(part, offset, history) for part in parts]

    if pa.types.is_nested(array.type) and not pa.types.is_union(array.type):
        return map_nested(array, array.type, children)
    if not _is_wall_clock(array.type):
        return array
    seconds, fractions = _parts(array)
    per_second = _per_second(array.type)
    shift = _second_shift(seconds, fractions * (1_000_000_000 // per_second) > 999_999, offset)
    old = java_shift(seconds, history) if history else None
    shift = shift if old is None else shift + old
    if not shift.any():
        return array
    moved = pc.add(array.view(pa.int64()), pa.array(shift * per_second, pa.int64()))
    return moved.view(array.type)


def _second_shift(seconds: npt.NDArray[np.int64], fine: npt.NDArray[np.bool_], offset: int) -> npt.NDArray[np.int64]:
    if offset < 0:
        # A second was taken off although the instant was not before 1970.
        return (fine & (seconds + 1 >= offset) & (seconds + 1 < 0)).astype(np.int64)
    return -(fine & (seconds >= 0) & (seconds < offset)).astype(np.int64)


def _parts(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Whole seconds, rounded down, and the rest of each value; those of NULL are far from 1970."""
    numbers = array.view(pa.int64()).fill_null(np.iinfo(np.int64).max).to_numpy(zero_copy_only=False)
    seconds, rest = np.divmod(numbers, _per_second(array.type))
    return seconds, rest


def _per_second(arrow: pa.DataType) -> int:
    return {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[arrow.unit]


def _offset_1970(zone: str) -> int:
    if not zone:
        return 0
    try:
        offset = _EPOCH.astimezone(ZoneInfo(zone)).utcoffset()
    except (KeyError, ValueError, OSError):
        # pyarrow has refused unknown zones before.
        return 0
    return 0 if offset is None else int(offset.total_seconds())
