"""Rows as JSON texts, in the two forms that Hudi's change feed has. Executor side.

Images from file slices come as Jackson writes a Spark row (InternalRowToJsonStringConverter): without spaces, without
NULL fields, dates and times as Spark's numbers. Images from logs of changes come as Avro writes a record
(GenericData.toString): with spaces and NULLs, dates and times as Avro's numbers.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hudi.schema.evolution import java_text

__all__ = ["avro_json", "row_json"]

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class _Form:
    """What the two forms differ in."""

    comma: str
    colon: str
    has_nulls: bool
    escaped: str
    binary: Callable[[bytes], str]
    millis: bool


_ROW = _Form(
    comma=",",
    colon=":",
    has_nulls=False,
    escaped=r'["\\\x00-\x1f]',
    binary=lambda data: f'"{base64.b64encode(data).decode()}"',
    millis=False,
)
_AVRO_ESCAPED = r'["\\\x00-\x1f\x7f-\x9f\u2000-\u20ff]'
_AVRO = _Form(
    comma=", ",
    colon=": ",
    has_nulls=True,
    escaped=_AVRO_ESCAPED,
    binary=lambda data: '{"bytes": "' + _escaped(data.decode("latin-1"), _AVRO_ESCAPED) + '"}',
    millis=True,
)


def row_json(rows: pa.Table) -> pa.Array:
    """Rows of file slices as JSON objects of their columns.

    Returns:
        One string for each row. A decimal is a number, where Hudi shows the inside of a Java object.
    """
    return _texts(_struct(rows), _ROW)


def avro_json(records: pa.StructArray) -> pa.Array:
    """Records of a log of changes as JSON objects; a record that is NULL is the text ``null``, as Hudi writes it.

    Returns:
        One string for each record. A decimal is a number, where Hudi shows its bytes.
    """
    return pc.fill_null(_texts(records, _AVRO), "null")


def _struct(rows: pa.Table) -> pa.StructArray:
    arrays = [column.combine_chunks() for column in rows.columns]
    return pa.StructArray.from_arrays(arrays, fields=list(rows.schema))


def _texts(array: pa.Array, form: _Form) -> pa.Array:
    """The JSON text of each value; NULL of NULL."""
    kind = array.type
    if pa.types.is_struct(kind):
        return _object(array, form)
    if pa.types.is_map(kind):
        return _map(array, form)
    if pa.types.is_list(kind):
        return _list(array, form)
    if pa.types.is_string(kind):
        return _of_distinct(array, lambda text: _quoted(text, form))
    if pa.types.is_binary(kind):
        return _of_distinct(array, form.binary)
    if pa.types.is_floating(kind):
        numbers = java_text(array)
        special = pc.invert(pc.is_finite(array))
        return pc.if_else(special, pc.binary_join_element_wise('"', numbers, '"', ""), numbers)
    if pa.types.is_timestamp(kind) and not form.millis:
        return array.cast(pa.timestamp("us", kind.tz)).cast(pa.int64()).cast(pa.string())
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return array.cast(pa.int64()).cast(pa.string())
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return array.cast(pa.int32()).cast(pa.string())
    return array.cast(pa.string())


def _object(array: pa.StructArray, form: _Form) -> pa.Array:
    members = []
    for field, values in zip(array.type, array.flatten(), strict=True):
        texts = _texts(values, form)
        if form.has_nulls:
            texts = pc.fill_null(texts, "null")
        name = form.comma + _quoted(field.name, form) + form.colon
        members.append(pc.fill_null(pc.binary_join_element_wise(name, texts, ""), ""))
    # Joining with null_handling="skip" would lose rows of NULLs alone.
    inner = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*members, ""), len(form.comma))
    made = pc.binary_join_element_wise("{", inner, "}", "")
    return pc.if_else(array.is_valid(), made, None)


def _map(array: pa.MapArray, form: _Form) -> pa.Array:
    keys = array.keys
    names = _texts(keys, form)
    if not pa.types.is_string(keys.type):
        names = pc.binary_join_element_wise('"', names, '"', "")
    values = _texts(array.items, form)
    if form.has_nulls:
        values = pc.fill_null(values, "null")
    members = pc.binary_join_element_wise(names, values, form.colon)
    return _joined(array, members, form, "{", "}")


def _list(array: pa.ListArray, form: _Form) -> pa.Array:
    return _joined(array, pc.fill_null(_texts(array.values, form), "null"), form, "[", "]")


def _joined(array: pa.ListArray, members: pa.Array, form: _Form, start: str, end: str) -> pa.Array:
    """The members of each list, of all of which ``members`` are the texts; NULL members are left out."""
    kept = members.is_valid().to_numpy(zero_copy_only=False)
    before = np.concatenate(([0], np.cumsum(kept)))
    offsets = pa.array(before[array.offsets.to_numpy()], pa.int32())
    lists = pa.ListArray.from_arrays(offsets, members.drop_null())
    made = pc.binary_join_element_wise(start, pc.binary_join(lists, form.comma), end, "")
    return pc.if_else(array.is_valid(), made, None)


def _of_distinct(array: pa.Array, text: Callable[..., str]) -> pa.Array:
    encoded = array.dictionary_encode()
    texts = [text(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _quoted(text: str, form: _Form) -> str:
    return f'"{_escaped(text, form.escaped)}"'


def _escaped(text: str, pattern: str) -> str:
    return re.sub(pattern, lambda found: _SHORT.get(found[0], f"\\u{ord(found[0]):04X}"), text)
