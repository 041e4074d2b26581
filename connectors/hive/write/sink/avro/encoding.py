"""Values by an Avro schema, many at a time (Avro 1.11 specification, "Binary Encoding"). Executor side.

Sources of what Hive writes: ``AvroSerializer``, ``TypeInfoToSchema`` of Hive 4.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.write.sink.cells.joined import join_cells, join_lists, numbers_of
from connectors.hive.write.sink.cells.numbers import fixed_cells, two_complement_cells, zigzag_cells
from connectors.hive.write.sink.text.leaves import compact
from connectors.toolkit.avro.schema import Json, reader_fields
from connectors.toolkit.cells import Positions

__all__ = ["Encode", "record_encoder"]

Encode = Callable[[pa.Array], pa.Array]
"""Makes ``binary`` values of the values of an array; those of NULL mean nothing."""
_END = b"\0"
_NUMBERS: Mapping[str, tuple[pa.DataType, ...]] = {
    "int": (pa.int8(), pa.int16(), pa.int32()),
    "long": (pa.int8(), pa.int16(), pa.int32(), pa.int64()),
}


def record_encoder(schema: str, columns: pa.Schema, where: str) -> Callable[[Sequence[pa.Array]], pa.Array]:
    """What encodes rows.

    Args:
        schema: Of the records, as JSON.
        columns: Of the rows.
        where: Begins messages.

    Raises:
        NotSupportedError: The schema is none, or does not have the columns in types that are written.
    """
    try:
        fields = reader_fields(schema)
    except ValueError as error:
        raise NotSupportedError(f"{where}: {error}", error_codes.HIVE_BAD_TABLE) from error
    return _fields_encoder(fields, list(columns), where)


def _fields_encoder(
    fields: Sequence[Mapping[str, Json]], columns: Sequence[pa.Field], where: str
) -> Callable[[Sequence[pa.Array]], pa.Array]:
    positions = {column.name.lower(): position for position, column in enumerate(columns)}
    names = [str(field["name"]).lower() for field in fields]
    if sorted(names) != sorted(positions):
        raise _refused(where, f"its Avro schema has the fields {', '.join(names)}, and it {', '.join(positions)}")
    order = [positions[name] for name in names]
    encoders = [
        _encoder(field["type"], columns[position].type, f"{where}, '{columns[position].name}'")
        for field, position in zip(fields, order, strict=True)
    ]

    def encode(arrays: Sequence[pa.Array]) -> pa.Array:
        return join_cells([one(arrays[position]) for one, position in zip(encoders, order, strict=True)])

    return encode


def _encoder(node: Json, kind: pa.DataType, where: str) -> Encode:
    """What encodes values of a type; those that are NULL, too."""
    if not isinstance(node, list):
        return _Required(_value_encoder(node, kind, where), where)
    others = [position for position, branch in enumerate(node) if branch != "null"]
    if len(others) != 1 or len(node) > 2:
        raise _refused(where, "its Avro schema has a union of several types")
    inner = _value_encoder(node[others[0]], kind, where)
    if len(node) == 1:
        return _Required(inner, where)
    return _Optional(inner, bytes([2 * others[0]]), bytes([2 - 2 * others[0]]))


@dataclass(frozen=True, slots=True)
class _Required:
    inner: Encode
    where: str

    def __call__(self, array: pa.Array) -> pa.Array:
        if array.null_count:
            raise _refused(self.where, "its Avro schema does not allow NULL, and a value is NULL")
        return self.inner(array)


@dataclass(frozen=True, slots=True)
class _Optional:
    inner: Encode
    value: bytes
    null: bytes

    def __call__(self, array: pa.Array) -> pa.Array:
        cells = join_cells([self.value, self.inner(array)])
        return pc.if_else(array.is_valid(), cells, pa.scalar(self.null, pa.binary())) if array.null_count else cells


def _value_encoder(node: Json, kind: pa.DataType, where: str) -> Encode:
    parts = node if isinstance(node, dict) else {"type": node}
    name, types = str(parts["type"]), pa.types
    if name == "record" and types.is_struct(kind):
        encode = _fields_encoder(cast("list[dict[str, Json]]", parts["fields"]), list(kind), where)
        return lambda array: encode(array.flatten())
    if name == "array" and types.is_list(kind):
        return _lists(_encoder(parts["items"], kind.value_type, f"{where} (an element)"))
    if name == "map" and types.is_map(kind) and types.is_string(kind.key_type):
        return _maps(_encoder(parts["values"], kind.item_type, f"{where} (a value)"))
    if name == "enum" and types.is_string(kind):
        return _symbols(cast("list[str]", parts["symbols"]), where)
    if name == "fixed" and types.is_binary(kind):
        return _sized(int(cast(int, parts["size"])), where)
    found = _leaf_encoder(name, str(parts.get("logicalType", "")), kind, where)
    if found is None or (types.is_decimal(kind) and (parts["precision"], parts.get("scale", 0)) != _digits(kind)):
        raise _refused(where, f"its type {kind} is {node} in the Avro schema")
    return found


def _leaf_encoder(name: str, logical: str, kind: pa.DataType, where: str) -> Encode | None:
    types = pa.types
    if kind in _NUMBERS.get(name, ()):
        return lambda array: zigzag_cells(numbers_of(array))
    if name == "int" and types.is_date(kind):
        return lambda array: zigzag_cells(numbers_of(array.cast(pa.int32())))
    if name == "long" and types.is_timestamp(kind) and logical in ("", "timestamp-millis"):
        return lambda array: zigzag_cells(_millis(array, where))
    if name == "boolean" and types.is_boolean(kind):
        return lambda array: fixed_cells(array.fill_null(False).to_numpy(zero_copy_only=False), "u1")
    for text, data_type, code in (("float", pa.float32(), "<f4"), ("double", pa.float64(), "<f8")):
        if name == text and kind == data_type:
            return lambda array, code=code: fixed_cells(array.fill_null(0).to_numpy(zero_copy_only=False), code)  # type: ignore[misc]
    if (name == "string" and types.is_string(kind)) or (name == "bytes" and types.is_binary(kind)):
        return lambda array: _with_lengths(array.cast(pa.binary()))
    if name == "bytes" and logical == "decimal" and types.is_decimal(kind):
        return lambda array: _with_lengths(two_complement_cells(array))
    return None


def _digits(kind: pa.DataType) -> tuple[int, int]:
    return kind.precision, kind.scale


def _with_lengths(cells: pa.Array) -> pa.Array:
    return join_cells([zigzag_cells(numbers_of(pc.binary_length(cells))), cells])


def _millis(array: pa.Array, where: str) -> Positions:
    micros = numbers_of(array.cast(pa.timestamp("us")).cast(pa.int64()))
    if (micros % 1000 != 0).any():
        raise _refused(where, "a time has a fraction of less than a millisecond, which Avro files of Hive do not hold")
    return micros // 1000


def _lists(inner: Encode) -> Encode:
    def encode(array: pa.Array) -> pa.Array:
        made = compact(array)
        return _blocks(made.offsets, join_lists(inner(made.values), made.offsets))

    return encode


def _maps(inner: Encode) -> Encode:
    def encode(array: pa.Array) -> pa.Array:
        made = compact(array)
        entries = join_cells([_with_lengths(made.keys.cast(pa.binary())), inner(made.items)])
        return _blocks(made.offsets, join_lists(entries, made.offsets))

    return encode


def _blocks(offsets: pa.Array, elements: pa.Array) -> pa.Array:
    """One block of all elements, none where there are none, and the end."""
    counts = np.diff(offsets.to_numpy()).astype(np.int64)
    begins = pc.if_else(pa.array(counts > 0), zigzag_cells(counts), pa.scalar(None, pa.binary()))
    return join_cells([begins, elements, _END])


def _symbols(symbols: Sequence[str], where: str) -> Encode:
    known = pa.array(symbols, pa.string())

    def encode(array: pa.Array) -> pa.Array:
        found = pc.index_in(array, known)
        if found.null_count > array.null_count:
            raise _refused(where, f"a text is none of the Avro schema's symbols {', '.join(symbols)}")
        return zigzag_cells(numbers_of(found))

    return encode


def _sized(size: int, where: str) -> Encode:
    def encode(array: pa.Array) -> pa.Array:
        if pc.any(pc.not_equal(pc.binary_length(array), size), min_count=0).as_py():
            raise _refused(where, f"a value has not the {size} bytes that the Avro schema's fixed type has")
        return array

    return encode


def _refused(where: str, reason: str) -> NotSupportedError:
    return NotSupportedError(
        f"{where}: {reason}; change the values or the schema, or use a table of ORC", error_codes.HIVE_UNSUPPORTED_TYPE
    )
