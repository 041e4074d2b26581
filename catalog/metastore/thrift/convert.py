"""Thrift structs of the metastore to our values and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ttypes
from catalog.metastore.grants import OWNERS_PRIVILEGES
from catalog.metastore.model import (
    Database,
    FieldSchema,
    Parameters,
    Partition,
    SerDeInfo,
    SortColumn,
    StorageDescriptor,
    Table,
)
from catalog.metastore.table_access import TableAccess
from connector_spi.errors import NotSupportedError

__all__ = [
    "ABILITIES",
    "PartitionReader",
    "changed_database",
    "changed_table",
    "database_from_thrift",
    "database_to_thrift",
    "owner_privileges",
    "partition_to_thrift",
    "table_from_thrift",
    "table_to_thrift",
]

ABILITIES = [
    "EXTREAD",
    "EXTWRITE",
    "HIVEBUCKET2",
    "HIVEFULLACIDREAD",
    "HIVEFULLACIDWRITE",
    "HIVEMANAGEDINSERTREAD",
    "HIVEMANAGEDINSERTWRITE",
    "HIVESQL",
]
"""What a client of Hive 4 must be able to do before it is shown tables as they are (HIVE-21663)."""


def database_from_thrift(raw: ttypes.Database) -> Database:
    """Reads a database."""
    return Database(
        name=raw.name,
        description=raw.description or None,
        location=raw.locationUri or None,
        parameters=Parameters.of(raw.parameters),
        owner=raw.ownerName,
        owner_type=ttypes.PrincipalType._VALUES_TO_NAMES.get(raw.ownerType, ""),
    )


def database_to_thrift(database: Database) -> ttypes.Database:
    """Writes a database; without a location the metastore chooses one."""
    return ttypes.Database(
        name=database.name.lower(),
        description=database.description,
        locationUri=database.location,
        parameters=dict(database.parameters),
        ownerName=database.owner,
        ownerType=None if database.owner is None else ttypes.PrincipalType.USER,
    )


def table_from_thrift(raw: ttypes.Table) -> Table:
    """Reads a table or view.

    Raises:
        NotSupportedError: The metastore keeps its rows from clients with our abilities (Hive 4).
    """
    access = TableAccess(
        raw.accessType, tuple(raw.requiredReadCapabilities or ()), tuple(raw.requiredWriteCapabilities or ())
    )
    if not access.readable:
        wanted = ", ".join(access.to_read) or "some that it does not name"
        raise NotSupportedError(
            f"the metastore lets this client not read {raw.dbName}.{raw.tableName} (access type {access.words}): a "
            f"reader needs the abilities {wanted}, and this one has {', '.join(ABILITIES)}",
            error_codes.NOT_READABLE,
        )
    return Table(
        database=raw.dbName.lower(),
        name=raw.tableName.lower(),
        storage=StorageDescriptor() if raw.sd is None else _storage(raw.sd, PartitionReader()),
        partition_keys=_fields_from_thrift(raw.partitionKeys),
        parameters=Parameters.of(raw.parameters),
        table_type=raw.tableType or "MANAGED_TABLE",
        owner=raw.owner,
        create_time=raw.createTime or 0,
        last_access_time=raw.lastAccessTime or 0,
        view_original_text=raw.viewOriginalText,
        view_expanded_text=raw.viewExpandedText,
        access=access,
    )


def table_to_thrift(table: Table, owner: str) -> ttypes.Table:
    """Writes a table.

    Args:
        table: The table.
        owner: Its owner where it names none.
    """
    return ttypes.Table(
        tableName=table.name.lower(),
        dbName=table.database.lower(),
        owner=table.owner or owner,
        createTime=table.create_time,
        lastAccessTime=table.last_access_time,
        retention=0,
        sd=_storage_to_thrift(table.storage, table.name.lower()),
        partitionKeys=[_field_to_thrift(key) for key in table.partition_keys],
        parameters=dict(table.parameters),
        viewOriginalText=table.view_original_text,
        viewExpandedText=table.view_expanded_text,
        tableType=table.table_type,
    )


def owner_privileges(owner: str) -> ttypes.PrincipalPrivilegeSet:
    """What the owner of a new table may do with it and grant to others: Trino's ``buildInitialPrivilegeSet``."""
    kind = ttypes.PrincipalType.USER
    granted = [ttypes.PrivilegeGrantInfo(one, 0, owner, kind, True) for one in OWNERS_PRIVILEGES]
    return ttypes.PrincipalPrivilegeSet({owner: granted}, {}, {})


def changed_table(raw: ttypes.Table, table: Table) -> ttypes.Table:
    """Writes a table over its entry, of which it keeps what ``Table`` has no word for.

    Raises:
        NotSupportedError: The entry has something that would be lost.
    """
    skewed = raw.sd.skewedInfo if raw.sd is not None else None
    if skewed is not None and skewed.skewedColNames:
        raise NotSupportedError(
            f"{raw.dbName}.{raw.tableName} is SKEWED BY ({', '.join(skewed.skewedColNames)}), of which a change from "
            "here would lose a part; change it in Hive"
        )
    changed = table_to_thrift(table, raw.owner)
    for kept in ("retention", "temporary", "rewriteEnabled", "ownerType"):
        setattr(changed, kept, getattr(raw, kept))
    return changed


def changed_database(raw: ttypes.Database, database: Database) -> ttypes.Database:
    """Writes a database over its entry, of which it keeps what ``Database`` has no word for."""
    changed = database_to_thrift(database)
    changed.managedLocationUri = raw.managedLocationUri
    if changed.ownerName == raw.ownerName:
        changed.ownerType = raw.ownerType
    return changed


class PartitionReader:
    """Reads partitions of one answer; columns, properties and SerDes that are the same become one object each."""

    def __init__(self) -> None:
        self._columns: dict[tuple[tuple[str, str, str | None], ...], tuple[FieldSchema, ...]] = {}
        self._parameters: dict[tuple[tuple[str, str], ...], Parameters] = {}
        self._serdes: dict[tuple[str | None, str | None, Parameters], SerDeInfo] = {}

    def read_all(self, raw: Iterable[ttypes.Partition]) -> list[Partition]:
        """Reads partitions in their order."""
        return [self.read(one) for one in raw]

    def read(self, raw: ttypes.Partition) -> Partition:
        """Reads one partition."""
        return Partition(
            database=raw.dbName.lower(),
            table=raw.tableName.lower(),
            values=tuple(raw.values),
            storage=StorageDescriptor() if raw.sd is None else _storage(raw.sd, self),
            parameters=self.parameters(raw.parameters),
            create_time=raw.createTime or 0,
        )

    def columns(self, raw: list[ttypes.FieldSchema] | None) -> tuple[FieldSchema, ...]:
        """Columns."""
        key = tuple([(field.name, field.type, field.comment) for field in raw or ()])
        columns = self._columns.get(key)
        if columns is None:
            columns = self._columns[key] = _fields_from_thrift(raw)
        return columns

    def parameters(self, raw: dict[str, str] | None) -> Parameters:
        """Properties."""
        key = tuple(sorted(raw.items())) if raw else ()
        return self._parameters.setdefault(key, Parameters(key))

    def serde(self, raw: ttypes.SerDeInfo | None) -> SerDeInfo:
        """A SerDe."""
        raw = raw or ttypes.SerDeInfo()
        parameters = self.parameters(raw.parameters)
        key = (raw.serializationLib, raw.name, parameters)
        serde = self._serdes.get(key)
        if serde is None:
            serde = self._serdes[key] = SerDeInfo(raw.serializationLib or "", parameters, raw.name)
        return serde


def partition_to_thrift(partition: Partition) -> ttypes.Partition:
    """Writes a partition."""
    return ttypes.Partition(
        values=list(partition.values),
        dbName=partition.database.lower(),
        tableName=partition.table.lower(),
        createTime=partition.create_time,
        lastAccessTime=0,
        sd=_storage_to_thrift(partition.storage, partition.table.lower()),
        parameters=dict(partition.parameters),
    )


def _fields_from_thrift(raw: list[ttypes.FieldSchema] | None) -> tuple[FieldSchema, ...]:
    return tuple(FieldSchema(field.name.lower(), field.type, field.comment) for field in raw or ())


def _field_to_thrift(field: FieldSchema) -> ttypes.FieldSchema:
    return ttypes.FieldSchema(field.name.lower(), field.type, field.comment)


def _storage(raw: ttypes.StorageDescriptor, reader: PartitionReader) -> StorageDescriptor:
    return StorageDescriptor(
        columns=reader.columns(raw.cols),
        location=raw.location or None,
        input_format=raw.inputFormat,
        output_format=raw.outputFormat,
        compressed=bool(raw.compressed),
        bucket_count=-1 if raw.numBuckets is None else raw.numBuckets,
        serde=reader.serde(raw.serdeInfo),
        bucket_columns=_lower(raw.bucketCols),
        sort_columns=tuple(SortColumn(order.col.lower(), order.order != 0) for order in raw.sortCols or ()),
        parameters=reader.parameters(raw.parameters),
        stored_as_subdirectories=bool(raw.storedAsSubDirectories),
    )


def _storage_to_thrift(storage: StorageDescriptor, name: str) -> ttypes.StorageDescriptor:
    return ttypes.StorageDescriptor(
        cols=[_field_to_thrift(column) for column in storage.columns],
        location=storage.location,
        inputFormat=storage.input_format,
        outputFormat=storage.output_format,
        compressed=storage.compressed,
        numBuckets=storage.bucket_count,
        serdeInfo=ttypes.SerDeInfo(
            storage.serde.name or name, storage.serde.serialization_lib, dict(storage.serde.parameters)
        ),
        bucketCols=list(storage.bucket_columns),
        sortCols=[ttypes.Order(sort.name, int(sort.ascending)) for sort in storage.sort_columns],
        parameters=dict(storage.parameters),
        skewedInfo=ttypes.SkewedInfo([], []),
        storedAsSubDirectories=storage.stored_as_subdirectories,
    )


def _lower(names: Sequence[str] | None) -> tuple[str, ...]:
    return tuple([name.lower() for name in names]) if names else ()
