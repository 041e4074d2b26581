"""From what Avro's readers give for the wire's types to Arrow's types: dates, times, decimals, maps, enums."""

from __future__ import annotations

from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.toolkit.avro.primitives import PRIMITIVES
from connectors.toolkit.avro.schema import Json, is_wide_union, union_branch, union_branches

__all__ = ["branch_name", "decimals", "restore", "storage_type"]

_STORAGE = {
    **PRIMITIVES,
    "bytes": pa.large_binary(),
    "string": pa.large_string(),
    "enum": pa.int32(),
    "fixed": pa.large_binary(),
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DECIMAL_BYTES = 16
_DECIMALS_AT_ONCE = 1 << 17


def storage_type(node: Json) -> pa.DataType:
    """The Arrow type of an Avro type's values on the wire: numbers for dates, pairs for maps.

    A union of several types is a struct with a field for each but null, of which one is not NULL.
    """
    if is_wide_union(node):
        branches = enumerate(union_branches(node))
        return pa.struct([pa.field(branch_name(number), storage_type(branch)) for number, branch in branches])
    node = union_branch(node)
    if not isinstance(node, dict):
        return _STORAGE[str(node)]
    kind = node["type"]
    if kind == "record":
        fields = cast(list[dict[str, Json]], node["fields"])
        return pa.struct([pa.field(str(field["name"]), storage_type(field["type"])) for field in fields])
    if kind == "array":
        return pa.large_list(storage_type(node["items"]))
    if kind == "map":
        pair = pa.struct([("key", pa.large_string()), ("value", storage_type(node["values"]))])
        return pa.large_list(pair)
    return _STORAGE[str(kind)]


def restore(array: pa.Array, node: Json, target: pa.DataType) -> pa.Array:
    """Gives values as read from the wire their Arrow type.

    Args:
        array: Values of ``storage_type(node)``, or of the same kind with smaller offsets.
        node: The Avro type.
        target: The Arrow type that stands for it. For a union of several types it is a struct: first the number of the
            branch, then a field for each branch in the file's order, whose name ends with the number.

    Raises:
        ValueError: A value is none of the type.
    """
    if is_wide_union(node):
        return _union(array, union_branches(node), target)
    node = union_branch(node)
    kind = node["type"] if isinstance(node, dict) else node
    if isinstance(node, dict) and kind == "record":
        fields = cast(list[dict[str, Json]], node["fields"])
        parts = [
            restore(part, field["type"], child.type)
            for part, field, child in zip(array.flatten(), fields, target, strict=True)
        ]
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=array.is_null())
    if isinstance(node, dict) and kind == "array":
        values = restore(array.values, node["items"], target.value_type)
        return pa.ListArray.from_arrays(_offsets(array), values, type=target, mask=array.is_null())
    if isinstance(node, dict) and kind == "map":
        keys, values = array.values.flatten()
        keys, values = keys.cast(target.key_type), restore(values, node["values"], target.item_type)
        return pa.MapArray.from_arrays(_offsets(array), keys, values, type=target, mask=array.is_null())
    if isinstance(node, dict) and kind == "enum":
        return pa.array(node["symbols"], target).take(array)
    if pa.types.is_decimal(target):
        return decimals(array.cast(pa.large_binary()), target)
    if pa.types.is_temporal(target):
        return array.view(target)
    return array if array.type == target else array.cast(target)


def branch_name(number: int) -> str:
    """The name of the field that holds the values of a union's branch on the wire, null not counted."""
    return f"branch{number}"


def decimals(array: pa.LargeBinaryArray, target: pa.DataType) -> pa.Array:
    """Turns big-endian two's complement numbers of any length into decimals.

    Raises:
        ValueError: A number has more digits than the type, or no byte.
    """
    pieces = [
        _decimals(array.slice(start, _DECIMALS_AT_ONCE), target) for start in range(0, len(array), _DECIMALS_AT_ONCE)
    ]
    made = pa.concat_arrays(pieces) if pieces else pa.array([], target)
    made.validate(full=True)
    return made


def _union(array: pa.StructArray, branches: list[Json], target: pa.StructType) -> pa.Array:
    numbers = np.zeros(len(array), dtype=np.int8)
    parts = []
    for part, branch, child in zip(array.flatten(), branches, list(target)[1:], strict=True):
        numbers[part.is_valid().to_numpy(zero_copy_only=False)] = int(child.name.lstrip(_LETTERS))
        parts.append(restore(part, branch, child.type))
    return pa.StructArray.from_arrays([pa.array(numbers), *parts], fields=list(target), mask=array.is_null())


def _decimals(array: pa.LargeBinaryArray, target: pa.DataType) -> pa.Array:
    _, offsets_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offsets_buffer, dtype=np.int64, count=len(array) + 1, offset=array.offset * 8)
    data = np.frombuffer(data_buffer or b"", dtype=np.uint8)
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    ends, lengths = offsets[1:], np.where(valid, np.diff(offsets), 1)
    if (lengths == 0).any():
        raise ValueError("a decimal without any byte")
    if not len(data):
        return pa.nulls(len(array), target)
    width = int(lengths[0])
    if width <= _DECIMAL_BYTES and valid.all() and (lengths == width).all():
        return _fixed_decimals(data[offsets[0] : offsets[-1]].reshape(len(array), width), target)
    wide = max(_DECIMAL_BYTES, int(lengths.max()))
    # Byte 0 is the lowest. Where the number has no byte any more, its sign goes on.
    back = np.arange(wide)
    taken = data[np.clip(ends[:, None] - 1 - back, 0, len(data) - 1)]
    sign = np.where(data[np.clip(ends - lengths, 0, len(data) - 1)] >= 0x80, 0xFF, 0).astype(np.uint8)
    numbers = np.where(back < lengths[:, None], taken, sign[:, None])
    top = np.where(numbers[:, _DECIMAL_BYTES - 1] >= 0x80, 0xFF, 0).astype(np.uint8)
    if (numbers[valid, _DECIMAL_BYTES:] != top[valid, None]).any():
        raise ValueError(f"a decimal of more than {_DECIMAL_BYTES} bytes")
    numbers = np.ascontiguousarray(numbers[:, :_DECIMAL_BYTES])
    made = pa.Array.from_buffers(target, len(array), [None, pa.py_buffer(numbers)])
    return made if valid.all() else pc.if_else(pa.array(valid), made, pa.scalar(None, target))


def _fixed_decimals(written: np.ndarray, target: pa.DataType) -> pa.Array:
    """Numbers of the same length, one in each row: no end has to be found."""
    rows, width = written.shape
    numbers = np.empty((rows, _DECIMAL_BYTES), dtype=np.uint8)
    numbers[:, :width] = written[:, ::-1]
    # The sign goes on in the bytes above.
    numbers[:, width:] = (written[:, :1].view(np.int8) >> 7).view(np.uint8)
    return pa.Array.from_buffers(target, rows, [None, pa.py_buffer(numbers)])


def _offsets(array: pa.Array) -> pa.Array:
    # Of its own, since a slice's offsets do not begin at 0, and from_arrays takes a mask only with those.
    offsets = array.offsets.to_numpy(zero_copy_only=False)
    if len(offsets) and offsets[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"{offsets[-1]} elements in the lists of one block")
    return pa.array(offsets.astype(np.int32))
