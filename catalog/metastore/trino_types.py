"""Types as Presto and Trino write them into views, to Arrow types (Trino's ``TypeSignature``)."""

from __future__ import annotations

import re

import pyarrow as pa

from connector_spi.errors import NotSupportedError

__all__ = ["parse_trino_type"]

_SIMPLE: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double": pa.float64(),
    "varchar": pa.string(),
    "varbinary": pa.binary(),
    "date": pa.date32(),
}
_TEXT = re.compile(r"(?:var)?char\((\d+)\)|char")
_DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
_TIMESTAMP = re.compile(r"timestamp(?:\((\d+)\))?( with time zone)?")
_NESTED = re.compile(r"(array|map|row)\((.*)\)", re.DOTALL)
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([a-zA-Z_]\w*)) +(.+)', re.DOTALL)
_MICROSECONDS = 6
_MAX_PRECISION = 38


def parse_trino_type(text: str) -> pa.DataType:
    """Reads a type such as ``map(varchar, row(a bigint, "b c" decimal(10,2)))``.

    ``timestamp`` gives a naive ``timestamp[us]``, and one with a zone an instant in UTC.

    Raises:
        NotSupportedError: It has no Arrow type here, such as an interval or a time of day.
    """
    text = text.strip()
    if text.lower() in _SIMPLE:
        return _SIMPLE[text.lower()]
    lower = text.lower()
    if _TEXT.fullmatch(lower):
        return pa.string()
    decimal = _DECIMAL.fullmatch(lower)
    if decimal is not None and int(decimal.group(1)) <= _MAX_PRECISION:
        return pa.decimal128(int(decimal.group(1)), int(decimal.group(2)))
    timestamp = _TIMESTAMP.fullmatch(lower)
    if timestamp is not None and int(timestamp.group(1) or 3) <= _MICROSECONDS:
        return pa.timestamp("us", "UTC" if timestamp.group(2) else None)
    nested = _NESTED.fullmatch(text[:5].lower() + text[5:])
    if nested is None:
        raise NotSupportedError(f"the type {text} of Presto or Trino is not supported in a view")
    kind, parts = nested.group(1), _parts(nested.group(2))
    if kind == "array" and len(parts) == 1:
        return pa.list_(parse_trino_type(parts[0]))
    if kind == "map" and len(parts) == 2:
        return pa.map_(parse_trino_type(parts[0]), parse_trino_type(parts[1]))
    if kind == "row":
        return pa.struct([_field(part) for part in parts])
    raise NotSupportedError(f"the type {text} of Presto or Trino is not understood")


def _field(text: str) -> pa.Field:
    match = _FIELD.fullmatch(text)
    if match is None:
        raise NotSupportedError(f"the field {text} of a row of Presto or Trino has no name, which Spark cannot show")
    name = match.group(2) or (match.group(1) or "").replace('""', '"')
    return pa.field(name.lower(), parse_trino_type(match.group(3)))


def _parts(text: str) -> list[str]:
    """Splits at commas outside of parentheses and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif not quoted:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append(text[start:position].strip())
                start = position + 1
    return [*parts, text[start:].strip()]
