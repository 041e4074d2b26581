"""Ordering values, and which of two is greater, as Java's ``compareTo`` has it. Pure.

NULL is smaller than every value: Hudi takes the default, which stands before all, in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_MERGE

__all__ = ["OrderingKeys", "as_table_type", "binlog_keys", "is_default", "ordering_keys"]

_MIN = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class OrderingKeys:
    """Ordering values in a form that compares column by column, the first one that differs deciding.

    Attributes:
        columns: int64 numbers, or Arrow binary arrays without NULL that compare by bytes.
    """

    columns: tuple[np.ndarray | pa.Array, ...]

    def take(self, indices: np.ndarray) -> OrderingKeys:
        """The values at some rows."""
        return OrderingKeys(
            tuple(
                column[indices] if isinstance(column, np.ndarray) else column.take(pa.array(indices))
                for column in self.columns
            )
        )

    def greater(self, other: OrderingKeys) -> np.ndarray:
        """Where these values are greater than others of the same number of rows."""
        greater: np.ndarray | None = None
        equal: np.ndarray | None = None
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            above, same = _compare(mine, theirs)
            greater = above if greater is None or equal is None else greater | (equal & above)
            equal = same if equal is None else equal & same
        if greater is None:
            raise ValueError("no ordering values")
        return greater


def ordering_keys(fields: Sequence[pa.Array], where: str) -> OrderingKeys:
    """Brings the values of the ordering fields into a form that compares.

    Args:
        fields: One array for each ordering field, of the column's type in the table.
        where: Names the table, for messages.

    Raises:
        NotSupportedError: A type whose order is not known here.
    """
    columns: list[np.ndarray | pa.Array] = []
    for array in fields:
        columns += _columns(array, where)
    return OrderingKeys(tuple(columns))


def binlog_keys(fields: Sequence[pa.Array]) -> OrderingKeys:
    """Brings positions in a MySQL binlog, texts ``<file>.<position>``, into a form that compares.

    The number at the end of the file's name decides, then the position (MySqlDebeziumAvroPayload.getFileId).
    """
    columns: list[np.ndarray | pa.Array] = []
    for array in fields:
        parts = pc.extract_regex(array.cast(pa.string()), r"(?:.*\.)?(?P<file>\d+)\.(?P<position>\d+)$")
        columns += [_with_least(pc.struct_field(parts, name).cast(pa.int64())) for name in ("file", "position")]
    return OrderingKeys(tuple(columns))


def is_default(array: pa.Array) -> np.ndarray:
    """Where a single ordering value is missing, or the int 0 that stands for none (OrderingValues.isDefault)."""
    nulls = _numpy(array.is_null())
    return (
        nulls | _numpy(pc.fill_null(pc.equal(array, pa.scalar(0, array.type)), True))
        if pa.types.is_int32(array.type)
        else nulls
    )


def as_table_type(array: pa.Array, target: pa.DataType) -> pa.Array | None:
    """Ordering values of a delete block in the type of the table's column.

    Returns:
        ``None`` where the two types have nothing in common: to Hudi, values of such classes do not compare.

    Raises:
        ValueError: A value does not fit.
    """
    source = array.type
    if source == target:
        return array
    if pa.types.is_null(source):
        return pa.nulls(len(array), target)
    if _is_whole(source) and _is_whole(target):
        numbers = array.cast(pa.timestamp(target.unit, source.tz)) if _both_timestamps(source, target) else array
        return _whole(numbers).cast(pa.int32() if target.bit_width == 32 else pa.int64()).cast(target)
    is_number = pa.types.is_integer(source) or pa.types.is_floating(source)
    if pa.types.is_floating(target) and is_number:
        return array.cast(target, safe=False)
    if pa.types.is_decimal(target) and (pa.types.is_decimal(source) or pa.types.is_integer(source)):
        return array.cast(target)
    is_text = pa.types.is_string(target) or pa.types.is_binary(target)
    return array.cast(target) if is_text and (pa.types.is_string(source) or pa.types.is_binary(source)) else None


def _compare(mine: np.ndarray | pa.Array, theirs: np.ndarray | pa.Array) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(mine, np.ndarray):
        return mine > theirs, mine == theirs
    return _numpy(pc.greater(mine, theirs)), _numpy(pc.equal(mine, theirs))


def _columns(array: pa.Array, where: str) -> list[np.ndarray | pa.Array]:
    kind = array.type
    if _is_whole(kind) or pa.types.is_boolean(kind):
        return [_with_least(_whole(array))]
    if pa.types.is_floating(kind):
        return [_float_order(array)]
    if pa.types.is_decimal128(kind):
        return _decimal_order(array)
    if pa.types.is_string(kind):
        return [_numpy(array.is_valid()).astype(np.int64), _utf16_order(array)]
    raise NotSupportedError(
        f"{where}: ordering values (hoodie.table.ordering.fields, hoodie.table.precombine.field) of type {kind} are "
        "not understood; numbers, texts, dates and times are: compact the table with Hudi, or read its base files "
        "alone (session property read_optimized)",
        HUDI_UNSUPPORTED_MERGE,
    )


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_date32(kind) or pa.types.is_time(kind)) or bool(
        pa.types.is_timestamp(kind)
    )


def _both_timestamps(one: pa.DataType, other: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(one) and pa.types.is_timestamp(other))


def _whole(array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_temporal(kind):
        array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    return array.cast(pa.int64())


def _with_least(array: pa.Array) -> np.ndarray:
    return _numpy(pc.fill_null(array, int(_MIN)))


def _float_order(array: pa.Array) -> np.ndarray:
    """Numbers in the order of Double.compareTo: -0.0 before 0.0, NaN behind all and equal to itself."""
    values = _numpy(pc.fill_null(array.cast(pa.float64()), 0.0)).astype(np.float64)
    values = np.where(np.isnan(values), np.float64("nan"), values)
    bits = values.view(np.int64)
    ordered = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
    return np.where(_numpy(array.is_null()), _MIN, ordered)


def _decimal_order(array: pa.Array) -> list[np.ndarray | pa.Array]:
    filled = pc.fill_null(array, pa.scalar(0, array.type))
    words = np.frombuffer(filled.buffers()[1], dtype="<i8")[2 * filled.offset : 2 * (filled.offset + len(filled))]
    low, high = words[0::2], words[1::2]
    present = _numpy(array.is_valid()).astype(np.int64)
    return [present, high.astype(np.int64), (low ^ _MIN).astype(np.int64)]


def _utf16_order(array: pa.Array) -> pa.Array:
    """Texts as bytes that compare as String.compareTo does, by UTF-16 units.

    UTF-8 compares by code points. The two differ where characters beyond U+FFFF, in UTF-16 from D800 on, meet those
    from U+E000 on, whose first bytes are EE and EF: those are put behind F4, the greatest first byte there is.
    """
    filled = pc.fill_null(array, "").cast(pa.binary())
    data = filled.buffers()[2]
    if data is None or data.size == 0:
        return filled
    letters = np.frombuffer(data, dtype=np.uint8)
    if not (letters >= 0xF0).any():
        return filled
    moved = np.where((letters == 0xEE) | (letters == 0xEF), letters + np.uint8(0x10), letters)
    buffers = [None, filled.buffers()[1], pa.py_buffer(moved.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(filled), buffers, offset=filled.offset)


def _numpy(array: pa.Array) -> np.ndarray:
    return np.asarray(array.to_numpy(zero_copy_only=False))
