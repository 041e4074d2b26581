"""The embedded metastore: databases, tables, partitions and statistics in one SQLite file, with no server."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.metastore import error_codes
from catalog.metastore.client import MetastoreClient, MetastoreWriter
from catalog.metastore.embedded.column_statistics import find_statistics, put_statistics
from catalog.metastore.embedded.grants import grant_owner
from catalog.metastore.embedded.rows import (
    NAMES_AT_ONCE,
    PartitionRowReader,
    drop_tables,
    find_database,
    find_table,
    list_partition_names,
    make_partition_row,
    marks,
    need_database,
    need_table,
    normalise_table,
    put_parameters,
    remove_partitions,
    remove_statistics,
    rename_table,
)
from catalog.metastore.embedded.sqlite_store import SqliteStore
from catalog.metastore.model import (
    ColumnStatistics,
    Database,
    FieldSchema,
    Parameters,
    Partition,
    StorageDescriptor,
    Table,
)
from catalog.metastore.partitions.names import in_batches, prune_partition_names
from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.serializable import to_json

if TYPE_CHECKING:
    from connector_spi.predicate import TupleDomain

__all__ = ["EmbeddedMetastore", "open_store"]

_OF_TABLE = ""


def open_store(path: Path) -> SqliteStore:
    """The store of an embedded metastore. The directory around the file is the warehouse of its managed tables."""
    location = _uri(path.resolve().parent)
    return SqliteStore(path, to_json(Database("default", "Default database", location)))


class EmbeddedMetastore(MetastoreClient, MetastoreWriter):
    """Reads and writes of the embedded metastore.

    Args:
        store: What ``open_store`` gave; closed with this client.
    """

    deletes_files = False

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def get_databases(self) -> list[str]:
        with self._store.read("get_databases") as connection:
            return [row[0] for row in connection.execute("SELECT name FROM databases ORDER BY name")]

    def get_database(self, name: str) -> Database | None:
        with self._store.read("get_database") as connection:
            return find_database(connection, name)

    def get_table_names(self, database: str) -> list[str]:
        with self._store.read("get_table_names") as connection:
            need_database(connection, database)
            rows = connection.execute("SELECT name FROM tables WHERE database = ? ORDER BY name", (database.lower(),))
            return [row[0] for row in rows]

    def get_table(self, database: str, name: str) -> Table | None:
        with self._store.read("get_table") as connection:
            return find_table(connection, database, name)

    def get_tables(self, database: str, names: Sequence[str]) -> list[Table]:
        with self._store.read("get_tables") as connection:
            found = [find_table(connection, database, name) for name in names]
        return [table for table in found if table is not None]

    def get_partition_names(self, database: str, table: str) -> list[str]:
        with self._store.read("get_partition_names") as connection:
            return list_partition_names(connection, database, table)

    def get_partition_names_by_filter(
        self,
        database: str,
        table: str,
        predicate: TupleDomain[str],
        partition_keys: Sequence[FieldSchema] = (),
    ) -> list[str]:
        with self._store.read("get_partition_names_by_filter") as connection:
            names = list_partition_names(connection, database, table)
        return prune_partition_names(names, predicate)

    def get_partitions_by_names(self, database: str, table: str, names: Iterable[str]) -> list[Partition]:
        wanted = list(names)
        found: dict[str, Partition] = {}
        reader = PartitionRowReader(database.lower(), table.lower())
        with self._store.read("get_partitions_by_names") as connection:
            need_table(connection, database, table)
            for batch in in_batches(dict.fromkeys(wanted), NAMES_AT_ONCE):
                rows = connection.execute(
                    "SELECT p.name, partition_values, location, storage, parameters, create_time FROM partitions p "
                    f"WHERE database = ? AND table_name = ? AND p.name IN ({marks(batch)})",
                    (database.lower(), table.lower(), *batch),
                )
                found.update((row[0], reader.read(connection, row)) for row in rows.fetchall())
        return [found[name] for name in wanted if name in found]

    def get_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> list[ColumnStatistics]:
        with self._store.read("get_table_statistics") as connection:
            return find_statistics(connection, database, table, [_OF_TABLE], columns).get(_OF_TABLE, [])

    def get_partition_statistics(
        self, database: str, table: str, partitions: Sequence[str], columns: Sequence[str]
    ) -> Mapping[str, list[ColumnStatistics]]:
        with self._store.read("get_partition_statistics") as connection:
            return find_statistics(connection, database, table, partitions, columns)

    def close(self) -> None:
        self._store.close()

    def create_database(self, database: Database) -> None:
        name = database.name.lower()
        location = database.location or f"{_uri(self._store.path.resolve().parent)}/{name}.db"
        value = to_json(replace(database, name=name, location=location))
        with self._store.write("create_database") as connection, _unique(f"database {name}"):
            connection.execute("INSERT INTO databases VALUES (?, ?)", (name, value))

    def alter_database(self, database: Database) -> None:
        name = database.name.lower()
        with self._store.write("alter_database") as connection:
            before = need_database(connection, name)
            changed = replace(database, name=name, location=database.location or before.location)
            connection.execute("UPDATE databases SET value = ? WHERE name = ?", (to_json(changed), name))

    def create_table(self, table: Table) -> None:
        database, name = table.database.lower(), table.name.lower()
        with self._store.write("create_table") as connection, _unique(f"table {database}.{name}"):
            stored = normalise_table(table, need_database(connection, database))
            connection.execute("INSERT INTO tables VALUES (?, ?, ?)", (database, name, to_json(stored)))
            if stored.owner:
                grant_owner(connection, SchemaTableName(database, name), stored.owner)

    def planned_location(self, table: Table) -> str:
        with self._store.read("planned_location") as connection:
            planned = normalise_table(table, need_database(connection, table.database))
        return str(planned.storage.location)

    def alter_table(self, database: str, name: str, table: Table) -> None:
        key = (database.lower(), name.lower())
        target = (table.database.lower(), table.name.lower())
        what = f"table {target[0]}.{target[1]}"
        with self._store.write("alter_table") as connection, _unique(what):
            need_table(connection, *key)
            value = to_json(normalise_table(table, need_database(connection, target[0])))
            if target == key:
                connection.execute("UPDATE tables SET value = ? WHERE database = ? AND name = ?", (value, *key))
            else:
                rename_table(connection, key, target, value)

    def drop_table(self, database: str, name: str, delete_data: bool = False, purge: bool = False) -> None:
        if delete_data:
            raise MetastoreError(
                "the embedded metastore deletes no files; drop the table without its data, then delete its directory",
                error_codes.REFUSED_REQUEST,
            )
        with self._store.write("drop_table") as connection:
            need_table(connection, database, name)
            drop_tables(connection, database.lower(), [name.lower()])

    def drop_database(self, name: str, cascade: bool = False) -> None:
        with self._store.write("drop_database") as connection:
            need_database(connection, name)
            rows = connection.execute("SELECT name FROM tables WHERE database = ?", (name.lower(),))
            tables = [row[0] for row in rows]
            if tables and not cascade:
                raise MetastoreError(
                    f"database {name.lower()} holds {len(tables)} tables; drop them first, or drop with cascade",
                    error_codes.REFUSED_REQUEST,
                )
            drop_tables(connection, name.lower(), tables)
            connection.execute("DELETE FROM databases WHERE name = ?", (name.lower(),))

    def add_partitions(self, database: str, table: str, partitions: Sequence[Partition]) -> None:
        with self._store.write("add_partitions") as connection:
            owner = need_table(connection, database, table)
            storages: dict[StorageDescriptor, int] = {}
            for partition in partitions:
                row = make_partition_row(connection, owner, partition, storages)
                with _unique(f"partition {row[2]} of {owner.database}.{owner.name}"):
                    connection.execute("INSERT INTO partitions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def drop_partitions(self, database: str, table: str, names: Sequence[str]) -> None:
        with self._store.write("drop_partitions") as connection:
            unknown = set(names).difference(list_partition_names(connection, database, table))
            if unknown:
                raise MetastoreError(
                    f"table {database}.{table} has no partition {min(unknown)}", error_codes.REFUSED_REQUEST
                )
            remove_partitions(connection, database.lower(), table.lower(), names)

    def set_partition_parameters(self, database: str, table: str, parameters: Mapping[str, Parameters]) -> None:
        with self._store.write("set_partition_parameters") as connection:
            unknown = set(parameters).difference(list_partition_names(connection, database, table))
            if unknown:
                raise MetastoreError(
                    f"table {database}.{table} has no partition {min(unknown)}", error_codes.REFUSED_REQUEST
                )
            put_parameters(connection, database.lower(), table.lower(), parameters)

    def set_table_statistics(self, database: str, table: str, statistics: Sequence[ColumnStatistics]) -> None:
        with self._store.write("set_table_statistics") as connection:
            need_table(connection, database, table)
            put_statistics(connection, database, table, {_OF_TABLE: statistics})

    def set_partition_statistics(
        self, database: str, table: str, statistics: Mapping[str, Sequence[ColumnStatistics]]
    ) -> None:
        with self._store.write("set_partition_statistics") as connection:
            unknown = set(statistics).difference(list_partition_names(connection, database, table))
            if unknown:
                raise MetastoreError(f"table {database}.{table} has no partition {min(unknown)}")
            put_statistics(connection, database, table, statistics)

    def drop_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> None:
        self._drop_statistics(database, table, [_OF_TABLE])

    def drop_partition_statistics(
        self, database: str, table: str, columns: Sequence[str], partitions: Sequence[str]
    ) -> None:
        self._drop_statistics(database, table, partitions)

    def _drop_statistics(self, database: str, table: str, partitions: Sequence[str]) -> None:
        with self._store.write("drop_statistics") as connection:
            remove_statistics(connection, database.lower(), table.lower(), partitions)


def _uri(folder: Path) -> str:
    # Locations are never percent-encoded, as in Hadoop.
    return f"file://{folder}"


@contextmanager
def _unique(what: str) -> Iterator[None]:
    """Says in words that a row of the same key is there."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise MetastoreError(f"the {what} exists already", error_codes.ALREADY_EXISTS) from error
