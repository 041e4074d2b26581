"""Hive's type text to Arrow types and back (grammar: Hive's ``TypeInfoUtils.TypeInfoParser``)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from connector_spi.errors import ErrorCode, ErrorType, MetastoreError, NotSupportedError

__all__ = ["hive_type_text", "holds_union", "parse_hive_type"]

_BAD_TYPE = ErrorCode("METASTORE_BAD_TYPE", ErrorType.EXTERNAL)
"""A type in the metastore that is none of Hive's. Correct the column in Hive."""
_MAX_PRECISION = 38
_MAX_DEPTH = 200

_SIMPLE: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "double precision": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp with local time zone": pa.timestamp("us", "UTC"),
    "timestamplocaltz": pa.timestamp("us", "UTC"),
}
_REFUSED = ("void", "interval_year_month", "interval_day_time", "unknown", "variant", "geometry")
_TEXT_LENGTHS = {"varchar": 65535, "char": 255}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[ \t]+[A-Za-z_][A-Za-z0-9_]*)*")
_SPACE = re.compile(r"\s*")
_ARGUMENTS = re.compile(r"\(\s*([^()]*?)\s*\)")
_UNION = re.compile(r"\buniontype\s*<", re.IGNORECASE)
_QUOTED = re.compile(r"`((?:[^`]|``)*)`")


def parse_hive_type(text: str) -> pa.DataType:
    """Reads a Hive type.

    ``varchar`` and ``char`` give Arrow strings, ``decimal`` alone is ``decimal(10,0)``. ``timestamp``, which has
    no zone in Hive, gives a naive ``timestamp[us]``; ``timestamp with local time zone`` gives ``timestamp[us, UTC]``.
    A field of a struct may have any name without ``:``, or any name at all between backticks. ``uniontype<a,b>`` is
    ``struct<tag:tinyint,field0:a,field1:b>``, as in Trino: the number of the branch, and a field for each, NULL but for
    that of the branch. The metadata of ``tag`` has ``hive.type: uniontype``, since a struct may look so, too, and the
    number of branches as ``hive.branches``.

    Args:
        text: As the metastore has it, in any case, such as ``map<string,array<struct<a:int,b:decimal(10,2)>>>``.

    Raises:
        NotSupportedError: The type, or one inside of it, is ``void`` or an interval.
        MetastoreError: The text is no Hive type.
    """
    parser = _Parser(text)
    parsed = parser.parse_type(0)
    parser.skip_space()
    if parser.position != len(text):
        raise parser.error("the end")
    return parsed


def holds_union(text: str) -> bool:
    """Whether a Hive type is ``uniontype``, or has one inside; ``parse_hive_type`` makes a struct of it."""
    return _UNION.search(text) is not None


def hive_type_text(arrow: pa.DataType) -> str:
    """Writes an Arrow type as the Hive type that holds all its values.

    Raises:
        NotSupportedError: Hive has no such type, such as unsigned 64-bit integers or times of day.
    """
    for matches, write in _WRITERS:
        if matches(arrow):
            return write(arrow)
    raise NotSupportedError(f"Hive has no type for Arrow's {arrow}; cast the column to a type that Hive has")


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def error(self, expected: str) -> MetastoreError:
        return MetastoreError(
            f"cannot read the Hive type {self.text!r} at position {self.position}: expected {expected}", _BAD_TYPE
        )

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def take(self, symbol: str) -> bool:
        self.skip_space()
        found = self.text.startswith(symbol, self.position)
        self.position += len(symbol) if found else 0
        return found

    def expect(self, symbol: str) -> None:
        if not self.take(symbol):
            raise self.error(repr(symbol))

    def parse_type(self, depth: int) -> pa.DataType:
        if depth > _MAX_DEPTH:
            raise NotSupportedError(f"Hive types of more than {_MAX_DEPTH} levels are not supported: {self.text:.80}")
        self.skip_space()
        match = _WORD.match(self.text, self.position)
        if match is None:
            raise self.error("the name of a type")
        name = " ".join(match.group().lower().split())
        if name in _REFUSED or name.startswith("interval"):
            raise NotSupportedError(f"the Hive type {name} (in {self.text!r}) is not supported; leave the column out")
        start, self.position = self.position, match.end()
        if name in _SIMPLE:
            return _SIMPLE[name]
        if name in ("decimal", "numeric", "dec"):
            return self._parse_decimal()
        if name in _TEXT_LENGTHS:
            return self._parse_text(name)
        if name == "array":
            return self._parse_array(depth)
        if name == "map":
            return self._parse_map(depth)
        if name == "struct":
            return self._parse_struct(depth)
        if name == "uniontype":
            return self._parse_union(depth)
        self.position = start
        raise self.error("a type that Hive has")

    def _parse_array(self, depth: int) -> pa.DataType:
        self.expect("<")
        element = self.parse_type(depth + 1)
        self.expect(">")
        return pa.list_(element)

    def _parse_map(self, depth: int) -> pa.DataType:
        self.expect("<")
        key = self.parse_type(depth + 1)
        self.expect(",")
        value = self.parse_type(depth + 1)
        self.expect(">")
        return pa.map_(key, value)

    def _parse_struct(self, depth: int) -> pa.DataType:
        self.expect("<")
        fields: list[pa.Field] = []
        while not self.take(">"):
            if fields:
                self.expect(",")
            name = self._parse_field_name()
            fields.append(pa.field(name, self.parse_type(depth + 1)))
        return pa.struct(fields)

    def _parse_union(self, depth: int) -> pa.DataType:
        self.expect("<")
        fields = [pa.field("field0", self.parse_type(depth + 1))]
        while not self.take(">"):
            self.expect(",")
            fields.append(pa.field(f"field{len(fields)}", self.parse_type(depth + 1)))
        mark = {"hive.type": "uniontype", "hive.branches": str(len(fields))}
        return pa.struct([pa.field("tag", pa.int8(), metadata=mark), *fields])

    def _parse_field_name(self) -> str:
        self.skip_space()
        quoted = _QUOTED.match(self.text, self.position)
        if quoted is not None and self.text[quoted.end() : quoted.end() + 1] == ":":
            self.position = quoted.end() + 1
            return quoted.group(1).replace("``", "`")
        # Hive itself writes field names unquoted, whatever they hold; the first colon ends them.
        colon = self.text.find(":", self.position)
        if colon <= self.position:
            raise self.error("the name of a field and ':'")
        name = self.text[self.position : colon].strip()
        self.position = colon + 1
        return name

    def _arguments(self) -> list[str] | None:
        self.skip_space()
        match = _ARGUMENTS.match(self.text, self.position)
        if match is None:
            if self.text.startswith("(", self.position):
                raise self.error("arguments in parentheses")
            return None
        arguments = [part.strip() for part in match.group(1).split(",")]
        if not all(part.isascii() and part.isdigit() for part in arguments):
            raise self.error("whole numbers in parentheses")
        self.position = match.end()
        return arguments

    def _parse_decimal(self) -> pa.DataType:
        arguments = self._arguments()
        if arguments is None:
            return pa.decimal128(10, 0)
        precision, scale = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0
        if len(arguments) > 2 or not 1 <= precision <= _MAX_PRECISION or scale > precision:
            raise self.error("a decimal of precision 1 to 38 and a scale no greater")
        return pa.decimal128(precision, scale)

    def _parse_text(self, name: str) -> pa.DataType:
        arguments = self._arguments()
        if arguments is None or len(arguments) != 1 or not 1 <= int(arguments[0]) <= _TEXT_LENGTHS[name]:
            raise self.error(f"{name}(n), n from 1 to {_TEXT_LENGTHS[name]}")
        return pa.string()


def _decimal_text(arrow: pa.DataType) -> str:
    if arrow.precision > _MAX_PRECISION or not 0 <= arrow.scale <= arrow.precision:
        raise NotSupportedError(f"Hive has no type for Arrow's {arrow}: precision is at most 38, scale at least 0")
    return f"decimal({arrow.precision},{arrow.scale})"


def _timestamp_text(arrow: pa.DataType) -> str:
    return "timestamp" if arrow.tz is None else "timestamp with local time zone"


def _struct_text(arrow: pa.DataType) -> str:
    return "struct<" + ",".join(f"{_field_text(field.name)}:{hive_type_text(field.type)}" for field in arrow) + ">"


def _field_text(name: str) -> str:
    if not name:
        raise NotSupportedError("Hive has no struct fields with an empty name; rename the field")
    if ":" in name or name != name.strip() or name[0] in "`>":
        return "`" + name.replace("`", "``") + "`"
    return name


def _list_like(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_fixed_size_list(arrow))


def _is(*kinds: pa.DataType) -> Callable[[pa.DataType], bool]:
    return lambda arrow: arrow in kinds


_WRITERS: list[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], str]]] = [
    (_is(pa.bool_()), lambda _: "boolean"),
    (_is(pa.int8()), lambda _: "tinyint"),
    (_is(pa.int16(), pa.uint8()), lambda _: "smallint"),
    (_is(pa.int32(), pa.uint16()), lambda _: "int"),
    (_is(pa.int64(), pa.uint32()), lambda _: "bigint"),
    (_is(pa.float32(), pa.float16()), lambda _: "float"),
    (_is(pa.float64()), lambda _: "double"),
    (_is(pa.string(), pa.large_string(), pa.string_view()), lambda _: "string"),
    (_is(pa.binary(), pa.large_binary(), pa.binary_view()), lambda _: "binary"),
    (pa.types.is_fixed_size_binary, lambda _: "binary"),
    (_is(pa.date32()), lambda _: "date"),
    (pa.types.is_timestamp, _timestamp_text),
    (pa.types.is_decimal, _decimal_text),
    (pa.types.is_dictionary, lambda arrow: hive_type_text(arrow.value_type)),
    (_list_like, lambda arrow: f"array<{hive_type_text(arrow.value_type)}>"),
    (pa.types.is_map, lambda arrow: f"map<{hive_type_text(arrow.key_type)},{hive_type_text(arrow.item_type)}>"),
    (pa.types.is_struct, _struct_text),
]
