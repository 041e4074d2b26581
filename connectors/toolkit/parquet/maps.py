"""Maps of Parquet whose keys are not marked as required, as old versions of Hive and Impala wrote them. Executor side.

Arrow does not open such a file. So it is shown a footer in which these maps are lists of keys and values, which are
made maps again when they are read. Only bytes are changed, none added: annotations (``MAP`` and ``MAP_KEY_VALUE`` to
``LIST``; ``ConvertedType`` and ``LogicalType`` of parquet-format) and the name of the group between.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.errors import NotSupportedError
from connectors.toolkit.codecs.varints import read_varint, unzigzag

__all__ = ["is_map_key_error", "open_with_maps", "restored_maps", "restored_type"]

_OPTIONS = inspect.signature(pq.ParquetFile.__init__).parameters
_MARK = "\x1f"
_MAGIC = b"PAR1"
_OPTIONAL, _REPEATED = 1, 2
_MAPS, _LIST, _LOGICAL_MAP, _LOGICAL_LIST = (1, 2), 3, 2, 3
# Types of Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _ITEMS, _PAIRS, _STRUCT = 1, 2, 3, 7, 8, (9, 10), 11, 12
_MOST_NESTED = 32
# JSON and UUID as the texts and bytes that they are; older versions of pyarrow know nothing else.
_STORAGE_TYPES = {"arrow_extensions_enabled": False} if "arrow_extensions_enabled" in _OPTIONS else {}


def is_map_key_error(error: Exception) -> bool:
    """Whether Arrow refused a file for such a map."""
    return str(error).startswith("Map keys must be annotated as required")


def open_with_maps(source: pa.NativeFile) -> pq.ParquetFile:
    """Opens a file, with maps whose keys are not marked as required as lists.

    Raises:
        ArrowInvalid: It is no Parquet file, or it is damaged.
    """
    try:
        return pq.ParquetFile(source, coerce_int96_timestamp_unit="us", **_STORAGE_TYPES)
    except pa.ArrowInvalid as error:
        if not is_map_key_error(error):
            raise
        try:
            metadata = _listed_maps(source)
        except ValueError:
            raise error from None
        return pq.ParquetFile(source, metadata=metadata, coerce_int96_timestamp_unit="us", **_STORAGE_TYPES)


def restored_type(arrow: pa.DataType) -> pa.DataType:
    """A type with the maps that ``open_with_maps`` made lists, and texts and bytes as no more than that."""
    if isinstance(arrow, pa.BaseExtensionType):
        return restored_type(arrow.storage_type)
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
    if isinstance(array.type, pa.BaseExtensionType):
        return restored_maps(array.storage, where)
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


def _listed_maps(source: pa.NativeFile) -> pq.FileMetaData:
    size = source.size()
    length = int.from_bytes(source.read_at(4, size - 8), "little")
    footer = bytearray(source.read_at(length, size - 8 - length))
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
    file = _MAGIC + bytes(footer) + length.to_bytes(4, "little") + _MAGIC
    return pq.ParquetFile(pa.BufferReader(file)).metadata


@dataclass(slots=True)
class _Element:
    """A ``SchemaElement``: what changes a map's annotations to a list's, and where its name is."""

    repetition: int = -1
    children: int = 0
    name: tuple[int, int] = (0, 0)
    marks: list[tuple[int, int]] = field(default_factory=list)


def _elements(footer: bytes) -> Iterator[_Element]:
    """The elements of ``FileMetaData.schema``, each group before what is in it."""
    reader = _CompactReader(footer)
    for number, kind in reader.fields():
        if number == 2 and kind in _ITEMS:
            for _ in range(reader.list_header()[0]):
                yield _element(reader)
            return
        reader.skip(kind)


def _element(reader: _CompactReader) -> _Element:
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
        elif number == 10 and kind == _STRUCT:
            for inner, inner_kind in reader.fields():
                if inner == _LOGICAL_MAP:
                    found.marks.append((reader.at - 1, _LOGICAL_LIST << 4 | inner_kind))
                reader.skip(inner_kind)
        else:
            reader.skip(kind)
    return found


class _CompactReader:
    """Walks through a message of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and type of each field of a struct; the value has to be read before the next is asked."""
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self.integer()
            yield number, header & 15

    def list_header(self) -> tuple[int, int]:
        """How many items a list has, and of which type."""
        header = self._byte()
        return (header >> 4 if header >> 4 < 15 else self.varint()), header & 15

    def varint(self) -> int:
        """A number without a sign."""
        number, self.at = read_varint(self._data, self.at)
        return number

    def integer(self) -> int:
        """A number."""
        return unzigzag(self.varint())

    def pass_over(self, length: int) -> None:
        """Goes some bytes on."""
        self.at += length
        if self.at > len(self._data):
            raise IndexError(self.at)

    def skip(self, kind: int, depth: int = 0) -> None:
        """Passes over a value."""
        if depth > _MOST_NESTED:
            raise ValueError("a footer that is nested too deeply")
        if kind in (_BYTE, _DOUBLE):
            self.pass_over(1 if kind == _BYTE else 8)
        elif kind == _BINARY:
            self.pass_over(self.varint())
        elif kind in _ITEMS:
            count, inner = self.list_header()
            for _ in range(count):
                self.skip(_BYTE if inner in (_TRUE, _FALSE) else inner, depth + 1)
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner, depth + 1)
        elif kind == _PAIRS:
            raise ValueError("a footer with a map, which Parquet's does not have")
        elif kind not in (_TRUE, _FALSE):
            self.varint()

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]


def _is_marked(arrow: pa.DataType) -> bool:
    name = arrow.value_field.name
    return bool(name) and not name.strip(_MARK) and pa.types.is_struct(arrow.value_type)


def _is_changed(arrow: pa.DataType) -> bool:
    if isinstance(arrow, pa.BaseExtensionType) or (pa.types.is_list(arrow) and _is_marked(arrow)):
        return True
    return pa.types.is_nested(arrow) and any(_is_changed(arrow.field(at).type) for at in range(arrow.num_fields))
