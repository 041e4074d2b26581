"""Hive's ``JsonSerDe``: one JSON object in each record. Executor side.

Arrow reads records whose values are of the kinds that the columns have, with names in the columns' own case. Of any
other batch each record is read by Python's ``json``, and its values are taken as Hive's ``HiveJsonReader`` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.json.nodes import JsonValues, is_position
from connectors.hive.formats.json.scalars import JsonNumber
from connectors.hive.formats.lazy.parameters import timestamp_formats
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe
from connectors.hive.formats.text.times import timestamp_reader
from connectors.toolkit.schema.union_structs import is_union_struct

__all__ = ["JsonSerDe"]

_HCATALOG = "org.apache.hive.hcatalog.data.JsonSerDe"
# Behind the end of an object only these may come, or Arrow's reader could meet a second value in a line.
_SECOND_VALUE = rb"\}\s*[^,\}\]\s]"
_MOST_BRACKETS = 200
_MOST_DIGITS = 38
_MARK = b"\xef\xbb\xbf"
_MOST_BYTES = 1 << 28


class JsonSerDe(RowSerDe):
    """``STORED AS JSONFILE``, and the SerDe of HCatalog, which Hive 4 reads by the same code."""

    classes = frozenset({_HCATALOG, "org.apache.hadoop.hive.serde2.JsonSerDe"})
    unions = True

    def decoder(self, layout: RowLayout) -> RowDecoder:
        properties = layout.properties
        charset = properties.get("serialization.encoding", "")
        if charset and charset.lower() not in ("utf-8", "utf8"):
            raise NotSupportedError(
                f"{layout.where} has JSON of serialization.encoding={charset}; expected UTF-8, which alone JSON has",
                error_codes.HIVE_UNSUPPORTED_FORMAT,
            )
        names = [name.lower() for name in layout.declared.names]
        timestamps = timestamp_reader(timestamp_formats(properties), layout.where, shortest=0)
        values = JsonValues(timestamps, _raw_binary(properties, layout.where), layout.where)
        wanted = pa.schema([(names[at], layout.declared.field(at).type) for at in layout.wanted])
        reader = _JsonReader(
            values=values,
            wanted=wanted,
            declared=pa.struct([(name, field.type) for name, field in zip(names, layout.declared, strict=True)]),
            positions=layout.wanted,
            null_empty_lines=properties.get("text.null.empty.line", "false").lower() == "true",
            where=layout.where,
        )
        return reader.decode


@dataclass(frozen=True, slots=True)
class _JsonReader:
    values: JsonValues
    wanted: pa.Schema
    declared: pa.DataType
    positions: tuple[int, ...]
    null_empty_lines: bool
    where: str

    def decode(self, records: pa.Array) -> Sequence[pa.Array]:
        if not self.positions:
            return []
        found = self._fast(records)
        return self._slow(records) if found is None else found

    def _fast(self, records: pa.Array) -> list[pa.Array] | None:
        schema = _arrow_schema(self.wanted)
        if schema is None or not _fit_for_arrow(records):
            return None
        if any(pa.types.is_nested(field.type) for field in schema) and _has_negative_zero(records):
            return None
        _, offsets, values = pc.binary_join_element_wise(records, b"", b"\n").buffers()
        data = values.slice(0, int(np.frombuffer(offsets, np.int32)[len(records)]))
        try:
            table = pj.read_json(
                pa.BufferReader(data),
                pj.ReadOptions(use_threads=False, block_size=_MOST_BYTES),
                pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
            )
        except pa.ArrowException:
            return None
        if table.num_rows != len(records) or not _same_names(table.schema, schema, self.declared):
            return None
        columns = []
        for field in self.wanted:
            array = table[field.name].combine_chunks()
            if pa.types.is_struct(field.type) or pa.types.is_list(field.type):
                array = array.cast(schema.field(field.name).type)
            if not _is_sound(array):
                return None
            made = self._typed(array, field.type)
            if made is None:
                return None
            columns.append(made)
        return columns

    def _typed(self, array: pa.Array, target: pa.DataType) -> pa.Array | None:
        if pa.types.is_floating(target):
            # Not words that are no JSON, nor zeros below zero: -0 is 0, and -0.0 is not.
            numbers = array.fill_null(0).to_numpy()
            plain = np.isfinite(numbers).all() and not np.signbit(numbers[numbers == 0]).any()
            return array.cast(target, safe=False) if plain else None
        if array.type == target:
            return array
        if pa.types.is_decimal(array.type):
            try:
                return array.cast(target)
            except pa.ArrowInvalid:
                return None
        return self.values.text_leaf(array, target)

    def _slow(self, records: pa.Array) -> list[pa.Array]:
        nodes = [self._parse(record) for record in records.to_pylist()]
        fields = self.values.fields(nodes, self.declared) if self._all_are_needed(nodes) else None
        if fields is not None:
            return [fields[at] for at in self.positions]
        return self.values.fields(nodes, pa.struct(list(self.wanted)))

    def _all_are_needed(self, nodes: Sequence[object]) -> bool:
        """Whether columns go by their position (``_col3``), so that those which are not asked count, too."""
        return any(isinstance(node, dict) and any(map(is_position, node)) for node in nodes)

    def _parse(self, record: bytes) -> object:
        if not record and self.null_empty_lines:
            return None
        try:
            node, _ = _DECODER.raw_decode(record.removeprefix(_MARK).decode("utf-8").lstrip(" \t\r\n"))
        except (ValueError, RecursionError) as error:
            # An error of JSON holds all of the text.
            reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
            raise CorruptFileError(
                f"{self.where} has a line that is no JSON ({reason}): {record[:60]!r}; correct it, or drop it"
            ) from None
        return node


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


_DECODER = json.JSONDecoder(parse_float=JsonNumber, parse_constant=_refuse_constant)


def _arrow_schema(wanted: pa.Schema) -> pa.Schema | None:
    """What Arrow is to read the columns as; ``None`` where it cannot."""
    types = [_arrow_type(field.type) for field in wanted]
    if any(one is None for one in types):
        return None
    return pa.schema(list(zip(wanted.names, types, strict=True)))


def _arrow_type(target: pa.DataType) -> pa.DataType | None:
    if pa.types.is_map(target) or is_union_struct(target):
        return None
    if pa.types.is_list(target):
        inner = _arrow_type(target.value_type)
        return pa.list_(inner) if inner is not None and inner == target.value_type else None
    if pa.types.is_struct(target):
        kept = all(_arrow_type(field.type) == field.type for field in target)
        return target if kept and target.num_fields else None
    if pa.types.is_floating(target):
        return pa.float64()
    if pa.types.is_decimal(target) and target.precision + target.scale > _MOST_DIGITS:
        # Arrow's reader moves the point before it looks how many digits there are, and they run over.
        return pa.decimal256(_MOST_DIGITS, target.scale)
    if pa.types.is_temporal(target) or pa.types.is_binary(target):
        return pa.string()
    return target


def _fit_for_arrow(records: pa.Array) -> bool:
    """Whether each record looks like one object, so that Arrow's reader stays safe and gives a row for each."""
    if records.null_count or not _all(pc.match_substring_regex(records, rb"^\s*\{")):
        return False
    if bool(pc.any(pc.match_substring_regex(records, _SECOND_VALUE), min_count=0).as_py()):
        return False
    if _most_brackets(records) > _MOST_BRACKETS:
        return False
    try:
        records.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def _has_negative_zero(records: pa.Array) -> bool:
    """Whether a number may be ``-0``, which is an integer for Hive and so 0, and a floating-point number for Arrow."""
    return bool(pc.any(pc.match_substring_regex(records, rb"-0\s*[,\]}]"), min_count=0).as_py())


def _most_brackets(records: pa.Array) -> int:
    """How many brackets the record with most of them opens."""
    offsets = np.frombuffer(records.buffers()[1], np.int32)[records.offset : records.offset + len(records) + 1]
    data = np.frombuffer(records.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    opened = np.flatnonzero((data == ord("[")) | (data == ord("{")))
    return int(np.diff(np.searchsorted(opened, offsets - offsets[0])).max(initial=0))


def _same_names(found: pa.Schema, asked: pa.Schema, declared: pa.DataType) -> bool:
    """Whether no name that Arrow met beside those asked could mean a column in another case."""
    known = {field.name for field in declared}
    for field in found:
        if field.name in asked.names:
            if not _same_fields(field.type, asked.field(field.name).type):
                return False
        elif is_position(field.name) or (field.name not in known and field.name.lower() in known):
            return False
    return True


def _same_fields(found: pa.DataType, asked: pa.DataType) -> bool:
    if pa.types.is_list(asked):
        return _same_fields(found.value_type, asked.value_type)
    if not pa.types.is_struct(asked):
        return True
    # Any more fields are left to the slow path: their names could be those asked, in another case.
    names = [field.name for field in asked]
    same = [field.name for field in found] == names and all(name == name.lower() for name in names)
    return same and all(_same_fields(found.field(name).type, asked.field(name).type) for name in names)


def _is_sound(array: pa.Array) -> bool:
    """Whether all values are of the type: Arrow's reader does not look at the precision of decimals."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _raw_binary(properties: Mapping[str, str], where: str) -> bool:
    form = properties.get("json.binary.format", "base64").lower()
    if form not in ("base64", "rawstring"):
        raise NotSupportedError(
            f"{where} has json.binary.format={form!r}; expected base64 or rawstring",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )
    return form == "rawstring"


def _all(mask: pa.Array) -> bool:
    return bool(pc.all(mask, min_count=0).as_py())
