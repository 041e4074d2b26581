"""``t$acid``: the folders and files of a transactional table, and what a statement reads of them. Driver side."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from connectors.hive.acid.folder import AcidFolder, list_acid_folder
from connectors.hive.acid.layout import AcidDirectory
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions import get_partitions, prune_partitions
from connectors.hive.transaction import HiveTransaction
from connectors.toolkit.filesystem import FileSystem

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
        transaction: The statement's.
        files: Storage.
        table: The table with its snapshot.
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
            folder = list_acid_folder(self._files, location, snapshot, insert_only=self._table.insert_only)
            rows = [{"partition": partition, **row} for row in _folder_rows(folder)]
            yield pa.RecordBatch.from_pylist(rows, _SCHEMA)

    def _folders(self) -> Iterator[tuple[str | None, str]]:
        if not self._table.partition_keys:
            yield None, self._table.location
            return
        client = self._transaction.client
        names = [one.name for one in prune_partitions(client, self._table, TupleDomain.all()).kept]
        for start in range(0, len(names), _BATCH):
            batch = names[start : start + _BATCH]
            for name, partition in zip(batch, get_partitions(client, self._table, batch), strict=True):
                yield name, partition.storage.location or ""


def version_write_id(name: SchemaTableName, version: TableVersion) -> int:
    """The write id that a version means.

    Raises:
        NotSupportedError: It is a time.
        InvalidArgumentError: It is no number.
    """
    if version.kind is VersionKind.TIMESTAMP:
        raise NotSupportedError(
            f"{name} cannot be read as of a time: Hive does not keep when a write id was committed; use VERSION AS OF "
            f'a write id, and see those that are there in "{name.table}${AcidTable.kind}"'
        )
    text = str(version.value).strip()
    if not (text.isascii() and text.isdigit()):
        raise InvalidArgumentError(f"version {text!r} of {name} is no write id: expected a number, such as 5")
    return int(text)


def _folder_rows(folder: AcidFolder) -> Iterator[dict[str, object]]:
    state = folder.state
    taken = [*([] if state.base is None else [state.base]), *state.directories]
    rows = [_directory_row(folder, one, None) for one in taken]
    rows += [_directory_row(folder, one.directory, f"{one.reason.value} {one.by}".strip()) for one in state.unread]
    hidden = None if state.base is None else f"obsolete: its rows are in {state.base.name}"
    for info in folder.listing.originals:
        path = folder.listing.relative(info.path)
        rows.append(
            {
                "path": path,
                "kind": "original",
                "files": 1,
                "bytes": info.size,
                "in_snapshot": hidden is None,
                "reason": hidden,
            }
        )
    yield from sorted(rows, key=lambda row: str(row["path"]))


def _directory_row(folder: AcidFolder, directory: AcidDirectory, reason: str | None) -> dict[str, object]:
    content = folder.listing.directories[directory.name]
    partial = directory.name in folder.state.partial
    return {
        "path": directory.name,
        "kind": directory.kind.value,
        "first_write_id": directory.first,
        "last_write_id": directory.last,
        "statement": None if directory.statement < 0 else directory.statement,
        "compaction_transaction": directory.visibility or None,
        "files": len(content.files),
        "bytes": sum(info.size for info in content.files),
        "in_snapshot": reason is None,
        "reason": "only rows of committed write ids" if partial else reason,
    }
