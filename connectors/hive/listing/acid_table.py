"""``t$acid``: the directories and files of a transactional table, and which of them are read. Driver side."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from connector_spi.errors import FileMissingError, InvalidArgumentError, MetastoreError, NotSupportedError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from connectors.hive import error_codes
from connectors.hive.acid.directories.entries import acid_entries
from connectors.hive.acid.directories.location import AcidLocation, list_acid_location
from connectors.hive.handles import HiveTableHandle
from connectors.hive.listing.file_lister import missing_location
from connectors.hive.partitions.selection import get_partitions, prune_partitions
from connectors.hive.transaction import HiveTransaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["AcidTable", "version_write_id"]

_SCHEMA = pa.schema(
    [
        ("partition", pa.string()),
        ("path", pa.string()),
        ("kind", pa.string()),
        ("first_write_id", pa.int64()),
        ("last_write_id", pa.int64()),
        ("statement", pa.int32()),
        ("compaction_transaction", pa.int64()),
        ("files", pa.int64()),
        ("bytes", pa.int64()),
        ("in_snapshot", pa.bool_()),
        ("reason", pa.string()),
    ]
)
_BATCH = 1000


class AcidTable(SystemTable):
    """One row for each base, delta, delete delta, and file older than the transactions; none for other tables.

    Args:
        name: Name of the table.
        transaction: The statement's transaction.
        files: Storage.
        table: Handle of the table, with its snapshot.
    """

    kind = "acid"

    def __init__(
        self, name: SystemTableName, transaction: HiveTransaction, files: FileSystem, table: HiveTableHandle
    ) -> None:
        self._name = name
        self._transaction = transaction
        self._files = files
        self._table = table

    @property
    def metadata(self) -> TableMetadata:
        table = SchemaTableName(self._name.base.schema, f"{self._name.base.table}${self.kind}")
        return TableMetadata(table, tuple(ColumnMetadata(field.name, field.type) for field in _SCHEMA))

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        if self._table.snapshot is None:
            return
        snapshot = self._transaction.protect(self._table.name, self._table.snapshot)
        for partition, location in self._folders():
            try:
                listed = list_acid_location(self._files, location, snapshot, insert_only=self._table.insert_only)
            except FileMissingError as error:
                if error.code == error_codes.HIVE_FILE_CLEANED:
                    raise
                raise missing_location(location, self._table.name, partition or "") from error
            yield pa.RecordBatch.from_pylist(_rows(listed, partition), _SCHEMA)

    def _folders(self) -> Iterator[tuple[str | None, str]]:
        if not self._table.partition_keys:
            yield None, self._table.location
            return
        client = self._transaction.client
        names = [one.name for one in prune_partitions(client, self._table, TupleDomain.all()).kept]
        for start in range(0, len(names), _BATCH):
            batch = names[start : start + _BATCH]
            for name, partition in zip(batch, get_partitions(client, self._table, batch), strict=True):
                if not partition.storage.location:
                    raise MetastoreError(
                        f"the metastore has no location for partition {name} of {self._table.name}",
                        error_codes.HIVE_BAD_PARTITION,
                    )
                yield name, partition.storage.location


def version_write_id(name: SchemaTableName, version: TableVersion) -> int:
    """The write id of a version.

    Raises:
        NotSupportedError: The version is a time.
        InvalidArgumentError: The version is not a number.
    """
    if version.kind is VersionKind.TIMESTAMP:
        raise NotSupportedError(
            f"{name} cannot be read as of a time: Hive does not record when a write id was committed; use VERSION AS "
            f'OF a write id; "{name.table}${AcidTable.kind}" lists the existing ones'
        )
    text = str(version.value).strip()
    if not (text.isascii() and text.isdigit()):
        raise InvalidArgumentError(f"version {text!r} of {name} is not a write id: expected a number, such as 5")
    return int(text)


def _rows(listed: AcidLocation, partition: str | None) -> list[dict[str, object]]:
    return [
        {
            "partition": partition,
            "path": one.path,
            "kind": one.kind,
            "first_write_id": one.first,
            "last_write_id": one.last,
            "statement": one.statement,
            "compaction_transaction": one.visibility,
            "files": one.files,
            "bytes": one.size,
            "in_snapshot": one.in_snapshot,
            "reason": one.reason,
        }
        for one in acid_entries(listed)
    ]
