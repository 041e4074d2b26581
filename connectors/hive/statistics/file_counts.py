"""How many files and bytes a table and its partitions have, kept in the metastore as Hive keeps it. Driver side."""

from __future__ import annotations

from dataclasses import replace

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters
from connector_spi.errors import TableNotFoundError
from connectors.hive.acid.directories.entries import acid_entries
from connectors.hive.acid.directories.location import list_acid_location
from connectors.hive.acid.directories.unknown_ids import UnknownIds
from connectors.hive.definitions.table_formats import table_location
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions.selection import get_partitions, prune_partitions
from connectors.hive.transaction import HiveTransaction
from connectors.toolkit.storage.filesystem import FileSystem, is_hidden

__all__ = ["keep_file_counts"]

_FILES, _SIZE = "numFiles", "totalSize"
_SPARKS = "spark.sql.statistics."
_BATCH = 1000


def keep_file_counts(
    metastore: Metastore, transaction: HiveTransaction, files: FileSystem, table: HiveTableHandle
) -> None:
    """Counts the files of a table, or of the partitions that its filter selects, and sets ``numFiles``, ``totalSize``.

    Of transactional tables those count that the snapshot sees, delete deltas too (``AcidUtils.getAcidFilesForStats``).

    Args:
        metastore: The metastore.
        transaction: Of the statement.
        files: Storage.
        table: The table.

    Raises:
        TableNotFoundError: The table is gone.
        StorageError: Storage refused.
    """
    entry = transaction.table(table.name)
    snapshot = None if table.snapshot is None else transaction.protect(table.name, table.snapshot)
    seen = replace(table, snapshot=snapshot)
    if not table.partition_keys:
        sizes = _sizes(files, transaction, seen, table_location(entry))
        # The transaction's entry is older than the statistics that the statement has set.
        now = metastore.reads.get_table(entry.database, entry.name)
        if now is None:
            raise TableNotFoundError(f"table {table.name} is not in the metastore")
        counted = _counted(now.parameters, sizes)
        if counted != now.parameters:
            metastore.writes.alter_table(now.database, now.name, replace(now, parameters=counted))
        return
    names = [one.name for one in prune_partitions(metastore.reads, table, table.constraint).kept]
    for start in range(0, len(names), _BATCH):
        batch = names[start : start + _BATCH]
        found = {}
        for name, partition in zip(batch, get_partitions(metastore.reads, table, batch), strict=True):
            counted = _counted(partition.parameters, _sizes(files, transaction, seen, partition.storage.location or ""))
            if counted != partition.parameters:
                found[name] = counted
        if found:
            metastore.writes.set_partition_parameters(entry.database, entry.name, found)


def _sizes(files: FileSystem, transaction: HiveTransaction, table: HiveTableHandle, location: str) -> list[int]:
    """The bytes of each file; of groups of them for transactional tables, with as many zeros as there are others."""
    if not location or not files.exists(location):
        return []
    if table.snapshot is None:
        skipped = len(location.rstrip("/")) + 1
        return [
            one.size
            for one in files.list(location, recursive=True)
            if not one.is_directory and not any(map(is_hidden, one.path[skipped:].split("/")))
        ]
    listed = list_acid_location(files, location, table.snapshot, insert_only=table.insert_only)
    transaction.confirm(table.name, UnknownIds.of(listed))
    seen = [one for one in acid_entries(listed) if one.in_snapshot and one.files]
    return [size for one in seen for size in (one.size, *[0] * (one.files - 1))]


def _counted(parameters: Parameters, sizes: list[int]) -> Parameters:
    size = str(sum(sizes))
    # What Spark has counted would stand beside it, of other files.
    kept = {
        key: value for key, value in parameters.items() if parameters.get(_SIZE) == size or not key.startswith(_SPARKS)
    }
    return Parameters.of({**kept, _FILES: str(len(sizes)), _SIZE: size})
