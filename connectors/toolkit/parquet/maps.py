"""Maps of Parquet whose keys are not marked as required, as old versions of Hive and Impala wrote them. Executor side.

Arrow does not open such a file. So it is shown a footer in which these maps are lists of keys and values, which are
made maps again when they are read. Only bytes are changed, none added: annotations (``MAP`` and ``MAP_KEY_VALUE`` to
``LIST``; ``ConvertedType`` and ``LogicalType`` of parquet-format) and the name of the group between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.toolkit.parquet.compact_protocol import LISTS, STRUCT, CompactReader

__all__ = ["is_map_key_error", "restored_maps", "restored_type", "with_listed_maps"]

_MARK = "\x1f"
_OPTIONAL, _REPEATED = 1, 2
_MAPS, _LIST, _LOGICAL_MAP, _LOGICAL_LIST = (1, 2), 3, 2, 3


def is_map_key_error(error: Exception) -> bool:
    """Whether Arrow refused a file for such a map."""
    return str(error).startswith("Map keys must be annotated as required")


def with_listed_maps(footer: bytearray) -> bytearray:
    """A footer with such maps as lists.

    Args:
        footer: The footer, which is changed and given back.

    Raises:
        ValueError: It is damaged.
    """
    try:
        elements = list(_elements(bytes(footer)))
    except IndexError as error:
        raise ValueError("a footer that ends too early") from error
    for outer, between, key in zip(elements, elements[1:], elements[2:], strict=False):
        pair = between.repetition == _REPEATED and between.children == 2
        if outer.marks and outer.children == 1 and pair and key.repetition == _OPTIONAL:
            for at, value in outer.marks:
                footer[at] = value
            start, end = between.name
            footer[start:end] = _MARK.encode() * (end - start)
    return footer


def restored_type(arrow: pa.DataType) -> pa.DataType:
    """A type with the maps that ``with_listed_maps`` made lists."""
    if not pa.types.is_nested(arrow):
        return arrow
    if pa.types.is_list(arrow):
        inner = restored_type(arrow.value_type)
        if _is_marked(arrow):
            return pa.map_(inner[0].type, inner[1])
        return arrow if inner == arrow.value_type else pa.list_(arrow.value_field.with_type(inner))
    if pa.types.is_map(arrow):
        return pa.map_(restored_type(arrow.key_type), arrow.item_field.with_type(restored_type(arrow.item_type)))
    if pa.types.is_struct(arrow):
        return pa.struct([one.with_type(restored_type(one.type)) for one in arrow])
    return arrow


def restored_maps(array: pa.Array, where: str) -> pa.Array:
    """An array of ``restored_type`` of its type.

    Raises:
        NotSupportedError: A key is NULL.
    """
    if not _is_changed(array.type):
        return array
    nulls = array.is_null() if array.null_count else None
    target = restored_type(array.type)
    if pa.types.is_struct(target):
        parts = [restored_maps(part, where) for part in array.flatten()]
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=nulls)
    # Offsets of a slice do not begin at 0, and from_arrays takes a mask only with offsets of their own.
    offsets = pa.array(array.offsets.to_numpy(zero_copy_only=False).astype("int32"))
    if pa.types.is_list(target):
        return pa.ListArray.from_arrays(offsets, restored_maps(array.values, where), type=target, mask=nulls)
    pairs = array.values.flatten() if pa.types.is_list(array.type) else [array.keys, array.items]
    keys, items = (restored_maps(part, where) for part in pairs)
    if keys.null_count:
        raise NotSupportedError(
            f"{where} has a map with a key that is NULL, which Arrow does not have; leave the column out, or write the "
            "file anew"
        )
    return pa.MapArray.from_arrays(offsets, keys, items, type=target, mask=nulls)


@dataclass(slots=True)
class _Element:
    """A ``SchemaElement``: what changes a map's annotations to a list's, and where its name is."""

    repetition: int = -1
    children: int = 0
    name: tuple[int, int] = (0, 0)
    marks: list[tuple[int, int]] = field(default_factory=list)


def _elements(footer: bytes) -> Iterator[_Element]:
    """The elements of ``FileMetaData.schema``, each group before what is in it."""
    reader = CompactReader(footer)
    for number, kind in reader.fields():
        if number == 2 and kind in LISTS:
            for _ in range(reader.list_header()[0]):
                yield _element(reader)
            return
        reader.skip(kind)


def _element(reader: CompactReader) -> _Element:
    found = _Element()
    for number, kind in reader.fields():
        if number == 3:
            found.repetition = reader.integer()
        elif number == 4:
            length = reader.varint()
            found.name = (reader.at, reader.at + length)
            reader.pass_over(length)
        elif number == 5:
            found.children = reader.integer()
        elif number == 6:
            at = reader.at
            if reader.integer() in _MAPS:
                found.marks.append((at, _LIST << 1))
        elif number == 10 and kind == STRUCT:
            for inner, inner_kind in reader.fields():
                if inner == _LOGICAL_MAP:
                    found.marks.append((reader.at - 1, _LOGICAL_LIST << 4 | inner_kind))
                reader.skip(inner_kind)
        else:
            reader.skip(kind)
    return found


def _is_marked(arrow: pa.DataType) -> bool:
    name = arrow.value_field.name
    return bool(name) and not name.strip(_MARK) and pa.types.is_struct(arrow.value_type)


def _is_changed(arrow: pa.DataType) -> bool:
    if pa.types.is_list(arrow) and _is_marked(arrow):
        return True
    return pa.types.is_nested(arrow) and any(_is_changed(arrow.field(at).type) for at in range(arrow.num_fields))
