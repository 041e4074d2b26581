"""Rows of the embedded metastore's tables, read and written within a transaction of the caller's."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from catalog.metastore.embedded.compactions import COMPACTIONS, has_compactions
from catalog.metastore.model import (
    Database,
    FieldSchema,
    Parameters,
    Partition,
    StorageDescriptor,
    Table,
)
from catalog.metastore.partitions.names import make_partition_name
from connector_spi.errors import SchemaNotFoundError, TableNotFoundError
from connector_spi.serializable import from_json, to_json

__all__ = [
    "NAMES_AT_ONCE",
    "PartitionRowReader",
    "drop_tables",
    "find_database",
    "find_table",
    "list_partition_names",
    "make_partition_row",
    "marks",
    "need_database",
    "need_table",
    "normalise_table",
    "remove_partitions",
    "remove_statistics",
    "rename_table",
]

NAMES_AT_ONCE = 900
"""Most names of one statement: SQLite takes 999 variables in old builds."""


class PartitionRowReader:
    """Reads rows of partitions; storages that only differ in the location are read once."""

    def __init__(self, database: str, table: str) -> None:
        self._database = database
        self._table = table
        self._storages: dict[int, StorageDescriptor] = {}

    def read(self, connection: sqlite3.Connection, row: tuple[str, str, str | None, int, str, int]) -> Partition:
        _, values, location, storage_id, parameters, create_time = row
        shared = self._storages.get(storage_id)
        if shared is None:
            text = connection.execute("SELECT value FROM storages WHERE id = ?", (storage_id,)).fetchone()[0]
            shared = self._storages[storage_id] = from_json(text, StorageDescriptor)
        return Partition(
            database=self._database,
            table=self._table,
            values=tuple(json.loads(values)),
            storage=replace(shared, location=location),
            parameters=Parameters.of(json.loads(parameters)),
            create_time=create_time,
        )


def find_database(connection: sqlite3.Connection, name: str) -> Database | None:
    """The database, or ``None``."""
    row = connection.execute("SELECT value FROM databases WHERE name = ?", (name.lower(),)).fetchone()
    return None if row is None else from_json(row[0], Database)


def need_database(connection: sqlite3.Connection, name: str) -> Database:
    """The database; ``SchemaNotFoundError`` when it is missing."""
    database = find_database(connection, name)
    if database is None:
        raise SchemaNotFoundError(f"the metastore has no database {name.lower()}")
    return database


def find_table(connection: sqlite3.Connection, database: str, name: str) -> Table | None:
    """The table, or ``None``."""
    key = (database.lower(), name.lower())
    row = connection.execute("SELECT value FROM tables WHERE database = ? AND name = ?", key).fetchone()
    return None if row is None else from_json(row[0], Table)


def need_table(connection: sqlite3.Connection, database: str, name: str) -> Table:
    """The table; ``TableNotFoundError`` when it is missing."""
    table = find_table(connection, database, name)
    if table is None:
        raise TableNotFoundError(f"the metastore has no table {database.lower()}.{name.lower()}")
    return table


def list_partition_names(connection: sqlite3.Connection, database: str, table: str) -> list[str]:
    """Names of a table's partitions, sorted."""
    need_table(connection, database, table)
    key = (database.lower(), table.lower())
    rows = connection.execute("SELECT name FROM partitions WHERE database = ? AND table_name = ? ORDER BY name", key)
    return [row[0] for row in rows]


def normalise_table(table: Table, database: Database) -> Table:
    """As a Hive metastore would keep the table: lower case, with a location, a time, and EXTERNAL as a property."""
    storage = table.storage
    if storage.location is None and not table.is_view:
        storage = replace(storage, location=f"{database.location}/{table.name.lower()}")
    parameters = table.parameters
    if table.table_type == "EXTERNAL_TABLE":
        parameters = parameters.with_entries({"EXTERNAL": "TRUE"})
    return replace(
        table,
        database=table.database.lower(),
        name=table.name.lower(),
        storage=replace(storage, columns=_lower(storage.columns)),
        partition_keys=_lower(table.partition_keys),
        parameters=parameters,
        create_time=table.create_time or int(time.time()),
    )


def _lower(fields: Sequence[FieldSchema]) -> tuple[FieldSchema, ...]:
    return tuple(replace(field, name=field.name.lower()) for field in fields)


def make_partition_row(
    connection: sqlite3.Connection, table: Table, partition: Partition, storages: dict[StorageDescriptor, int]
) -> tuple[str, str, str, str, str | None, int, str, int]:
    """The row of a partition; ``storages`` remembers the ids of storages met before."""
    name = make_partition_name([key.name for key in table.partition_keys], partition.values)
    shared = replace(partition.storage, location=None)
    storage_id = storages.get(shared)
    if storage_id is None:
        stored = to_json(replace(shared, columns=_lower(shared.columns)))
        connection.execute("INSERT INTO storages (value) VALUES (?) ON CONFLICT DO NOTHING", (stored,))
        storage_id = connection.execute("SELECT id FROM storages WHERE value = ?", (stored,)).fetchone()[0]
        storages[shared] = storage_id
    return (
        table.database,
        table.name,
        name,
        json.dumps(partition.values),
        partition.storage.location or f"{table.storage.location}/{name}",
        storage_id,
        json.dumps(dict(partition.parameters)),
        partition.create_time or int(time.time()),
    )


def drop_tables(connection: sqlite3.Connection, database: str, tables: Sequence[str]) -> None:
    """Drops tables with all that hangs on them."""
    for table in tables:
        connection.execute("DELETE FROM tables WHERE database = ? AND name = ?", (database, table))
        for kept in ("write_ids", "next_write_ids", *_compactions(connection)):
            connection.execute(f"DELETE FROM {kept} WHERE database = ? AND table_name = ?", (database, table))
    connection.execute("DELETE FROM storages WHERE id NOT IN (SELECT storage FROM partitions)")


def rename_table(connection: sqlite3.Connection, old: tuple[str, str], new: tuple[str, str], value: str) -> None:
    """Puts a table under another name, with all that hangs on it; names are of database and table."""
    connection.execute("INSERT INTO tables VALUES (?, ?, ?)", (*new, value))
    granted = connection.execute("SELECT name FROM sqlite_master WHERE name = 'table_privileges'").fetchall()
    later = (*_compactions(connection), *(row[0] for row in granted))
    for kept in ("partitions", "statistics", "write_ids", "next_write_ids", *later):
        connection.execute(
            f"UPDATE {kept} SET database = ?, table_name = ? WHERE database = ? AND table_name = ?", (*new, *old)
        )
    connection.execute("DELETE FROM tables WHERE database = ? AND name = ?", old)


def remove_partitions(connection: sqlite3.Connection, database: str, table: str, names: Sequence[str]) -> None:
    """Drops partitions with their statistics."""
    keys = [(database, table, name) for name in names]
    connection.executemany("DELETE FROM partitions WHERE database = ? AND table_name = ? AND name = ?", keys)
    remove_statistics(connection, database, table, names)
    connection.execute("DELETE FROM storages WHERE id NOT IN (SELECT storage FROM partitions)")


def remove_statistics(connection: sqlite3.Connection, database: str, table: str, partitions: Sequence[str]) -> None:
    """Drops the statistics of partitions; "" stands for the table itself."""
    keys = [(database, table, name) for name in partitions]
    connection.executemany("DELETE FROM statistics WHERE database = ? AND table_name = ? AND partition = ?", keys)


def put_parameters(
    connection: sqlite3.Connection, database: str, table: str, parameters: Mapping[str, Parameters]
) -> None:
    """Replaces the properties of partitions."""
    connection.executemany(
        "UPDATE partitions SET parameters = ? WHERE database = ? AND table_name = ? AND name = ?",
        [(json.dumps(dict(entries)), database, table, name) for name, entries in parameters.items()],
    )


def marks(names: Sequence[str]) -> str:
    """As many question marks as names."""
    return ",".join("?" * len(names))


def _compactions(connection: sqlite3.Connection) -> tuple[str, ...]:
    return (COMPACTIONS,) if has_compactions(connection) else ()
