"""The Avro schema of a table's new files: the table's own, or one made of its columns. Both sides."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import count

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.schema.text_types import TextRule
from connectors.toolkit.avro.schema import Json

__all__ = ["AVRO_LITERAL", "AVRO_URL", "file_schema"]

AVRO_LITERAL, AVRO_URL = "avro.schema.literal", "avro.schema.url"
_RECORD = "baseRecord"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PRIMITIVES = {
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
}


def file_schema(
    storage: FileStorage, columns: pa.Schema, where: str, rules: Sequence[tuple[str, TextRule]] = ()
) -> str:
    """The schema as JSON.

    Args:
        storage: Properties of the table; a schema at an address stands in ``avro.schema.literal`` by now.
        columns: Columns of the files.
        where: Begins the message.
        rules: Columns of ``char`` and ``varchar``; Hive reads them only where the schema tells their lengths.

    Raises:
        NotSupportedError: A name or a type of a column has no form in Avro.
    """
    literal = dict(storage.properties).get(AVRO_LITERAL, "").strip()
    if literal and literal.lower() != "none":
        return literal
    return json.dumps(_SchemaOfColumns(where, dict(rules)).record(_RECORD, list(columns)))


class _SchemaOfColumns:
    """As Hive makes one (``TypeInfoToSchema``): every value may be NULL, records inside are numbered."""

    def __init__(self, where: str, rules: Mapping[str, TextRule]) -> None:
        self._where = where
        self._rules = rules
        self._numbers = count()

    def record(self, name: str, fields: list[pa.Field]) -> dict[str, Json]:
        for field in fields:
            if not _NAME.match(field.name):
                raise self._refused(f"the name '{field.name}' is none that Avro has")
        members: list[Json] = [
            {"name": field.name, "type": ["null", self._column(field, name)], "default": None} for field in fields
        ]
        return {"type": "record", "name": name, "fields": members}

    def _column(self, field: pa.Field, record: str) -> Json:
        rule = self._rules.get(field.name) if record == _RECORD else None
        if rule is None:
            return self._type(field.type)
        return {"type": "string", "logicalType": rule.kind, "maxLength": rule.length}

    def _type(self, kind: pa.DataType) -> Json:
        if kind in _PRIMITIVES:
            return _PRIMITIVES[kind]
        if pa.types.is_date(kind):
            return {"type": "int", "logicalType": "date"}
        if pa.types.is_timestamp(kind):
            return {"type": "long", "logicalType": "timestamp-millis"}
        if pa.types.is_decimal(kind):
            return {"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
        if pa.types.is_struct(kind):
            return self.record(f"record_{next(self._numbers)}", list(kind))
        if pa.types.is_map(kind):
            if not pa.types.is_string(kind.key_type):
                raise self._refused(f"a map has keys of {kind.key_type}; Avro's keys are strings")
            return {"type": "map", "values": ["null", self._type(kind.item_type)]}
        if pa.types.is_list(kind):
            return {"type": "array", "items": ["null", self._type(kind.value_type)]}
        raise self._refused(f"{kind} has no form in Avro")

    def _refused(self, reason: str) -> NotSupportedError:
        return NotSupportedError(f"{self._where}: {reason}; use a table of ORC", error_codes.HIVE_UNSUPPORTED_TYPE)
