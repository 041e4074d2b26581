"""The table or partition that is compacted or cleaned; refuses by name what is not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from connector_spi.errors import NotSupportedError, TableNotFoundError, UserError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.definitions.columns import make_handle
from connectors.hive.definitions.table_formats import is_transactional, partition_storage
from connectors.hive.handles import HiveTableHandle
from connectors.hive.write.file_checks import check_files
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["CompactionTarget"]

_LOCAL = re.compile(r"file:(//)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CompactionTarget:
    """What is compacted.

    Attributes:
        entry: The metastore's entry of the table.
        table: The table, without a snapshot.
        partition: Name of the partition; ``None`` where the table has none.
        location: The directory.
        cleanable: Nothing in the metastore says that old files are to stay.
    """

    entry: Table
    table: HiveTableHandle
    partition: str | None
    location: str
    cleanable: bool

    @classmethod
    def find(
        cls, metastore: Metastore, files: FileSystem, name: SchemaTableName, partition: str | None
    ) -> CompactionTarget:
        """Looks it up.

        Raises:
            TableNotFoundError: The metastore has no such table.
            UserError: The table has no such partition.
            NotSupportedError: It is not transactional, or cannot be read.
        """
        entry = metastore.reads.get_table(name.schema, name.table)
        if entry is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        if not is_transactional(entry.parameters):
            raise NotSupportedError(f"{name} cannot be compacted: it is not transactional, so that it has no deltas")
        table = make_handle(entry, files)
        if partition is None:
            if entry.partition_keys:
                raise NotSupportedError(f"{name} is compacted partition by partition: expected the name of one")
            return cls(entry, table, None, table.location, _is_cleanable(dict(entry.parameters)))
        found = metastore.reads.get_partitions_by_names(name.schema, name.table, [partition])
        if not found:
            raise UserError(f"{name} has no partition {partition}", error_codes.HIVE_PARTITION_NOT_FOUND)
        storage = partition_storage(found[0], entry, partition)
        if storage.format != table.format:
            raise NotSupportedError(
                f"partition {partition} of {name} cannot be compacted: its files are {storage.format}, the table's are "
                f"{table.format}"
            )
        location = found[0].storage.location or table.location
        cleanable = _is_cleanable(dict(entry.parameters)) and _is_cleanable(dict(found[0].parameters))
        return cls(entry, table, partition, location, cleanable)

    def owner(self, default: str) -> str:
        """Whose directory it is: as whom Hive's cleaner deletes files (``TxnUtils.findUserToRunAs``).

        Args:
            default: Where it cannot be told.
        """
        try:
            return Path(_LOCAL.sub("", self.location)).owner()
        except (KeyError, OSError):
            return default

    def check_compactable(self, files: FileSystem) -> None:
        """Checks that files with the same rows can be written, so that all readers see them as before.

        Raises:
            NotSupportedError: A type, a codec or the storage is not written.
        """
        table, where = self.table, f"{self.table.name} cannot be compacted"
        if self.entry.storage.stored_as_subdirectories:
            raise NotSupportedError(f"{where}: its skewed values are in directories of their own; Hive can do it")
        unwritten = files.why_not_written(self.location)
        if unwritten is not None:
            raise NotSupportedError(f"{where}: its files are in {self.location}; {unwritten}")
        if table.insert_only:
            return
        columns = pa.schema([(column.name, column.type) for column in table.data_columns])
        check_files(table.storage, columns, where)
        for name, rule in table.text_rules:
            if rule.kind not in ("char", "varchar"):
                raise NotSupportedError(
                    f"{where}: column '{name}' has char or varchar inside of another type, which is not written yet"
                )


def _is_cleanable(parameters: dict[str, str]) -> bool:
    """As ``MetaStoreUtils.isNoCleanUpSet`` and Hive 3's ``NO_CLEANUP`` have it."""
    lower = {name.lower(): value.lower() for name, value in parameters.items()}
    return "true" not in (lower.get("no_cleanup"), lower.get("no_cleaner"))
