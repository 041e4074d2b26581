"""Columns with ids: the InternalSchema that Hudi notes of tables with schema on read (SerDeHelper). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import pyarrow as pa

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_SCHEMA, HUDI_SCHEMA_ON_READ

__all__ = ["InternalField", "InternalSchema", "parse_internal_schema", "parse_schema_history"]

_PRIMITIVES = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "time-millis": pa.time32("ms"),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "local-timestamp-micros": pa.timestamp("us"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "string": pa.string(),
    "uuid": pa.string(),
    "binary": pa.binary(),
}
_FIXED = re.compile(r"fixed\[\d+\]")
# Since 1.1 with how Avro holds them, of fixed bytes with their number.
_DECIMAL = re.compile(r"decimal(?:_bytes|_fixed)?\((\d+),\s*(\d+)\)(?:\[\d+\])?")

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class InternalField:
    """A column, or what a nested one is made of.

    Attributes:
        id: Stays when the field is renamed, retyped or moved; never given to another field.
        name: Its name in this version.
        type: Its Arrow type in this version, nested names included; fixed bytes are bytes.
        children: The fields of a record; the ``element`` of an array; ``key`` and ``value`` of a map.
    """

    id: int
    name: str
    type: pa.DataType
    children: tuple[InternalField, ...] = ()


@dataclass(frozen=True, slots=True)
class InternalSchema:
    """One version of a table's columns.

    Attributes:
        version: The instant that made it as a number; 0 for what was before the first change.
        fields: The columns in order, meta columns included.
    """

    version: int
    fields: tuple[InternalField, ...]

    @property
    def arrow(self) -> pa.Schema:
        """The columns without their ids."""
        return pa.schema([pa.field(field.name, field.type) for field in self.fields])

    def named(self, name: str) -> InternalField | None:
        """The column of a name."""
        return next((field for field in self.fields if field.name == name), None)


@lru_cache(maxsize=64)
def parse_internal_schema(text: str, where: str) -> InternalSchema:
    """Reads one version, as ``latest_schema`` in a write's metadata has it.

    Args:
        text: JSON.
        where: Names the table, for messages.

    Raises:
        CorruptFileError: The text is no such schema.
        NotSupportedError: A type is not understood.
    """
    try:
        return _schema(json.loads(text), where)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(where, text, error) from error


@lru_cache(maxsize=16)
def parse_schema_history(text: str, where: str) -> tuple[InternalSchema, ...]:
    """Reads a ``.schemacommit`` file: the versions of a table, oldest first.

    Raises:
        CorruptFileError: The text is no such history.
        NotSupportedError: A type is not understood.
    """
    try:
        versions = [_schema(version, where) for version in json.loads(text)["schemas"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(where, text, error) from error
    return tuple(sorted(versions, key=lambda version: version.version))


def _schema(record: Json, where: str) -> InternalSchema:
    fields = _fields(record, where, "")
    return InternalSchema(_number(record["version_id"]), fields)


def _fields(record: Json, where: str, path: str) -> tuple[InternalField, ...]:
    if record["type"] != "record":
        raise TypeError("not a record")
    made = tuple(_field(field["id"], field["name"], field["type"], where, path) for field in _records(record))
    if len({field.id for field in made}) < len(made) or len({field.name for field in made}) < len(made):
        raise ValueError("an id or a name is there twice")
    return made


def _records(record: Json) -> list[Json]:
    return cast(list[Json], record["fields"])


def _field(number: object, name: object, written: object, where: str, path: str) -> InternalField:
    path = f"{path}.{name}" if path else str(name)
    if isinstance(written, str):
        return InternalField(_number(number), str(name), _primitive(written, where, path))
    children = _children(cast(Json, written), where, path)
    return InternalField(_number(number), str(name), _nested(str(cast(Json, written)["type"]), children), children)


def _children(nested: Json, where: str, path: str) -> tuple[InternalField, ...]:
    parts = {"array": ("element",), "map": ("key", "value")}.get(str(nested["type"]))
    if parts is None:
        return _fields(nested, where, path)
    # Written with a hyphen or an underscore, by the version of Hudi.
    ids = (nested[f"{part}_id" if f"{part}_id" in nested else f"{part}-id"] for part in parts)
    return tuple(_field(number, part, nested[part], where, path) for number, part in zip(ids, parts, strict=True))


def _nested(kind: str, children: tuple[InternalField, ...]) -> pa.DataType:
    if kind == "array":
        return pa.list_(pa.field("element", children[0].type))
    if kind == "map":
        return pa.map_(children[0].type, children[1].type)
    return pa.struct([pa.field(child.name, child.type) for child in children])


def _primitive(written: str, where: str, path: str) -> pa.DataType:
    written = written.lower()
    found = _PRIMITIVES.get(written)
    if found is not None:
        return found
    if _FIXED.fullmatch(written):
        return pa.binary()
    decimal = _DECIMAL.fullmatch(written)
    if decimal is None:
        raise NotSupportedError(
            f"column '{path}' of {where} is of the type {written!r} in the table's schema history, which is not "
            "understood; rewrite the table to read it",
            HUDI_SCHEMA_ON_READ,
        )
    return pa.decimal128(int(decimal[1]), int(decimal[2]))


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError("not a number")
    return value


def _damaged(where: str, text: str, error: Exception) -> CorruptFileError:
    return CorruptFileError(
        f"the schema history of {where} is damaged ({type(error).__name__}): {text[:120]!r}; restore its "
        ".hoodie/.schema folder, or rewrite the table",
        HUDI_BAD_SCHEMA,
    )
