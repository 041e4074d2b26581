"""JSON values to Arrow arrays with the leniency of Hive's ``HiveJsonReader``. Executor side.

The values are those of Python's ``json``, but for numbers with a point or an exponent, which are ``JsonNumber``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.json.scalars import (
    JsonNumber,
    base64_bytes,
    node_boolean,
    node_decimal,
    node_double,
    node_integer,
    node_text,
)
from connectors.hive.formats.lazy.keys import key_codes
from connectors.hive.formats.text.times import TimestampReader, parse_dates
from connectors.hive.formats.text.values import parse_decimals
from connectors.toolkit.schema.union_structs import is_union_struct

__all__ = ["JsonValues", "is_position"]

_POSITION = re.compile(r"[+-]?0*\d{1,9}")
_POSITION_NAME = re.compile(r"_col([0-9]+)")


class JsonValues:
    """Turns parsed values into columns.

    Args:
        timestamps: Reads texts as wall-clock times.
        raw_binary: Binary values are texts as they stand, not base64.
        where: Names the file for messages.
    """

    def __init__(self, timestamps: TimestampReader, raw_binary: bool, where: str) -> None:
        self._timestamps = timestamps
        self._raw_binary = raw_binary
        self._where = where

    def column(self, nodes: Sequence[object], target: pa.DataType) -> pa.Array:
        """An array of a type, of one node for each row; ``None`` is NULL.

        Raises:
            CorruptFileError: A node is of a kind that Hive fails on, too: a number where an object is expected.
            NotSupportedError: A value of a ``uniontype`` is not NULL. Hive does not read those either.
        """
        if is_union_struct(target):
            return self._unions(nodes, target)
        if pa.types.is_struct(target):
            fields = self.fields(nodes, target)
            return pa.StructArray.from_arrays(fields, fields=list(target), mask=_nulls(nodes))
        if pa.types.is_map(target):
            return self._maps(nodes, target)
        if pa.types.is_list(target):
            lists = [cast(list[object] | None, self._expect(node, list, target)) for node in nodes]
            values = [item for one in lists if one is not None for item in one]
            offsets = _offsets(lists)
            return pa.ListArray.from_arrays(
                offsets, self.column(values, target.value_type), type=target, mask=_nulls(nodes)
            )
        return self._leaf(nodes, target)

    def fields(self, nodes: Sequence[object], target: pa.DataType) -> list[pa.Array]:
        """The fields of objects, found by name in any case, or by position where they are called ``_colN`` or ``N``."""
        names = {field.name.lower(): at for at, field in enumerate(target)}
        columns: list[list[object]] = [[None] * len(nodes) for _ in target]
        for row, node in enumerate(nodes):
            for name, value in cast(dict[str, object], self._expect(node, dict, target) or {}).items():
                at = names.get(name)
                if at is None or name.startswith("_col"):
                    at = self._place(name, names)
                if at is not None:
                    columns[at][row] = value
        return [self.column(column, field.type) for column, field in zip(columns, target, strict=True)]

    def _place(self, name: str, names: Mapping[str, int]) -> int | None:
        match = _POSITION_NAME.fullmatch(name)
        if match is None:
            at = names.get(name.lower())
            # A number is a position, too (``ObjectInspectorUtils.getStandardStructFieldRef``).
            number = int(name) if at is None and _POSITION.fullmatch(name) else -1
            return number if 0 <= number < len(names) else at
        digits = match.group(1).lstrip("0") or "0"
        if len(digits) > 9 or int(digits) >= len(names):
            raise self._error(f"the name {name[:50]!r} where there are {len(names)} fields")
        return int(digits)

    def _unions(self, nodes: Sequence[object], target: pa.DataType) -> pa.Array:
        if any(node is not None for node in nodes):
            raise NotSupportedError(
                f"{self._where} has in its JSON a value of a uniontype that is not NULL; Hive, which writes such, does "
                "not read them either ('Parsing of: UNION is not supported'): leave the column out",
                error_codes.HIVE_UNSUPPORTED_TYPE,
            )
        return pa.nulls(len(nodes), target)

    def _maps(self, nodes: Sequence[object], target: pa.DataType) -> pa.Array:
        maps = [cast(dict[str, object] | None, self._expect(node, dict, target)) for node in nodes]
        keys = self.column([key for one in maps if one is not None for key in one], target.key_type)
        values = [value for one in maps if one is not None for value in one.values()]
        if keys.null_count:
            raise self._error(f"a key that is no {target.key_type}")
        offsets = _offsets(maps)
        if not pa.types.is_string(target.key_type):
            keys, values, offsets = _last_of_equal(keys, values, offsets)
        items = self.column(values, target.item_type)
        return pa.MapArray.from_arrays(offsets, keys, items, type=target, mask=_nulls(nodes))

    def _leaf(self, nodes: Sequence[object], target: pa.DataType) -> pa.Array:
        if pa.types.is_string(target):
            return pa.array([None if node is None else node_text(node) for node in nodes], pa.string())
        for node in nodes:
            if isinstance(node, (dict, list)):
                raise self._error(f"{_shown(node)} where {target} is expected")
        if pa.types.is_integer(target):
            bits = target.bit_width
            return pa.array([None if node is None else node_integer(node, bits) for node in nodes], target)
        if pa.types.is_floating(target):
            numbers = pa.array([None if node is None else node_double(node) for node in nodes], pa.float64())
            return numbers.cast(target, safe=False)
        if pa.types.is_boolean(target):
            return pa.array([None if node is None else node_boolean(node) for node in nodes], target)
        if pa.types.is_binary(target):
            return self.text_leaf(pa.array([self._binary_text(node) for node in nodes], pa.string()), target)
        as_text = node_decimal if pa.types.is_decimal(target) else node_text
        texts = [None if node is None else as_text(node) for node in nodes]
        return self.text_leaf(pa.array(texts, pa.string()), target)

    def _binary_text(self, node: object) -> str | None:
        """``JsonNode.binaryValue`` of what is no text is nothing, and ``textValue`` an error."""
        if isinstance(node, str) and not isinstance(node, JsonNumber):
            return node_text(node)
        if node is not None and self._raw_binary:
            raise self._error(f"{_shown(node)} where binary is expected")
        return None

    def text_leaf(self, texts: pa.Array, target: pa.DataType) -> pa.Array:
        """Values of types that JSON holds as texts.

        Raises:
            CorruptFileError: A text is no date, no instant or no base64; Hive fails on these. Of others it makes NULL.
        """
        if pa.types.is_decimal(target):
            return parse_decimals(texts, target)
        if pa.types.is_timestamp(target):
            found = self._timestamps(texts)
            if target.tz is None:
                return found
            # Hive takes the wall-clock time for one in UTC.
            return self._no_more_nulls(texts, found, "a time").cast(pa.timestamp("us", target.tz))
        if pa.types.is_binary(target):
            return texts.cast(target) if self._raw_binary else self._base64(texts)
        return self._no_more_nulls(texts, parse_dates(texts), "a date")

    def _no_more_nulls(self, texts: pa.Array, found: pa.Array, expected: str) -> pa.Array:
        if found.null_count > texts.null_count:
            bad = texts.filter(pc.and_(found.is_null(), texts.is_valid()))[0].as_py()
            raise self._error(f"{bad[:50]!r} where {expected} is expected")
        return found

    def _base64(self, texts: pa.Array) -> pa.Array:
        try:
            values = [None if text is None else base64_bytes(text) for text in texts.to_pylist()]
        except ValueError as error:
            raise self._error("a text that is not base64 where binary is expected") from error
        return pa.array(values, pa.binary())

    def _expect(self, node: object, kind: type, target: pa.DataType) -> object:
        if node is None or isinstance(node, kind):
            return node
        raise self._error(f"{_shown(node)} where {target} is expected")

    def _error(self, met: str) -> CorruptFileError:
        return CorruptFileError(f"{self._where} has in its JSON {met}; correct the line, or the column's type")


def _nulls(nodes: Sequence[object]) -> pa.Array:
    return pa.array([node is None for node in nodes], pa.bool_())


def is_position(name: str) -> bool:
    """Whether a name may tell the position of a column."""
    return name.startswith("_col") or _POSITION.fullmatch(name) is not None


def _last_of_equal(keys: pa.Array, values: list[object], offsets: pa.Array) -> tuple[pa.Array, list[object], pa.Array]:
    """Of texts that are one key, such as ``1`` and ``01``, the first position and the last value."""
    bounds, known = offsets.to_pylist(), key_codes(keys).to_pylist()
    kept: list[int] = []
    made = [0]
    for start, end in pairwise(bounds):
        positions: dict[int, int] = {}
        for at in range(start, end):
            values[positions.setdefault(known[at], at)] = values[at]
        kept.extend(positions.values())
        made.append(len(kept))
    if len(kept) == len(values):
        return keys, values, offsets
    return keys.take(pa.array(kept, pa.int64())), [values[at] for at in kept], pa.array(made, pa.int32())


def _offsets(values: Sequence[Sequence[object] | dict[str, object] | None]) -> pa.Array:
    offsets = [0]
    for value in values:
        offsets.append(offsets[-1] + (0 if value is None else len(value)))
    return pa.array(offsets, pa.int32())


def _shown(node: object) -> str:
    kinds: dict[type, str] = {dict: "an object", list: "an array", bool: "a boolean", int: "a number"}
    return kinds.get(type(node), "a number" if isinstance(node, JsonNumber) else "a text")
