"""The table's schema: Avro JSON to Arrow, and the columns that Hudi adds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import cast

import pyarrow as pa

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_SCHEMA
from connectors.toolkit.avro.primitives import PRIMITIVES, TIMESTAMPS

__all__ = ["COMMIT_TIME", "META_COLUMNS", "PARTITION_PATH", "RECORD_KEY", "arrow_schema", "table_schema"]

COMMIT_TIME = "_hoodie_commit_time"
"""Requested time of the write that made the row as it is."""

RECORD_KEY = "_hoodie_record_key"
"""Tells a row from every other of its partition, in all of its versions."""

PARTITION_PATH = "_hoodie_partition_path"

META_COLUMNS = (
    COMMIT_TIME,
    "_hoodie_commit_seqno",
    RECORD_KEY,
    PARTITION_PATH,
    "_hoodie_file_name",
)
"""The columns that Hudi writes before the user's, all of type string."""

_LOGICAL = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    **{("long", name): arrow for name, arrow in TIMESTAMPS.items()},
    ("string", "uuid"): pa.string(),
}

Json = Mapping[str, object]


def table_schema(
    written: pa.Schema, populate_meta_fields: bool, dropped_fields: tuple[str, ...], created: str | None, where: str
) -> pa.Schema:
    """The table's columns in order: the meta columns, then the user's.

    Args:
        written: Schema of the latest write, or of the table's creation; with or without meta columns.
        populate_meta_fields: Without, the table shows no meta columns, though its files have them, all NULL.
        dropped_fields: With ``drop.partition.columns`` the partition fields, which such a schema lacks and which
            come last (TableSchemaResolver.appendPartitionColumns); else empty.
        created: Avro schema of the table's creation, which has the type of a dropped partition field; string without.
        where: Names the table, for messages.

    Raises:
        NotSupportedError: A column is of a type that is not understood.
        CorruptFileError: ``created`` is no Avro schema.
    """
    fields = [pa.field(name, pa.string()) for name in META_COLUMNS if populate_meta_fields]
    fields += [field.with_type(_shown(field.type)) for field in written if field.name not in META_COLUMNS]
    missing = [name for name in dropped_fields if name not in written.names]
    if missing:
        first = arrow_schema(created, where) if created else pa.schema([])
        known = {field.name: _shown(field.type) for field in first}
        fields += [pa.field(name, known.get(name, pa.string())) for name in missing]
    return pa.schema(fields)


def arrow_schema(avro: str, where: str) -> pa.Schema:
    """Turns an Avro record schema into an Arrow schema; every field is nullable.

    Raises:
        NotSupportedError: A column is of a type that is not understood; names the column.
        CorruptFileError: The text is no Avro schema of a record.
    """
    try:
        parsed = json.loads(avro)
        fields = _Reader(where).fields(parsed, "", "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptFileError(
            f"the table schema of {where} is no Avro schema: {avro[:120]!r} ({type(error).__name__})", HUDI_BAD_SCHEMA
        ) from error
    return pa.schema(fields)


def _shown(arrow: pa.DataType) -> pa.DataType:
    """The type of a table's column: fixed bytes are bytes, as Hudi shows them."""
    if pa.types.is_fixed_size_binary(arrow):
        return pa.binary()
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_shown(field.type)) for field in arrow])
    if pa.types.is_list(arrow):
        return pa.list_(pa.field("element", _shown(arrow.value_type)))
    if pa.types.is_map(arrow):
        return pa.map_(arrow.key_type, _shown(arrow.item_type))
    return arrow


class _Reader:
    """One schema's named types, and where messages say it is from."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._named: dict[str, pa.DataType] = {}

    def fields(self, record: Json, namespace: str, path: str) -> list[pa.Field]:
        if record["type"] != "record":
            raise TypeError("not a record")
        inner = _namespace(record, namespace)
        found = []
        for field in cast(list[Json], record["fields"]):
            name = str(field["name"])
            found.append(pa.field(name, self.type(field["type"], inner, f"{path}.{name}" if path else name)))
        return found

    def type(self, schema: object, namespace: str, path: str) -> pa.DataType:
        if isinstance(schema, list):
            return self._union(schema, namespace, path)
        if isinstance(schema, str):
            return self._by_name(schema, namespace, path)
        definition = cast(Json, schema)
        kind = definition["type"]
        if not isinstance(kind, str) or ("logicalType" not in definition and kind in PRIMITIVES):
            return self.type(kind, namespace, path)
        made = self._logical(definition, kind, path) or self._complex(definition, kind, namespace, path)
        if "name" in definition:
            self._named[_full_name(definition, namespace)] = made
        return made

    def _union(self, branches: list[object], namespace: str, path: str) -> pa.DataType:
        others = [branch for branch in branches if branch != "null"]
        if len(others) != 1:
            raise self._refusal(path, f"a union of {len(others)} types; only one type and null can be read")
        return self.type(others[0], namespace, path)

    def _by_name(self, name: str, namespace: str, path: str) -> pa.DataType:
        if name in PRIMITIVES:
            return PRIMITIVES[name]
        for full in (name, f"{namespace}.{name}"):
            if full in self._named:
                return self._named[full]
        raise self._refusal(path, f"the unknown type {name!r}")

    def _logical(self, definition: Json, kind: str, path: str) -> pa.DataType | None:
        logical = definition.get("logicalType")
        if logical is None:
            return None
        if logical == "decimal" and kind in ("bytes", "fixed"):
            return pa.decimal128(int(str(definition["precision"])), int(str(definition.get("scale", 0))))
        found = _LOGICAL.get((kind, str(logical)))
        if found is None:
            raise self._refusal(path, f"the logical type {logical!r} of {kind}")
        return found

    def _complex(self, definition: Json, kind: str, namespace: str, path: str) -> pa.DataType:
        def inner(key: str, name: str) -> pa.DataType:
            return self.type(definition[key], namespace, f"{path}.{name}")

        makers: dict[str, Callable[[], pa.DataType]] = {
            "record": lambda: pa.struct(self.fields(definition, namespace, path)),
            "array": lambda: pa.list_(pa.field("element", inner("items", "element"))),
            "map": lambda: pa.map_(pa.string(), inner("values", "value")),
            "enum": pa.string,
            "fixed": lambda: pa.binary(int(str(definition["size"]))),
        }
        make = makers.get(kind)
        if make is None:
            return self._by_name(kind, namespace, path)
        return make()

    def _refusal(self, path: str, what: str) -> NotSupportedError:
        return NotSupportedError(
            f"column '{path}' of {self._where} is of {what}, which is not understood", HUDI_BAD_SCHEMA
        )


def _namespace(definition: Json, enclosing: str) -> str:
    name = str(definition.get("name", ""))
    if "." in name:
        return name.rpartition(".")[0]
    return str(definition.get("namespace", enclosing))


def _full_name(definition: Json, enclosing: str) -> str:
    name = str(definition["name"])
    namespace = _namespace(definition, enclosing)
    return name if "." in name or not namespace else f"{namespace}.{name}"
