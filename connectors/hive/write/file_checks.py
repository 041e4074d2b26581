"""Whether rows of a table's types can be written to files of its format. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.avro.schema_url import read_schema_text
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.lazy.binary_serde import LazyBinaryRowSerDe
from connectors.hive.formats.lazy.parameters import lazy_parameters
from connectors.hive.formats.lazy.texts import decode_column
from connectors.hive.schema.text_types import TextRule
from connectors.hive.write.sink.avro.encoding import record_encoder
from connectors.hive.write.sink.avro.schema import AVRO_LITERAL, AVRO_URL, file_schema
from connectors.hive.write.sink.compression import compression
from connectors.hive.write.sink.containers.columns import COLUMNAR, LAZY_BINARY_COLUMNAR
from connectors.hive.write.sink.file_writers import WRITTEN_FORMATS
from connectors.hive.write.sink.orc_blooms import BloomFilters
from connectors.hive.write.sink.text.file import check_text_storage
from connectors.toolkit.schema.union_structs import is_union_struct
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["check_files", "with_avro_lengths", "with_avro_schema"]


def check_files(storage: FileStorage, columns: pa.Schema, where: str) -> None:
    """Checks that new files of a table can hold rows of these types.

    Args:
        storage: How its files are written; an Avro schema stands in its properties (``with_avro_schema``).
        columns: Columns of the files.
        where: Begins the message.

    Raises:
        NotSupportedError: The format, SerDe, codec or a type is not written.
    """
    if storage.format not in WRITTEN_FORMATS:
        raise NotSupportedError(
            f"{where}: its format is {storage.format}; {', '.join(WRITTEN_FORMATS)} are written",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )
    for column in columns:
        _check_type(f"{where}: column '{column.name}'", column.type)
    if storage.format == "textfile" or (storage.format == "sequencefile" and not _is_binary(storage)):
        check_text_storage(storage, where)
    if storage.format == "rcfile":
        _check_cells(storage, columns, where)
    if storage.format == "orc":
        BloomFilters.of(storage, columns, where)
    if storage.format == "avro":
        record_encoder(file_schema(storage, columns, where), columns, where)
    if compression(storage) is None:
        raise NotSupportedError(f"{where}: the codec that its properties name is not one that is written")


def with_avro_schema(storage: FileStorage, files: FileSystem, where: str) -> FileStorage:
    """The storage of a table with the schema of its Avro files in it, where that is at an address.

    Raises:
        NotSupportedError: It is on a web server.
        StorageError: It cannot be read.
    """
    properties = dict(storage.properties)
    url, literal = (_given(properties, key) for key in (AVRO_URL, AVRO_LITERAL))
    if storage.format != "avro" or url is None or literal is not None:
        return storage
    properties[AVRO_LITERAL] = read_schema_text(url, files, (), where)
    return replace(storage, properties=tuple(sorted(properties.items())))


def with_avro_lengths(
    storage: FileStorage, columns: pa.Schema, rules: Sequence[tuple[str, TextRule]], where: str
) -> FileStorage:
    """The storage with the schema of its Avro files in it, where ``char`` and ``varchar`` columns need one.

    Args:
        storage: As of ``with_avro_schema``.
        columns: Columns of the files.
        rules: Those of ``char`` and ``varchar``.
        where: Begins the message.
    """
    properties = dict(storage.properties)
    if storage.format != "avro" or not rules or _given(properties, AVRO_LITERAL) is not None:
        return storage
    properties[AVRO_LITERAL] = file_schema(storage, columns, where, rules)
    return replace(storage, properties=tuple(sorted(properties.items())))


def _check_type(where: str, data_type: pa.DataType) -> None:
    if is_union_struct(data_type):
        raise NotSupportedError(f"{where} is a uniontype, which is not written; Hive can add rows to the table")
    if pa.types.is_timestamp(data_type) and data_type.tz is not None:
        # Hive 4.0.1 writes TIMESTAMP_INSTANT to ORC and cannot read it back, and refuses it in Parquet.
        raise NotSupportedError(f"{where} is a timestamp with local time zone, which Hive does not read from files")
    for index in range(data_type.num_fields):
        _check_type(where, data_type.field(index).type)


def _check_cells(storage: FileStorage, columns: pa.Schema, where: str) -> None:
    if storage.serde == COLUMNAR:
        check_parameters = lazy_parameters(dict(storage.properties), "UTC", where)
        if check_parameters.charset:
            raise NotSupportedError(f"{where}: it has an encoding of its own; only tables of UTF-8 are written")
        for column in columns:
            decode_column(pa.nulls(0, pa.binary()), column.type, check_parameters)
    elif storage.serde != LAZY_BINARY_COLUMNAR:
        raise NotSupportedError(
            f"{where}: its SerDe is {storage.serde}; ColumnarSerDe and LazyBinaryColumnarSerDe are written"
        )


def _is_binary(storage: FileStorage) -> bool:
    return storage.serde in LazyBinaryRowSerDe.classes


def _given(properties: Mapping[str, str], key: str) -> str | None:
    found = properties.get(key, "").strip()
    return None if found in ("", "none") else found
