"""Values as ``LazyBinarySerDe`` and ``LazyBinaryColumnarSerDe`` write them, many at a time. Executor side.

Sources of the rules: ``LazyBinarySerDe.serialize``, ``TimestampWritableV2.convertTimestampToBytes``,
``HiveDecimalWritable`` of Hive 4.0. The reader's side is ``connectors.hive.formats.lazy.binary``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.write.sink.cells.joined import bit_cells, join_cells, join_lists, numbers_of, with_sizes
from connectors.hive.write.sink.cells.numbers import binary_cells, fixed_cells, two_complement_cells, vint_cells
from connectors.hive.write.sink.text.leaves import compact
from connectors.toolkit.cells import Positions

__all__ = ["column_cells", "row_cells"]

_FIXED = {
    pa.bool_(): ">u1",
    pa.int8(): ">i1",
    pa.int16(): ">i2",
    pa.float32(): ">f4",
    pa.float64(): ">f8",
}
_FLAG = 1 << 31
_NANO_DIGITS = 9


def row_cells(columns: Sequence[pa.Array]) -> pa.Array:
    """Rows, or structs, by their fields: a byte that tells which of eight are not NULL, and then those."""
    parts: list[pa.Array | bytes] = []
    for start in range(0, len(columns), 8):
        group = columns[start : start + 8]
        parts += [bit_cells(group), *(column_cells(column, sized=True) for column in group)]
    return join_cells(parts)


def column_cells(array: pa.Array, *, sized: bool) -> pa.Array:
    """Values of one column; NULL stays NULL.

    Args:
        array: The values, of any type that has a form in Hive but unions.
        sized: Values whose size varies tell it, as inside of rows and other values; else a file tells it.
    """
    kind = array.type
    if pa.types.is_nested(kind):
        content = row_cells(array.flatten()) if pa.types.is_struct(kind) else _list_cells(array)
        cells = _with_int_sizes(content) if sized else content
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        cells = with_sizes(array.cast(pa.binary())) if sized else array.cast(pa.binary())
    else:
        cells = _leaf_cells(array)
    return pc.if_else(array.is_valid(), cells, pa.scalar(None, pa.binary())) if array.null_count else cells


def _leaf_cells(array: pa.Array) -> pa.Array:
    kind = array.type
    if kind in _FIXED:
        filled = array.fill_null(False if pa.types.is_boolean(kind) else 0)
        return fixed_cells(filled.to_numpy(zero_copy_only=False), _FIXED[kind])
    if pa.types.is_timestamp(kind):
        return _timestamp_cells(numbers_of(array.cast(pa.timestamp("us")).cast(pa.int64())))
    if pa.types.is_decimal(kind):
        return join_cells([vint_cells(np.full(len(array), kind.scale)), with_sizes(two_complement_cells(array))])
    return vint_cells(numbers_of(array.cast(pa.int32()) if pa.types.is_date(kind) else array))


def _timestamp_cells(micros: Positions) -> pa.Array:
    """31 bits of the seconds; the digits of the nanoseconds in reverse, and the other bits, where there are such."""
    seconds, fraction = micros // 1_000_000, micros % 1_000_000 * 1_000
    digits = np.zeros(len(micros), np.int64)
    for _ in range(_NANO_DIGITS):
        digits = digits * 10 + fraction % 10
        fraction = fraction // 10
    wide = (seconds < 0) | (seconds >= _FLAG)
    flagged = wide | (digits != 0)
    first = (seconds & (_FLAG - 1)) | np.where(flagged, _FLAG, 0)
    missing = pa.scalar(None, pa.binary())
    second = pc.if_else(pa.array(flagged), vint_cells(np.where(wide, ~digits, digits)), missing)
    third = pc.if_else(pa.array(wide), vint_cells(seconds >> 31), missing)
    return join_cells([fixed_cells(first, ">u4"), second, third])


def _list_cells(array: pa.Array) -> pa.Array:
    """The number of elements, a bit for each that tells whether it is not NULL, and those that are not."""
    made = compact(array)
    children = [made.keys, made.items] if pa.types.is_map(made.type) else [made.values]
    counts = np.diff(made.offsets.to_numpy())
    cells = join_cells([column_cells(child, sized=True) for child in children])
    valid = np.stack([child.is_valid().to_numpy(zero_copy_only=False) for child in children], axis=1).ravel()
    bits = _bits(valid, counts.astype(np.int64) * len(children))
    return join_cells([vint_cells(counts.astype(np.int64)), bits, join_lists(cells, made.offsets)])


def _bits(valid: npt.NDArray[np.bool_], slots: Positions) -> pa.Array:
    sizes = (slots + 7) // 8
    begins = np.cumsum(sizes) - sizes
    owner = np.repeat(np.arange(len(slots)), slots)
    ordinal = np.arange(len(valid)) - (np.cumsum(slots) - slots)[owner]
    weights = valid.astype(np.float64) * (1 << (ordinal % 8))
    found = np.bincount(begins[owner] + ordinal // 8, weights=weights, minlength=int(sizes.sum()))
    return binary_cells(found.astype(np.uint8), sizes)


def _with_int_sizes(content: pa.Array) -> pa.Array:
    return join_cells([fixed_cells(numbers_of(pc.binary_length(content)), ">i4"), content])
