"""The kind and format of a table or partition in the metastore; refuses kinds that cannot be read. Driver side."""

from __future__ import annotations

from collections.abc import Mapping

from catalog.metastore.model import Partition, StorageDescriptor, Table
from catalog.metastore.types import holds_union
from connector_spi.errors import ErrorCode, MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.definitions.read_columns import read_columns
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.registry import find_format
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = [
    "check_readable",
    "is_hudi",
    "is_hudi_entry",
    "is_insert_only",
    "is_transactional",
    "partition_storage",
    "table_location",
    "table_storage",
]

# Properties of tables and partitions that do not describe how files are written.
_STATISTICS = frozenset(
    {
        "COLUMN_STATS_ACCURATE",
        "EXTERNAL",
        "bucketing_version",
        "comment",
        "last_modified_by",
        "last_modified_time",
        "numFiles",
        "numFilesErasureCoded",
        "numPartitions",
        "numRows",
        "rawDataSize",
        "totalSize",
        "transient_lastDdlTime",
    }
)
# Hive takes these from the table and ignores the partition's (``Utilities.getHeaderCount``).
_TABLE_ONLY = ("skip.header.line.count", "skip.footer.line.count")
# Every input format of Hudi lives in one of these packages (org.apache.hudi.hadoop, before 0.5 com.uber.hoodie.hadoop).
_HUDI_PACKAGES = ("org.apache.hudi.", "com.uber.hoodie.")
_NOT_IN_FILES = {
    "iceberg": (error_codes.HIVE_ICEBERG_TABLE, "an Iceberg table"),
    "delta": (error_codes.HIVE_DELTA_LAKE_TABLE, "a Delta Lake table"),
}
_TRANSACTIONAL_KINDS = {"default", "insert_only", "split_update", "hash_merge"}


def check_readable(table: Table, files: FileSystem, *, may_be_hudi: bool = True) -> FileStorage:
    """Checks that the files in a table's directory are exactly its rows; takes what ``make_handle`` takes.

    Returns:
        How its files are written.

    Raises:
        NotSupportedError: It is a view, has another table format or an unknown file format, or is transactional in an
            unknown way.
    """
    name = SchemaTableName(table.database, table.name)
    if table.is_view:
        raise NotSupportedError(
            f"{name} is a view that only SQL in Spark can read; query it there, or its tables: {_sql(table)}",
            error_codes.HIVE_VIEW,
        )
    if may_be_hudi and is_hudi(table, files):
        raise NotSupportedError(
            f"{name} is a Hudi table, which the hive connector cannot read by its files; add a catalog with "
            "connector.name=hudi over the same metastore and query it there",
            error_codes.HIVE_HUDI_TABLE,
        )
    _refuse_other_formats(table, name, files)
    found = table_storage(table)
    if is_transactional(table.parameters) and not is_insert_only(table) and found.format != "orc":
        raise NotSupportedError(
            f"{name} is a transactional table with updates and deletes in the format {found.format}: expected ORC, "
            "the only format in which Hive writes them",
            error_codes.HIVE_TRANSACTIONAL_TABLE,
        )
    return found


def is_transactional(parameters: Mapping[str, str]) -> bool:
    """Whether a table is transactional; Hive takes the key in lower or upper case (``AcidUtils``)."""
    return any(key.lower() == "transactional" and value.lower() == "true" for key, value in parameters.items())


def is_insert_only(table: Table) -> bool:
    """Whether a transactional table has no deletes and no row ids (``AcidOperationalProperties.parseString``).

    Raises:
        NotSupportedError: The kind is not known.
    """
    texts = [value for key, value in table.parameters.items() if key.lower() == "transactional_properties"]
    kinds = {part.strip().lower() for text in texts for part in text.split("|")} - {""}
    if kinds - _TRANSACTIONAL_KINDS or {"insert_only", "default"} <= kinds:
        raise NotSupportedError(
            f"{table.database}.{table.name} is transactional with 'transactional_properties'='{'|'.join(texts)}', "
            f"which is not supported: expected one of {', '.join(sorted(_TRANSACTIONAL_KINDS))}",
            error_codes.HIVE_TRANSACTIONAL_TABLE,
        )
    return "insert_only" in kinds


def is_hudi_entry(table: Table) -> bool:
    """Whether a table is a Hudi table by its definition in the metastore."""
    provider = table.parameters.get("spark.sql.sources.provider", "")
    classes = (table.storage.input_format or "", table.storage.serde.serialization_lib)
    return provider.lower() in ("hudi", "org.apache.hudi") or any(name.startswith(_HUDI_PACKAGES) for name in classes)


def is_hudi(table: Table, files: FileSystem) -> bool:
    """Whether a table is a Hudi table, by its definition or by the ``.hoodie`` directory in its location."""
    if table.is_view:
        return False
    return is_hudi_entry(table) or _has_directory(table, files, ".hoodie")


def table_storage(table: Table) -> FileStorage:
    """How the files of a table are written.

    Raises:
        NotSupportedError: The input format or SerDe is not known (code ``HIVE_UNSUPPORTED_FORMAT``).
    """
    where = f"table {SchemaTableName(table.database, table.name)}"
    return _file_storage(table.storage, {**table.storage.serde.parameters, **table.parameters}, where)


def partition_storage(partition: Partition, table: Table, name: str) -> FileStorage:
    """How the files of a partition are written: its own classes, and its own properties over the table's.

    Args:
        partition: The partition.
        table: Its table.
        name: The partition's name, for messages.

    Raises:
        NotSupportedError: The input format or SerDe is not known (code ``HIVE_UNSUPPORTED_FORMAT``).
    """
    of_table = {**table.storage.serde.parameters, **table.parameters}
    own = {**partition.storage.serde.parameters, **partition.parameters}
    kept = {key: value for key, value in own.items() if key not in _TABLE_ONLY}
    where = f"partition {name} of {SchemaTableName(table.database, table.name)}"
    return _file_storage(partition.storage, {**of_table, **kept}, where)


def table_location(table: Table) -> str:
    """The directory of a table.

    Raises:
        MetastoreError: The metastore has no location for it.
    """
    if not table.storage.location:
        raise MetastoreError(
            f"the metastore has no location for table {SchemaTableName(table.database, table.name)}; set it with "
            "ALTER TABLE ... SET LOCATION",
            error_codes.HIVE_BAD_TABLE,
        )
    return table.storage.location


def _refuse_other_formats(table: Table, name: SchemaTableName, files: FileSystem) -> None:
    declared = {
        table.parameters.get("table_type", "").lower(),
        table.parameters.get("spark.sql.sources.provider", "").lower(),
    }
    kinds = [kind for kind in _NOT_IN_FILES if kind in declared]
    if not kinds and _has_directory(table, files, "_delta_log"):
        kinds = ["delta"]
    for kind in kinds:
        code, label = _NOT_IN_FILES[kind]
        raise _other_table(name, label, code)
    handler = table.parameters.get("storage_handler")
    if handler:
        raise NotSupportedError(
            f"table {name} has the storage handler {handler}, so its rows are not in files; query the system that "
            "holds them",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )


def _other_table(name: SchemaTableName, label: str, code: ErrorCode) -> NotSupportedError:
    return NotSupportedError(
        f"{name} is {label}, which cannot be read correctly from its files alone; use a catalog for that format", code
    )


def _has_directory(table: Table, files: FileSystem, name: str) -> bool:
    location = table.storage.location
    return bool(location) and files.exists(join_path(location or "", name))


def _file_storage(storage: StorageDescriptor, properties: Mapping[str, str], where: str) -> FileStorage:
    input_format, serde = storage.input_format or "", storage.serde.serialization_lib
    found = find_format(input_format, serde, where)
    unions = (
        [] if found.reads_unions(serde) else [field.name for field in read_columns(storage) if holds_union(field.type)]
    )
    if unions:
        raise NotSupportedError(
            f"column '{unions[0]}' of {where} has the type uniontype, which cannot be read from {found.name} with the "
            f"SerDe {serde or '(none)'}; leave the column out",
            error_codes.HIVE_UNSUPPORTED_TYPE,
        )
    format_properties = {
        key: value
        for key, value in properties.items()
        if key not in _STATISTICS and not key.startswith(("spark.sql.", "transactional"))
    }
    return FileStorage(found.name, input_format, serde, tuple(sorted(format_properties.items())))


def _sql(table: Table) -> str:
    text = " ".join((table.view_expanded_text or table.view_original_text or "(no text)").split())
    return text if len(text) <= 200 else text[:200] + "..."
