"""A metastore for catalogs with ``hive.metastore=dict``: dictionaries of this process, one set for each directory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from catalog.metastore import error_codes
from catalog.metastore.client import MetastoreClient, MetastoreWriter
from catalog.metastore.factory import MetastoreClients, MetastoreFactory
from catalog.metastore.model import ColumnStatistics, Database, Parameters, Partition, Table
from catalog.metastore.partitions.names import make_partition_name
from connector_spi.errors import ErrorCode, MetastoreError, SchemaNotFoundError, TableNotFoundError
from connector_spi.properties import PropertyValues, string_property

DIRECTORY = string_property("dict.directory", "URI of the directory of managed tables.", "file:///tmp/dict-warehouse")


class DictMetastore(MetastoreClient, MetastoreWriter):
    deletes_files = False

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._lock = threading.RLock()
        self._databases = {"default": Database("default", None, directory)}
        self._tables: dict[tuple[str, str], Table] = {}
        self._partitions: dict[tuple[str, str], dict[str, Partition]] = {}
        self._statistics: dict[tuple[str, str], dict[str, dict[str, ColumnStatistics]]] = {}

    def get_databases(self) -> list[str]:
        return sorted(self._databases)

    def get_database(self, name: str) -> Database | None:
        return self._databases.get(name.lower())

    def get_table_names(self, database: str) -> list[str]:
        owner = self._need_database(database)
        return sorted(name for of, name in list(self._tables) if of == owner.name)

    def get_table(self, database: str, name: str) -> Table | None:
        return self._tables.get((database.lower(), name.lower()))

    def get_partition_names(self, database: str, table: str) -> list[str]:
        return sorted(self._partitions[self._need_table(database, table)])

    def get_partitions_by_names(self, database: str, table: str, names: Iterable[str]) -> list[Partition]:
        found = self._partitions[self._need_table(database, table)]
        return [found[name] for name in names if name in found]

    def get_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> list[ColumnStatistics]:
        known = self._statistics[self._need_table(database, table)].get("", {})
        return [known[column] for column in columns if column in known]

    def get_partition_statistics(
        self, database: str, table: str, partitions: Sequence[str], columns: Sequence[str]
    ) -> Mapping[str, list[ColumnStatistics]]:
        known = self._statistics[self._need_table(database, table)]
        found = {
            name: [known[name][one] for one in columns if one in known[name]] for name in partitions if name in known
        }
        return {name: statistics for name, statistics in found.items() if statistics}

    def create_database(self, database: Database) -> None:
        name = database.name.lower()
        location = database.location or f"{self._directory}/{name}.db"
        with self._lock:
            _refuse(name in self._databases, f"database {name} exists", error_codes.ALREADY_EXISTS)
            self._databases[name] = replace(database, name=name, location=location)

    def alter_database(self, database: Database) -> None:
        before = self._need_database(database.name)
        self._databases[before.name] = replace(database, name=before.name, location=before.location)

    def drop_database(self, name: str, cascade: bool = False) -> None:
        tables = self.get_table_names(name)
        _refuse(bool(tables) and not cascade, f"database {name} has tables", error_codes.NOT_EMPTY)
        for table in tables:
            self.drop_table(name, table)
        del self._databases[name.lower()]

    def create_table(self, table: Table) -> None:
        owner = self._need_database(table.database)
        key = (owner.name, table.name.lower())
        storage = table.storage
        if storage.location is None and not table.is_view:
            storage = replace(storage, location=f"{owner.location}/{key[1]}")
        external = {"EXTERNAL": "TRUE"} if table.table_type == "EXTERNAL_TABLE" else {}
        made = replace(
            table,
            database=key[0],
            name=key[1],
            storage=storage,
            parameters=table.parameters.with_entries(external),
            create_time=table.create_time or int(time.time()),
        )
        with self._lock:
            _refuse(key in self._tables, f"table {'.'.join(key)} exists", error_codes.ALREADY_EXISTS)
            self._tables[key], self._partitions[key], self._statistics[key] = made, {}, {}

    def planned_location(self, table: Table) -> str:
        return f"{self._need_database(table.database).location}/{table.name.lower()}"

    def alter_table(self, database: str, name: str, table: Table) -> None:
        with self._lock:
            old = self._need_table(database, name)
            new = (table.database.lower(), table.name.lower())
            _refuse(new != old and new in self._tables, f"table {'.'.join(new)} exists", error_codes.ALREADY_EXISTS)
            kept = self._partitions[old], self._statistics[old]
            self.drop_table(database, name)
            self.create_table(table)
            self._partitions[new], self._statistics[new] = kept

    def drop_table(self, database: str, name: str, delete_data: bool = False, purge: bool = False) -> None:
        with self._lock:
            key = self._need_table(database, name)
            del self._tables[key], self._partitions[key], self._statistics[key]

    def add_partitions(self, database: str, table: str, partitions: Sequence[Partition]) -> None:
        with self._lock:
            owner = self._tables[self._need_table(database, table)]
            known = self._partitions[owner.database, owner.name]
            keys = [key.name for key in owner.partition_keys]
            made = {make_partition_name(keys, one.values): one for one in partitions}
            for name, one in made.items():
                _refuse(name in known, f"partition {name} exists", error_codes.ALREADY_EXISTS)
                storage = replace(one.storage, location=one.storage.location or f"{owner.storage.location}/{name}")
                made[name] = replace(one, storage=storage, create_time=one.create_time or int(time.time()))
            known.update(made)

    def set_partition_parameters(self, database: str, table: str, parameters: Mapping[str, Parameters]) -> None:
        with self._lock:
            known = self._partitions[self._need_table(database, table)]
            for name in parameters:
                _refuse(name not in known, f"no partition {name}", error_codes.REFUSED_REQUEST)
            known.update({name: replace(known[name], parameters=entries) for name, entries in parameters.items()})

    def drop_partitions(self, database: str, table: str, names: Sequence[str]) -> None:
        with self._lock:
            known = self._partitions[self._need_table(database, table)]
            _refuse(not known.keys() >= set(names), "no such partition", error_codes.REFUSED_REQUEST)
            for name in names:
                del known[name]

    def set_table_statistics(self, database: str, table: str, statistics: Sequence[ColumnStatistics]) -> None:
        key = self._need_table(database, table)
        self._statistics[key].setdefault("", {}).update((one.column, one) for one in statistics)

    def set_partition_statistics(
        self, database: str, table: str, statistics: Mapping[str, Sequence[ColumnStatistics]]
    ) -> None:
        key = self._need_table(database, table)
        for name, columns in statistics.items():
            _refuse(name not in self._partitions[key], f"no partition {name}", error_codes.REFUSED_REQUEST)
            self._statistics[key].setdefault(name, {}).update((one.column, one) for one in columns)

    def drop_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> None:
        self._statistics[self._need_table(database, table)].pop("", None)

    def drop_partition_statistics(
        self, database: str, table: str, columns: Sequence[str], partitions: Sequence[str]
    ) -> None:
        known = self._statistics[self._need_table(database, table)]
        for name in partitions:
            known.pop(name, None)

    def _need_database(self, name: str) -> Database:
        found = self.get_database(name)
        if found is None:
            raise SchemaNotFoundError(f"there is no database {name}")
        return found

    def _need_table(self, database: str, table: str) -> tuple[str, str]:
        if self.get_table(database, table) is None:
            raise TableNotFoundError(f"there is no table {database}.{table}")
        return database.lower(), table.lower()


class DictMetastoreFactory(MetastoreFactory):
    name = "dict"
    spi_version = 2
    properties = (DIRECTORY,)

    def __init__(self) -> None:
        self._made: dict[str, DictMetastore] = {}

    def create(self, config: PropertyValues) -> MetastoreClients:
        directory = config.get(DIRECTORY)
        metastore = self._made.setdefault(directory, DictMetastore(directory))
        description = f"dictionaries of {directory}"
        return MetastoreClients(metastore, description, writes=metastore, addresses=frozenset({directory}))


def _refuse(when: bool, why: str, code: ErrorCode) -> None:
    if when:
        raise MetastoreError(why, code)
