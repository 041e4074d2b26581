"""From the schema that an Avro file was written with to the columns of a table. Executor side.

Hive reads a file with a schema of its own: the one that the table's properties give, or one made of the columns, in
which each may be NULL (``AvroSerdeUtils.determineSchemaOrThrowException``, ``TypeInfoToSchema``). Fields are matched
by name or alias, and what the file lacks has the default (Avro specification, "Schema Resolution").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.avro.defaults import default_array
from connectors.hive.formats.avro.names import reader_names, renamed
from connectors.hive.formats.avro.shapes import shape
from connectors.hive.formats.avro.types import natural_type
from connectors.toolkit.avro.schema import AvroRecordSchema, Json, reader_fields
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import adaptation

__all__ = ["ColumnPlan", "ReaderSchema", "check_reader_schema", "plan_column"]

ReaderSchema = tuple[Mapping[str, Json], ...]
"""Fields of a table's own schema, with their names, types, defaults and aliases."""


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """How a column comes about.

    Attributes:
        field: The field of the file; ``None`` where it has none.
        natural: The Arrow type in which the field is read.
        convert: From that type to the column's; ``None`` where they are the same.
        default: Where there is no field: the column's value, as an array of one element.
    """

    field: str | None
    natural: pa.DataType
    convert: ArrayFunction | None
    default: pa.Array | None = None


def check_reader_schema(text: str, where: str) -> ReaderSchema:
    """The fields of the table's own schema, in order.

    Raises:
        NotSupportedError: It is no schema of a record.
    """
    try:
        return tuple(reader_fields(text))
    except ValueError as error:
        raise NotSupportedError(
            f"{where} has an Avro schema that cannot be read: {error}; correct avro.schema.literal or avro.schema.url",
            error_codes.HIVE_BAD_TABLE,
        ) from error


def plan_column(
    name: str,
    target: pa.DataType,
    writer: AvroRecordSchema,
    reader: ReaderSchema | None,
    conventions: TimeConventions,
    where: str,
) -> ColumnPlan:
    """How a column of the table is read from a file.

    Args:
        name: The column.
        target: Its type.
        writer: The file's schema.
        reader: ``check_reader_schema`` of the table's own schema; ``None`` where it has none.
        conventions: Calendar and zone of the file.
        where: Names the file for messages.

    Raises:
        NotSupportedError: The types do not go together, or the file lacks a field without a default.
    """
    asked = next((field for field in reader or () if str(field["name"]).lower() == name.lower()), None)
    field = _find(writer, name) if asked is None else _find_named(writer, reader or (), str(asked["name"]))
    where = f"column '{name}' of {where}"
    if field is not None:
        node = writer.fields[field] if asked is None else renamed(writer.fields[field], asked["type"])
        natural = natural_type(node, target, where)
        shaped, function = shape(natural, node, asked["type"] if asked else None, target, where)
        adapt = adaptation(shaped, target, conventions, where)
        return ColumnPlan(field, natural, _one_after_the_other(function, adapt))
    if asked and "default" not in asked:
        raise NotSupportedError(f"{where} is not there, and the table's Avro schema gives it no default")
    value = default_array(asked, target, where) if asked else pa.nulls(1, target)
    adapt = None if value.type == target else adaptation(value.type, target, conventions, where)
    return ColumnPlan(None, value.type, None, adapt(value) if adapt else value)


def _find(writer: AvroRecordSchema, name: str) -> str | None:
    """The field of a name; else the first of that name in another case."""
    if name in writer.fields:
        return name
    return next((field for field in writer.fields if field.lower() == name.lower()), None)


def _find_named(writer: AvroRecordSchema, reader: ReaderSchema, name: str) -> str | None:
    names = reader_names([*writer.fields], reader)
    return next((field for field in writer.fields if names[field] == name), None)


def _one_after_the_other(first: ArrayFunction | None, second: ArrayFunction | None) -> ArrayFunction | None:
    if first is None or second is None:
        return first or second
    return lambda array: second(first(array))
