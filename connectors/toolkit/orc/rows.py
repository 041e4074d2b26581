"""Stripes of ORC files with times that pyarrow cannot hold, row by row by pyorc. Executor side.

pyarrow holds ORC's timestamps in nanoseconds, from 1677 to 2262, and others are rare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat

import pyarrow as pa
import pyorc

from connector_spi.errors import CorruptFileError
from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.orc.raw_times import RAW_TIMES
from connectors.toolkit.orc.union_tags import UnionSlots
from connectors.toolkit.orc.unions import OrcNode, orc_nodes
from connectors.toolkit.schema.union_structs import UNION_FIELD, UNION_TAG, is_union_struct, union_struct

__all__ = ["read_stripe_rows"]


def read_stripe_rows(
    source: pa.NativeFile,
    footer: OrcFooter,
    schema: pa.Schema,
    index: int,
    names: list[str] | None,
    slots: Mapping[int, UnionSlots],
    where: str,
) -> pa.RecordBatch:
    """Reads a stripe, with timestamps in microseconds and structs instead of unions.

    Args:
        source: The open file.
        footer: Its footer.
        schema: Its schema.
        index: Which stripe.
        names: What to read, dotted for fields of structs; all where it is ``None``.
        slots: Which unions of the stripe are there, and of which branch (``read_union_slots``).
        where: Names the file for messages.

    Raises:
        CorruptFileError: The streams of the unions are damaged, or those of rows.
    """
    read = _selected(schema, names)
    wanted = pa.schema([field.with_type(_stored(field.type)) for field in read])
    nodes = orc_nodes(read, schema, footer.types, where)
    reader = pyorc.Reader(
        source, column_names=names, converters=RAW_TIMES, struct_repr=pyorc.StructRepr.DICT, batch_size=4096
    )
    rows = reader.read_stripe(index).read()
    if any(row is None for row in rows):
        raise CorruptFileError(f"{where} has rows that are NULL; the file is damaged: restore it")
    arrays = []
    for field, node in zip(wanted, nodes, strict=True):
        values = _Values(slots)
        arrays.append(pa.array([values.plain(row[field.name], field.type, node) for row in rows], field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


class _Values:
    """Brings what pyorc gives into the form that Arrow takes, all the way down.

    Of a union pyorc gives the value alone, and None also where the union is NULL.
    """

    def __init__(self, slots: Mapping[int, UnionSlots]) -> None:
        self._slots = slots
        self._present: dict[int, Iterator[bool]] = {
            number: repeat(True) if one.present is None else iter(one.present.tolist()) for number, one in slots.items()
        }
        self._tags: dict[int, Iterator[int]] = {number: iter(one.tags.tolist()) for number, one in slots.items()}

    def plain(self, value: object, arrow: pa.DataType, node: OrcNode) -> object:
        """A value of a type. Unions of each type have to come in the order of rows."""
        if is_union_struct(arrow):
            return self._union(value, arrow, node)
        if isinstance(value, dict) and pa.types.is_map(arrow):
            keys, items = node.children
            pairs = value.items()
            return [
                (self.plain(one, arrow.key_type, keys), self.plain(item, arrow.item_type, items)) for one, item in pairs
            ]
        if isinstance(value, dict):
            fields = zip(arrow, node.children, strict=True)
            return {field.name: self.plain(value[field.name], field.type, child) for field, child in fields}
        if isinstance(value, list):
            return [self.plain(item, arrow.value_type, node.children[0]) for item in value]
        return value

    def _union(self, value: object, arrow: pa.DataType, node: OrcNode) -> object:
        present = next(self._present[node.number], None)
        if present is False:
            return None
        tag = next(self._tags[node.number], None)
        if present is None or tag is None:
            raise self._slots[node.number].corrupt()
        field = arrow.field(tag + 1)
        return {UNION_TAG: tag, f"{UNION_FIELD}{tag}": self.plain(value, field.type, node.children[tag])}


def _stored(arrow: pa.DataType) -> pa.DataType:
    """A type with timestamps in microseconds, and structs instead of unions."""
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us", arrow.tz)
    if pa.types.is_union(arrow):
        return union_struct([_stored(arrow.field(at).type) for at in range(arrow.num_fields)])
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(_stored(arrow.value_type)))
    if pa.types.is_map(arrow):
        return pa.map_(_stored(arrow.key_type), _stored(arrow.item_type))
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_stored(field.type)) for field in arrow])
    return arrow


def _selected(schema: pa.Schema, names: list[str] | None) -> pa.Schema:
    """The schema that reading ``names`` gives."""
    fields = []
    for field in schema:
        paths = None if names is None else [name for name in names if (name + ".").startswith(field.name + ".")]
        if paths is None or paths:
            fields.append(field.with_type(_select(field.type, field.name, paths)))
    return pa.schema(fields)


def _select(arrow: pa.DataType, path: str, names: list[str] | None) -> pa.DataType:
    if names is None or path in names:
        return arrow
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(_select(arrow.value_type, path, names)))
    if pa.types.is_struct(arrow):
        fields = []
        for field in arrow:
            inner = f"{path}.{field.name}"
            if any((name + ".").startswith(inner + ".") for name in names):
                fields.append(field.with_type(_select(field.type, inner, names)))
        return pa.struct(fields)
    return arrow
