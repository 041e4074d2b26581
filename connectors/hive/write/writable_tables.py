"""Which tables rows can be added to; refuses the others by name. Driver side."""

from __future__ import annotations

import pyarrow as pa

from catalog.metastore.model import Table
from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.layout import BUCKETS
from connectors.hive.acid.valid_ids import MAX_ID
from connectors.hive.buckets.hashes import has_bucket_hash
from connectors.hive.handles import HiveTableHandle
from connectors.hive.schema.text_types import TextRule
from connectors.hive.write.file_checks import check_files, with_avro_schema
from connectors.hive.write.handles import SortedBy, WrittenBuckets
from connectors.toolkit.storage.filesystem import FileSystem, is_hidden

__all__ = ["check_no_foreign_files", "check_writable", "written_buckets"]

_KEY_KINDS = (pa.types.is_string, pa.types.is_integer, pa.types.is_date, pa.types.is_boolean)


def check_writable(table: HiveTableHandle, entry: Table, files: FileSystem) -> None:
    """Checks that files that are added hold rows which all readers of the table see as they were given.

    Args:
        table: The table.
        entry: The metastore's entry of it.
        files: Storage.

    Raises:
        NotSupportedError: The table has buckets, a format, a codec, storage or a type that is not written yet.
    """
    where = f"rows cannot be added to {table.name}"
    if table.changes is not None:
        raise NotSupportedError(f"{where}: these are its changes; name the table itself")
    if entry.storage.stored_as_subdirectories:
        raise NotSupportedError(f"{where}: its skewed values are in directories of their own; Hive can add them")
    written_buckets(table, entry)
    columns = pa.schema([(column.name, column.type) for column in table.data_columns])
    check_files(with_avro_schema(table.storage, files, where), columns, where)
    unwritten = files.why_not_written(table.location)
    if unwritten is not None:
        raise NotSupportedError(f"{where}: its files are in {table.location}; {unwritten}")
    for key in table.partition_keys:
        if not any(kind(key.type) for kind in _KEY_KINDS) or key.name in dict(table.text_rules):
            raise NotSupportedError(
                f"{where}: the partition key '{key.name}' is {key.type}; expected a string, an integer, a date or a "
                "boolean"
            )
    for name, rule in table.text_rules:
        _check_rule(f"{where}: column '{name}'", rule)


def written_buckets(table: HiveTableHandle, entry: Table, *, filled: bool = False) -> WrittenBuckets | None:
    """The buckets that rows of a table go to; ``None`` where it has none.

    Args:
        table: The table.
        entry: The metastore's entry of it.
        filled: Buckets without rows get files, too, where the table is a plain one.

    Raises:
        NotSupportedError: The bucket of a row cannot be told as Hive tells it, or the order of sorted rows.
    """
    where, storage = f"rows cannot be added to {table.name}", entry.storage
    if table.bucketing is None:
        if storage.bucket_count > 0 or entry.parameters.get("spark.sql.sources.schema.numBuckets"):
            raise NotSupportedError(f"{where}: it is bucketed in another way than Hive's; its own engine can add them")
        return None
    bucketing = table.bucketing
    unknown = [one for one in bucketing.columns if not has_bucket_hash(one.type, bucketing.version)]
    if unknown:
        raise NotSupportedError(
            f"{where}: it is bucketed by '{unknown[0].name}', of type {unknown[0].type}, whose hash of version "
            f"{bucketing.version} is not computed; Hive can add them"
        )
    if table.full_acid and bucketing.count > BUCKETS:
        raise NotSupportedError(
            f"{where}: it has {bucketing.count} buckets; row ids have room for {BUCKETS}",
            error_codes.HIVE_ACID_LAYOUT,
        )
    types = {column.name: column.type for column in table.data_columns}
    for sort in storage.sort_columns:
        if table.full_acid:
            # Hive refuses it, too (ErrorMsg.ACID_NO_SORTED_BUCKETS): its rows are in the order of their ids.
            raise NotSupportedError(f"{where}: it is transactional and SORTED BY '{sort.name}', of which one can be")
        if sort.name not in types or pa.types.is_nested(types[sort.name]):
            raise NotSupportedError(f"{where}: it is SORTED BY '{sort.name}', which is no column with an order")
    order = tuple(SortedBy(sort.name, sort.ascending) for sort in storage.sort_columns)
    return WrittenBuckets(bucketing, order, filled=filled and table.snapshot is None)


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
    location = table.location.rstrip("/")
    # Hidden ones are those that writers are about to publish, such as an earlier statement of this transaction.
    found = (
        not one.is_directory and not any(map(is_hidden, one.path[len(location) + 1 :].split("/")))
        for one in (files.list(location, recursive=True) if files.exists(location) else ())
    )
    if any(found):
        raise NotSupportedError(
            f"rows cannot be added to {table.name}: its metastore knows no write ids of the files in {location}, which "
            "another metastore has given out; add rows there",
            error_codes.HIVE_TRANSACTIONAL_TABLE,
        )


def _check_rule(where: str, rule: TextRule) -> None:
    if rule.kind not in ("char", "varchar"):
        raise NotSupportedError(f"{where} has char or varchar inside of another type, which is not written yet")
