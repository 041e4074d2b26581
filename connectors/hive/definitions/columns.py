"""A metastore table as a handle, and as metadata for the user. Driver side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from catalog.metastore.definitions import is_managed
from catalog.metastore.model import FieldSchema, Partition, StorageDescriptor, Table
from catalog.metastore.types import parse_hive_type
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.schema import ColumnMetadata, TableBuckets, TableMetadata
from connectors.hive import error_codes
from connectors.hive.acid.key_columns import BUCKET
from connectors.hive.buckets.hashes import VERSIONS
from connectors.hive.buckets.layout import Bucketing
from connectors.hive.definitions.instants import INSTANT_COLUMNS, instant_paths
from connectors.hive.definitions.read_columns import read_columns
from connectors.hive.definitions.storage_classes import described_storage
from connectors.hive.definitions.table_formats import check_readable, is_insert_only, is_transactional, table_location
from connectors.hive.formats.registry import format_named
from connectors.hive.handles import HiveTableHandle
from connectors.hive.schema.text_types import TextRule, text_rule
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["bucketed_alike", "make_handle", "make_metadata", "partition_key_handles"]

_SPARK_BUCKETS = "spark.sql.sources.schema.numBuckets"
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What Spark keeps of its own tables, and repeats what the table's definition says.
_SPARKS_PARAMETERS = "spark.sql."
# What the metastore and its writers keep about a table, and no one declares (StatsSetupConst, hive_metastoreConstants).
_KEPT_PARAMETERS = frozenset(
    {
        "column_stats_accurate",
        "comment",
        "external",
        "last_modified_by",
        "last_modified_time",
        "numfiles",
        "numfileserasurecoded",
        "numpartitions",
        "numrows",
        "rawdatasize",
        "totalsize",
        "transient_lastddltime",
    }
)


def make_handle(table: Table, files: FileSystem, *, may_be_hudi: bool = True) -> HiveTableHandle:
    """The handle of a table; that of a transactional table has no snapshot yet.

    Args:
        table: The metastore's entry.
        files: Storage, which is asked for directories of other table formats.
        may_be_hudi: ``False`` where ``is_hudi`` has just said that it is no Hudi table.

    Raises:
        NotSupportedError: The table cannot be read correctly, or a column has an unsupported type.
    """
    file_storage = check_readable(table, files, may_be_hudi=may_be_hudi)
    name = SchemaTableName(table.database, table.name)
    own = read_columns(table.storage)
    fields = (*own, *table.partition_keys)
    found = ((field.name, text_rule(field.type)) for field in fields)
    rules = tuple((column, rule) for column, rule in found if rule is not None)
    columns = tuple(_handle(field, name) for field in own)
    declared = pa.schema([(column.name, column.type) for column in columns])
    format_named(file_storage.format).check(file_storage, declared, f"table {name}")
    return HiveTableHandle(
        name,
        file_storage,
        table_location(table),
        data_columns=columns,
        partition_keys=partition_key_handles(table),
        text_rules=rules,
        insert_only=is_transactional(table.parameters) and is_insert_only(table),
        bucketing=_bucketing(table, columns, dict(rules)),
    )


def partition_key_handles(table: Table) -> tuple[ColumnHandle, ...]:
    """Handles of the partition keys, in order."""
    return tuple(_handle(field, SchemaTableName(table.database, table.name)) for field in table.partition_keys)


def bucketed_alike(partition: Partition, table: Table) -> bool:
    """Whether a partition is bucketed as the table is now: ALTER TABLE changes the table only."""
    own, of_table = partition.storage, table.storage
    if own.bucket_count != of_table.bucket_count or own.stored_as_subdirectories:
        return False
    names = [name.lower() for name in of_table.bucket_columns]
    types = [{field.name.lower(): field.type.lower() for field in read_columns(one)} for one in (own, of_table)]
    same_names = names == [name.lower() for name in own.bucket_columns]
    return same_names and all(types[0].get(name) == types[1].get(name) for name in names)


def make_metadata(table: Table, handle: HiveTableHandle) -> TableMetadata:
    """The table's metadata for the user."""
    columns = [
        _metadata(field, column)
        for field, column in zip(
            (*read_columns(table.storage), *table.partition_keys),
            (*handle.data_columns, *handle.partition_keys),
            strict=True,
        )
    ]
    hidden = [
        ColumnMetadata(column.name, column.type, nullable=column.name == BUCKET and not handle.full_acid, hidden=True)
        for column in handle.hidden_columns
    ]
    return TableMetadata(
        handle.name,
        (*columns, *hidden),
        tuple(key.name for key in handle.partition_keys),
        comment=table.parameters.get("comment"),
        properties=_properties(table, handle),
        buckets=_shown_buckets(table.storage),
    )


def _bucketing(table: Table, columns: Sequence[ColumnHandle], rules: Mapping[str, TextRule]) -> Bucketing | None:
    """How Hive buckets the rows of a table; ``None`` where it does not.

    Spark's own bucketed tables have other hashes and file names (``HiveExternalCatalog``). Tables with directories of
    skewed values are not treated as bucketed.
    """
    storage, parameters = table.storage, table.parameters
    provider = parameters.get("spark.sql.sources.provider") or "hive"
    if _SPARK_BUCKETS in parameters or provider.lower() != "hive" or storage.stored_as_subdirectories:
        return None
    version = next((one for one in VERSIONS if parameters.get("bucketing_version", "1").strip() == str(one)), None)
    known = {column.name: column for column in columns}
    names = [name.lower() for name in storage.bucket_columns]
    if version is None or storage.bucket_count < 1 or not names or not all(name in known for name in names):
        return None
    texts = tuple(rules[name].kind if name in rules else "" for name in names)
    return Bucketing(tuple(known[name] for name in names), texts, storage.bucket_count, version)


def _shown_buckets(storage: StorageDescriptor) -> TableBuckets | None:
    """What Spark's ``CLUSTERED BY`` can say: it has no descending order, and shows names without quotes."""
    order = storage.sort_columns
    names = (*storage.bucket_columns, *(one.name for one in order))
    if storage.bucket_count < 1 or not storage.bucket_columns or not all(one.ascending for one in order):
        return None
    if not all(_PLAIN_NAME.fullmatch(name) for name in names):
        return None
    return TableBuckets(tuple(storage.bucket_columns), storage.bucket_count, tuple(one.name for one in order))


def _bucket_properties(storage: StorageDescriptor) -> dict[str, str]:
    """Buckets that ``CLUSTERED BY`` cannot say, by Trino's names."""
    if not storage.bucket_columns or _shown_buckets(storage) is not None:
        return {}
    order = ",".join(one.name if one.ascending else f"{one.name} DESC" for one in storage.sort_columns)
    shown = {"bucketed_by": ",".join(storage.bucket_columns), "bucket_count": str(storage.bucket_count)}
    return {**shown, "sorted_by": order} if order else shown


def _handle(field: FieldSchema, name: SchemaTableName) -> ColumnHandle:
    try:
        return ColumnHandle(field.name, parse_hive_type(field.type))
    except NotSupportedError as error:
        raise NotSupportedError(
            f"column '{field.name}' of {name}: {error.message}", error_codes.HIVE_UNSUPPORTED_TYPE
        ) from error


def _metadata(field: FieldSchema, column: ColumnHandle) -> ColumnMetadata:
    declared = field.type if text_rule(field.type) is not None else None
    return ColumnMetadata(column.name, column.type, comment=field.comment or None, declared_type=declared)


def _properties(table: Table, handle: HiveTableHandle) -> tuple[tuple[str, str], ...]:
    shown = {
        key: value
        for key, value in table.parameters.items()
        if key.lower() not in _KEPT_PARAMETERS and not key.startswith(_SPARKS_PARAMETERS)
    }
    columns = (*handle.data_columns, *handle.partition_keys)
    instants = [path for column in columns for path in instant_paths(column.name, column.type)]
    known = {
        **described_storage(table.storage),
        "location": handle.location,
        **({} if is_managed(table) else {"external": "true"}),
        **_bucket_properties(table.storage),
        **({INSTANT_COLUMNS: ",".join(instants)} if instants else {}),
        **table.access.properties(),
    }
    return (*known.items(), *sorted((key, value) for key, value in shown.items() if key not in known))
