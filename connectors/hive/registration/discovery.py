"""Discovers a table from a directory of data files: format, columns, partition keys. Driver side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import pyarrow as pa

from catalog.metastore.model import FieldSchema
from catalog.metastore.types import hive_type_text
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.key_columns import has_acid_columns
from connectors.hive.acid.layout import is_acid_file_name
from connectors.hive.registration.transactional_discovery import AcidDirectories, find_acid_directories, table_schema
from connectors.toolkit.orc.reader import read_orc_schema
from connectors.toolkit.parquet.reader import read_parquet_schema
from connectors.toolkit.partition_values import DEFAULT_PARTITION, parse_partition_path
from connectors.toolkit.schema.time_conventions import INT96
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, is_hidden, join_path

__all__ = ["DiscoveredTable", "discover_partitions", "discover_table"]

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_OTHER_FORMATS = (".hoodie", "_delta_log")


@dataclass(frozen=True, slots=True)
class DiscoveredTable:
    """A table as discovered from its files.

    Attributes:
        format: ``orc`` or ``parquet``.
        columns: Columns of the newest file, without partition keys.
        partition_keys: From directories named ``key=value``; types are guessed from all values.
        partitions: Directory of each partition, relative to the table, with the values of its keys.
        transactional: Whether it is a transactional table.
        insert_only: Whether it is one without deletes and row ids.
    """

    format: str
    columns: tuple[FieldSchema, ...]
    partition_keys: tuple[FieldSchema, ...]
    partitions: tuple[tuple[str, tuple[str, ...]], ...]
    transactional: bool = False
    insert_only: bool = False


def discover_table(files: FileSystem, location: str, *, transactional: bool = False) -> DiscoveredTable:
    """Discovers the table in a directory.

    Args:
        files: Storage.
        location: The directory.
        transactional: Whether it must have the layout of a transactional table; else it must not have it.

    Raises:
        FileMissingError: The directory does not exist.
        InvalidArgumentError: It holds no data files, or its directories have different partition keys, or it lacks
            the expected layout of a transactional table.
        NotSupportedError: It belongs to another table format, or a column's type has no name in Hive, or it has the
            layout of a transactional table unexpectedly.
        CorruptFileError: The newest file is not ORC or Parquet.
    """
    listed = files.list(location, recursive=True)
    folders = find_acid_directories(location, listed)
    _check_layout(folders, expected=transactional)
    found = _only_data(listed, location)
    for folder in _OTHER_FORMATS:
        if files.exists(join_path(location, folder)):
            raise NotSupportedError(
                f"{location} holds a directory {folder}: the table has another format; register it in a catalog of "
                "that format",
                error_codes.HIVE_HUDI_TABLE if folder == ".hoodie" else error_codes.HIVE_DELTA_LAKE_TABLE,
            )
    newest = max(found, key=lambda one: (one.modified_millis, one.path))
    acid = False
    if transactional:
        newest, file_format, schema, acid = _transactional_schema(files, folders.newest_files(found))
    else:
        file_format, schema = _read_schema(files, newest)
    keys, partitions = _partitions(found, location)
    columns = tuple(field for field in _columns(schema, newest.path) if field.name not in keys)
    values = [[partition[1][index] for partition in partitions] for index in range(len(keys))]
    typed = tuple(FieldSchema(key, _guess_type(texts)) for key, texts in zip(keys, values, strict=True))
    insert_only = transactional and not acid and not folders.has_deletes
    return DiscoveredTable(
        format=file_format,
        columns=columns,
        partition_keys=typed,
        partitions=partitions if keys else (),
        transactional=transactional,
        insert_only=insert_only,
    )


def discover_partitions(
    files: FileSystem, location: str, keys: Sequence[str], *, case_sensitive: bool = True
) -> list[tuple[str, tuple[str, ...]]]:
    """Directories of a table's partitions with data files, with the values of the keys.

    Args:
        files: Storage.
        location: The table's directory.
        keys: Names of the partition keys, lower case.
        case_sensitive: Whether directories must have exactly these names; else in any case.

    Raises:
        FileMissingError: The table's directory does not exist.
        InvalidArgumentError: The directories are partitioned by other keys.
    """
    found = _only_data(files.list(location, recursive=True), location, required=False)
    if not found:
        return []
    found_keys, partitions = _partitions(found, location)
    if (found_keys if case_sensitive else tuple(key.lower() for key in found_keys)) != tuple(keys):
        raise InvalidArgumentError(
            f"{location} is partitioned by ({', '.join(found_keys)}) and the table by ({', '.join(keys)})"
        )
    return list(partitions)


def _only_data(listed: Sequence[FileInfo], location: str, *, required: bool = True) -> list[FileInfo]:
    start = len(location.rstrip("/")) + 1
    found = [
        info
        for info in listed
        if not info.is_directory and info.size and not any(is_hidden(part) for part in info.path[start:].split("/"))
    ]
    if required and not found:
        raise InvalidArgumentError(f"{location} holds no data files; expected the directory of a table")
    return found


def _check_layout(folders: AcidDirectories, *, expected: bool) -> None:
    if expected and not folders.directories:
        raise InvalidArgumentError(
            f"{folders.location} holds no base_N or delta_N_N directories, so it does not have the layout of a "
            "transactional table; leave out transactional => true"
        )
    if folders.directories and not expected:
        raise NotSupportedError(
            f"{folders.location} has the layout of a transactional table: it holds {min(folders.directories)}, and "
            "only its metastore knows which of its transactions were committed; read it there, or register it with "
            "transactional => true, which takes all files as committed",
            error_codes.HIVE_TRANSACTIONAL_TABLE,
        )


def _transactional_schema(files: FileSystem, newest: Sequence[FileInfo]) -> tuple[FileInfo, str, pa.Schema, bool]:
    """The file to take the columns from, its format and schema, and whether it has the ACID columns around them.

    INSERT OVERWRITE with no rows writes a file with the name of an ACID file, but without its columns: it does not show
    that the table is insert-only, nor reliably its column names.
    """
    named = [info for info in newest if is_acid_file_name(info.name)]
    for info in named:
        file_format, schema = _read_schema(files, info)
        if has_acid_columns(schema):
            return info, file_format, *table_schema(schema, info.path)
    file_format, schema = _read_schema(files, newest[0])
    inner, acid = table_schema(schema, newest[0].path)
    return newest[0], file_format, inner, acid or bool(named)


def _read_schema(files: FileSystem, info: FileInfo) -> tuple[str, pa.Schema]:
    with files.open(info.path) as file:
        start = file.read(4)
    if start[:3] == b"ORC":
        return "orc", read_orc_schema(files, info.path)
    return "parquet", read_parquet_schema(files, info.path)


def _columns(schema: pa.Schema, path: str) -> list[FieldSchema]:
    columns: list[FieldSchema] = []
    for field in schema:
        name = field.name.lower()
        if any(column.name == name for column in columns):
            raise InvalidArgumentError(f"{path} has two columns named '{name}' that differ in case; Hive allows one")
        try:
            columns.append(FieldSchema(name, hive_type_text(_without_int96(field.type))))
        except NotSupportedError as error:
            raise NotSupportedError(
                f"column '{field.name}' of {path}: {error.message}", error_codes.HIVE_UNSUPPORTED_TYPE
            ) from error
    return columns


def _without_int96(arrow: pa.DataType) -> pa.DataType:
    if arrow == INT96:
        return pa.timestamp("us")
    if pa.types.is_list(arrow):
        return pa.list_(_without_int96(arrow.value_type))
    if pa.types.is_map(arrow):
        return pa.map_(_without_int96(arrow.key_type), _without_int96(arrow.item_type))
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_without_int96(field.type)) for field in arrow])
    return arrow


def _partitions(
    found: Sequence[FileInfo], location: str
) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    start = len(location.rstrip("/")) + 1
    folders: dict[str, tuple[tuple[str, str], ...]] = {}
    for info in found:
        parts = info.path[start:].split("/")[:-1]
        depth = next((at for at, part in enumerate(parts) if "=" not in part), len(parts))
        folders["/".join(parts[:depth])] = parse_partition_path("/".join(parts[:depth]))
    keys = {tuple(key for key, _ in pairs) for pairs in folders.values()}
    if len(keys) != 1:
        shown = " and ".join(sorted(f"({', '.join(names)})" for names in keys)[:2])
        raise InvalidArgumentError(f"the directories of {location} have different partition keys: {shown}")
    [names] = keys
    return names, tuple((folder, tuple(text for _, text in folders[folder])) for folder in sorted(folders))


def _guess_type(texts: Sequence[str]) -> str:
    known = [text for text in texts if text != DEFAULT_PARTITION]
    if known and all(_INTEGER.fullmatch(text) for text in known):
        widest = max(abs(int(text)) for text in known)
        return "int" if widest < 1 << 31 else "bigint" if widest < 1 << 63 else "string"
    return "date" if known and all(_is_date(text) for text in known) else "string"


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
