"""Which tables rows can be added to; refuses the others by name. Driver side."""

from __future__ import annotations

import pyarrow as pa

from catalog.metastore.model import Table
from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.valid_ids import MAX_ID
from connectors.hive.handles import HiveTableHandle
from connectors.hive.schema.text_types import TextRule
from connectors.hive.write.file_checks import check_files, with_avro_schema
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["check_no_foreign_files", "check_writable"]

_KEY_KINDS = (pa.types.is_string, pa.types.is_integer, pa.types.is_date, pa.types.is_boolean)


def check_writable(table: HiveTableHandle, entry: Table, files: FileSystem) -> None:
    """Checks that files that are added hold rows which all readers of the table see as they were given.

    Args:
        table: The table.
        entry: The metastore's entry of it.
        files: Storage.

    Raises:
        NotSupportedError: The table is bucketed, or has a format, codec, storage or type that is not written yet.
    """
    where = f"rows cannot be added to {table.name}"
    if table.changes is not None:
        raise NotSupportedError(f"{where}: these are its changes; name the table itself")
    spark_buckets = entry.parameters.get("spark.sql.sources.schema.numBuckets")
    if table.bucketing is not None or entry.storage.bucket_count > 0 or spark_buckets:
        raise NotSupportedError(f"{where}: it is bucketed; its own engine can add them")
    if entry.storage.stored_as_subdirectories:
        raise NotSupportedError(f"{where}: its skewed values are in directories of their own; Hive can add them")
    columns = pa.schema([(column.name, column.type) for column in table.data_columns])
    check_files(with_avro_schema(table.storage, files, where), columns, where)
    if not files.is_local(table.location):
        raise NotSupportedError(f"{where}: its files are in {table.location}; only local files are written")
    for key in table.partition_keys:
        if not any(kind(key.type) for kind in _KEY_KINDS) or key.name in dict(table.text_rules):
            raise NotSupportedError(
                f"{where}: the partition key '{key.name}' is {key.type}; expected a string, an integer, a date or a "
                "boolean"
            )
    for name, rule in table.text_rules:
        _check_rule(f"{where}: column '{name}'", rule)


def check_no_foreign_files(table: HiveTableHandle, files: FileSystem) -> None:
    """Checks that write ids of a transactional table which another metastore gave out are not given out again.

    Args:
        table: A transactional table.
        files: Storage.

    Raises:
        NotSupportedError: The table has files, and the metastore knows none of their write ids.
    """
    if table.snapshot is None or table.snapshot.write_ids.high_watermark < MAX_ID:
        return
    location = table.location
    if files.exists(location) and any(not one.is_directory for one in files.list(location, recursive=True)):
        raise NotSupportedError(
            f"rows cannot be added to {table.name}: its metastore knows no write ids of the files in {location}, which "
            "another metastore has given out; add rows there",
            error_codes.HIVE_TRANSACTIONAL_TABLE,
        )


def _check_rule(where: str, rule: TextRule) -> None:
    if rule.kind not in ("char", "varchar"):
        raise NotSupportedError(f"{where} has char or varchar inside of another type, which is not written yet")
