"""Values as Hive's LazyBinary SerDes write them, decoded many at a time (``LazyBinarySerDe.serialize``). Executor side.

A value inside of a row, list, map or struct tells its own length: texts behind a number, nested values behind four
bytes. A cell of an RCFile is the same value without that, since the file tells its length. Both are taken to where
the content lies (``locate``) and decoded from there (``decode``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.lazy.binary_leaves import decode_leaf, is_leaf, locate_leaf, read_fixed, stretch_ends
from connectors.toolkit.cells import Bytes, Positions, spread
from connectors.toolkit.codecs.hadoop_vints import read_vints
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import adaptation
from connectors.toolkit.schema.union_structs import is_union_struct

__all__ = ["check_binary_type", "decode", "decode_fields", "locate", "zoned"]


def check_binary_type(arrow: pa.DataType, where: str) -> None:
    """Refuses types that are not understood.

    Raises:
        NotSupportedError: With the type's name.
    """
    if is_leaf(arrow):
        return
    if pa.types.is_list(arrow) or pa.types.is_map(arrow) or pa.types.is_struct(arrow):
        for index in range(arrow.num_fields):
            check_binary_type(arrow.field(index).type, where)
        return
    raise NotSupportedError(f"{where} has a column of the type {arrow}, which Hive's binary SerDes do not write")


def zoned(arrow: pa.DataType, zone: str, where: str) -> tuple[pa.DataType, ArrayFunction | None]:
    """The type in which values are to be decoded, and what makes them values of ``arrow``.

    Hive since 3.1 writes the fields of a timestamp as if they were of UTC; Hive before, and Spark, the instant that
    the fields mean in the zone of the writer.

    Args:
        arrow: The column's type.
        zone: ``UTC``, or the zone of the writer.
        where: Names the file for messages.
    """
    if zone == "UTC" or (decoded := _instants(arrow)) == arrow:
        return arrow, None
    return decoded, adaptation(decoded, arrow, TimeConventions(zone=zone), where)


def locate(arrow: pa.DataType, data: Bytes, at: Positions, limits: Positions) -> tuple[Positions, Positions]:
    """Where the contents of values that tell their length lie.

    Args:
        arrow: Their type.
        data: The bytes.
        at: Where each begins.
        limits: The byte behind what each may take.

    Returns:
        The first byte of each content, and the byte behind it, where the next value begins.

    Raises:
        ValueError: A value takes more than it may.
    """
    if is_leaf(arrow):
        starts, ends = locate_leaf(arrow, data, at)
    else:
        starts, ends = at + 4, stretch_ends(at + 4, read_fixed(data, at, 4, ">i4").astype(np.int64))
    if (ends > limits).any():
        raise ValueError(f"a {arrow} that ends behind its record")
    return starts, ends


def decode(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    """Values by their contents, ascending and not overlapping; none is NULL.

    Raises:
        ValueError: A content is no value of the type.
    """
    if is_leaf(arrow):
        return decode_leaf(arrow, data, starts, ends)
    if is_union_struct(arrow):
        return _decode_unions(arrow, data, starts, ends)
    if pa.types.is_struct(arrow):
        fields = decode_fields([field.type for field in arrow], range(arrow.num_fields), data, starts, ends)
        return pa.StructArray.from_arrays(fields, fields=list(arrow))
    return _decode_lists(arrow, data, starts, ends)


def decode_fields(
    types: Sequence[pa.DataType], wanted: Sequence[int], data: Bytes, starts: Positions, ends: Positions
) -> list[pa.Array]:
    """Fields of rows or structs, field by field: every eight stand behind a byte that tells which are not NULL.

    Args:
        types: Types of all fields, in order.
        wanted: Positions of those to decode.
        data: The bytes.
        starts: First byte of each row's content.
        ends: The byte behind it. Fields behind the end are NULL, as in ``LazyBinaryStruct.parse``.
    """
    at = starts.copy()
    bits: Bytes = np.zeros(len(starts), dtype=np.uint8)
    found: dict[int, pa.Array] = {}
    for index, arrow in enumerate(types[: max(wanted, default=-1) + 1]):
        if index % 8 == 0:
            more = at < ends
            bits = np.zeros(len(at), dtype=np.uint8)
            bits[more] = data[at[more]]
            at = at + more
        valid = (bits >> (index % 8)) & 1 == 1
        begins, behind = locate(arrow, data, at[valid], ends[valid])
        at[valid] = behind
        if index in wanted:
            found[index] = spread(decode(arrow, data, begins, behind), valid)
    return [found[index] for index in wanted]


def _instants(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us", "UTC")
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_instants(field.type)) for field in arrow])
    if pa.types.is_map(arrow):
        return pa.map_(_instants(arrow.key_type), _instants(arrow.item_type))
    return pa.list_(_instants(arrow.value_type)) if pa.types.is_list(arrow) else arrow


def _decode_unions(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    """The number of the branch, and its value (``LazyBinaryUnion.parse``).

    Of a value that is NULL Hive writes nothing, and reads the bytes of what follows.
    """
    if (starts >= ends).any():
        raise ValueError("a union without the number of its type")
    tags, branches = data[starts], list(arrow)[1:]
    if (tags >= min(len(branches), 128)).any():
        raise ValueError(f"a union of {len(branches)} types with the number {tags.max()}")
    fields = [pa.array(tags.astype(np.int8))]
    for index, branch in enumerate(branches):
        mine = (tags == index) & (starts + 1 < ends)
        begins, behind = locate(branch.type, data, starts[mine] + 1, ends[mine])
        fields.append(spread(decode(branch.type, data, begins, behind), mine))
    return pa.StructArray.from_arrays(fields, fields=list(arrow))


def _decode_lists(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    kinds = [arrow.key_type, arrow.item_type] if pa.types.is_map(arrow) else [arrow.value_type]
    if not len(starts):
        return pa.array([], arrow)
    counts, sizes = read_vints(data, starts)
    if ((counts < 0) | (counts > 8 * (ends - starts))).any():
        raise ValueError(f"a {arrow} of {int(counts.max())} elements that ends behind its record")
    slots = counts * len(kinds)
    bits_at = starts + sizes
    at = bits_at + (slots + 7) // 8
    if (at > ends).any():
        raise ValueError(f"a {arrow} of {int(counts.max())} elements that ends behind its record")
    firsts = np.concatenate(([0], np.cumsum(slots)))
    owner = np.repeat(np.arange(len(starts)), slots)
    ordinal = np.arange(firsts[-1]) - firsts[owner]
    valid = (data[bits_at[owner] + ordinal // 8] >> (ordinal % 8).astype(np.uint8)) & 1 == 1
    begins, behind = _walk(
        kinds=kinds, data=data, at=at, limits=ends, owner=owner[valid], which=ordinal[valid] % len(kinds)
    )
    offsets = pa.array(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))
    children = []
    for index, kind in enumerate(kinds):
        mine = ordinal[valid] % len(kinds) == index
        values = decode(kind, data, begins[mine], behind[mine])
        children.append(spread(values, valid[ordinal % len(kinds) == index]))
    if len(children) == 1:
        return pa.ListArray.from_arrays(offsets, children[0], type=arrow)
    if children[0].null_count:
        raise ValueError("a map with a key that is NULL")
    return pa.MapArray.from_arrays(offsets, *children, type=arrow)


def _walk(
    kinds: Sequence[pa.DataType],
    data: Bytes,
    at: Positions,
    limits: Positions,
    owner: Positions,
    which: Positions,
) -> tuple[Positions, Positions]:
    """Where elements that follow each other lie: the n-th elements of all lists at once.

    Args:
        kinds: Their types.
        data: The bytes.
        at: Where the elements of each list begin.
        limits: The byte behind each list.
        owner: The list of each element that is not NULL, ascending.
        which: Its type, as a position in ``kinds``.
    """
    begins, behind = np.empty_like(owner), np.empty_like(owner)
    at = at.copy()
    counts = np.bincount(owner, minlength=len(at))
    firsts = np.concatenate(([0], np.cumsum(counts)))[:-1]
    # Lists from the longest to the shortest, so that those that have an n-th element are in front.
    order = np.argsort(-counts, kind="stable")
    longest = -counts[order]
    for number in range(int(counts.max(initial=0))):
        lists = order[: np.searchsorted(longest, -number, side="left")]
        elements = firsts[lists] + number
        for index, kind in enumerate(kinds):
            mine = which[elements] == index if len(kinds) > 1 else slice(None)
            own = lists[mine]
            start, end = locate(kind, data, at[own], limits[own])
            begins[elements[mine]], behind[elements[mine]] = start, end
            at[own] = end
    return begins, behind
