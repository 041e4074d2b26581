"""JSON values to Arrow arrays with the leniency of Hive's ``HiveJsonReader``. Executor side.

The values are those of Python's ``json``, but for numbers with a point or an exponent, which stay text
(``JsonNumber``), so that decimals keep all their digits.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.text_times import TimestampReader, parse_dates
from connectors.hive.formats.text_values import parse_decimals
from connectors.toolkit.union_structs import is_union_struct

__all__ = ["JsonNumber", "JsonValues", "java_double_text"]

_POSITION_NAME = re.compile(r"_col([0-9]{1,6})")
_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")


class JsonNumber(str):
    """The text of a number that is no integer."""

    __slots__ = ()


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
        """The fields of objects, found by name in any case, or by position where they are called ``_colN``."""
        names = {field.name.lower(): at for at, field in enumerate(target)}
        columns: list[list[object]] = [[None] * len(nodes) for _ in target]
        for row, node in enumerate(nodes):
            for name, value in cast(dict[str, object], self._expect(node, dict, target) or {}).items():
                at = names.get(name)
                if at is None:
                    at = names.get(name.lower())
                    match = _POSITION_NAME.fullmatch(name)
                    if match is not None and int(match.group(1)) < len(columns):
                        at = int(match.group(1))
                if at is not None:
                    columns[at][row] = value
        return [self.column(column, field.type) for column, field in zip(columns, target, strict=True)]

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
        keys = [key for one in maps if one is not None for key in one]
        values = [value for one in maps if one is not None for value in one.values()]
        key_array = self.column(keys, target.key_type)
        if key_array.null_count:
            raise self._error(f"a key that is no {target.key_type}")
        items = self.column(values, target.item_type)
        return pa.MapArray.from_arrays(_offsets(maps), key_array, items, type=target, mask=_nulls(nodes))

    def _leaf(self, nodes: Sequence[object], target: pa.DataType) -> pa.Array:
        if pa.types.is_string(target):
            return pa.array([None if node is None else _text(node) for node in nodes], pa.string())
        for node in nodes:
            if isinstance(node, (dict, list)):
                raise self._error(f"{_shown(node)} where {target} is expected")
        if pa.types.is_integer(target):
            return pa.array([None if node is None else _wrapped(_integer(node), target) for node in nodes], target)
        if pa.types.is_floating(target):
            numbers = pa.array([None if node is None else _double(node) for node in nodes], pa.float64())
            return numbers.cast(target, safe=False)
        if pa.types.is_boolean(target):
            return pa.array([None if node is None else _boolean(node) for node in nodes], target)
        exact = pa.types.is_decimal(target)
        texts = [None if node is None else str(node) if exact else _text(node) for node in nodes]
        return self.text_leaf(pa.array(texts, pa.string()), target)

    def text_leaf(self, texts: pa.Array, target: pa.DataType) -> pa.Array:
        """Values of types that JSON holds as texts.

        Raises:
            CorruptFileError: A text is no date or no base64; Hive fails on these. Of others it makes NULL.
        """
        if pa.types.is_decimal(target):
            return parse_decimals(texts, target)
        if pa.types.is_timestamp(target):
            found = self._timestamps(texts)
            # Hive takes the wall-clock time for one in UTC.
            return found if target.tz is None else found.cast(pa.timestamp("us", target.tz))
        if pa.types.is_binary(target):
            return texts.cast(target) if self._raw_binary else self._base64(texts)
        dates = parse_dates(texts)
        if dates.null_count > texts.null_count:
            bad = texts.filter(pc.and_(dates.is_null(), texts.is_valid()))[0].as_py()
            raise self._error(f"{bad[:50]!r} where a date is expected")
        return dates

    def _base64(self, texts: pa.Array) -> pa.Array:
        try:
            values = [None if text is None else base64.b64decode(text, validate=True) for text in texts.to_pylist()]
        except (binascii.Error, ValueError) as error:
            raise self._error("a text that is not base64 where binary is expected") from error
        return pa.array(values, pa.binary())

    def _expect(self, node: object, kind: type, target: pa.DataType) -> object:
        if node is None or isinstance(node, kind):
            return node
        raise self._error(f"{_shown(node)} where {target} is expected")

    def _error(self, met: str) -> CorruptFileError:
        return CorruptFileError(f"{self._where} has in its JSON {met}; correct the line, or the column's type")


def java_double_text(value: float) -> str:
    """A number as Java's ``Double.toString`` writes it."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        text = repr(value)
        if "e" not in text:
            return text
    _, digits, _ = (number := Decimal(repr(value))).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    return f"{'-' if value < 0 else ''}{text[0]}.{text[1:] or '0'}E{number.adjusted()}"


def _nulls(nodes: Sequence[object]) -> pa.Array:
    return pa.array([node is None for node in nodes], pa.bool_())


def _offsets(values: Sequence[Sequence[object] | dict[str, object] | None]) -> pa.Array:
    offsets = [0]
    for value in values:
        offsets.append(offsets[-1] + (0 if value is None else len(value)))
    return pa.array(offsets, pa.int32())


def _text(node: object) -> str:
    if isinstance(node, JsonNumber):
        return java_double_text(float(node))
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, (dict, list)):
        return _compact(node)
    return str(node)


def _compact(node: object) -> str:
    if isinstance(node, dict):
        return "{" + ",".join(f"{_compact(key)}:{_compact(value)}" for key, value in node.items()) + "}"
    if isinstance(node, list):
        return "[" + ",".join(map(_compact, node)) + "]"
    if node is None:
        return "null"
    if isinstance(node, str) and not isinstance(node, JsonNumber):
        return json.dumps(node, ensure_ascii=False)
    return _text(node)


def _integer(node: object) -> int:
    """``JsonNode.asLong``: what is no number is 0."""
    if isinstance(node, JsonNumber):
        number = float(node)
        return max(-(1 << 63), min((1 << 63) - 1, int(number))) if math.isfinite(number) else 0
    if isinstance(node, (bool, int)):
        return int(node)
    text = str(node)
    return int(text) if _INTEGER.fullmatch(text) else int(_parsed(text))


def _wrapped(number: int, target: pa.DataType) -> int:
    """Java cuts off the upper bits of numbers that are too large."""
    half = 1 << (target.bit_width - 1)
    wrapped: int = (number + half) % (2 * half) - half
    return wrapped


def _double(node: object) -> float:
    if isinstance(node, str):
        return float(node) if isinstance(node, JsonNumber) else _parsed(node)
    return float(cast(int, node))


def _parsed(text: str) -> float:
    """``NumberInput.parseAsDouble``: what is no number is 0."""
    try:
        return float(text) if re.fullmatch(r"\s*[-+0-9.eE]+\s*", text) else 0.0
    except ValueError:
        return 0.0


def _boolean(node: object) -> bool:
    """``JsonNode.asBoolean``: numbers but 0, and the word true."""
    if isinstance(node, JsonNumber):
        return False
    if isinstance(node, str):
        return node.strip() == "true"
    return bool(node)


def _shown(node: object) -> str:
    kinds: dict[type, str] = {dict: "an object", list: "an array", bool: "a boolean", int: "a number"}
    return kinds.get(type(node), "a number" if isinstance(node, JsonNumber) else "a text")
