"""The hooks of the suite for the small connector on SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import pyarrow as pa

from connector_spi.connector import ConnectorFactory
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Value
from connector_spi.testing import Behaviour, ConnectorConformance
from tests.connector_spi.testing.sqlite_connector import SqliteConnector, SqliteFactory, SqliteTable, write

SECRET = "open sesame"


class SqliteConformance(ConnectorConformance):
    missing_behaviours = frozenset(
        {
            Behaviour.AGGREGATION,
            Behaviour.CHANGES,
            Behaviour.COLUMN_STATISTICS,
            Behaviour.EXPRESSION_PUSHDOWN,
            Behaviour.HIDDEN_COLUMNS,
            Behaviour.CREATE_TABLE_AS,
            Behaviour.DELETE,
            Behaviour.INSERT,
            Behaviour.MERGE,
            Behaviour.OVERWRITE,
            Behaviour.NULL_PARTITION_KEYS,
            Behaviour.PARTITIONED_TABLES,
            Behaviour.PARTITION_LISTING,
            Behaviour.PARTITION_PRUNING,
            Behaviour.STREAMING,
            Behaviour.STREAMING_INSERT,
            Behaviour.TOP_N,
            Behaviour.TYPE_BOOLEAN,
            Behaviour.TYPE_DATE,
            Behaviour.TYPE_DECIMAL,
            Behaviour.TYPE_DEEPLY_NESTED,
            Behaviour.TYPE_LIST,
            Behaviour.TYPE_MAP,
            Behaviour.TYPE_STRUCT,
            # SQLite makes NULL of it.
            Behaviour.VALUE_NAN,
        }
    )
    max_examples = 20
    connector_class: ClassVar[type[SqliteConnector]] = SqliteConnector

    def factory(self) -> ConnectorFactory:
        return SqliteFactory(self.connector_class)

    def catalog_properties(self) -> Mapping[str, str]:
        return {"sqlite.folder": str(self.folder), "sqlite.password": SECRET}

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        write(self.folder, name, data)

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        write(self.folder, name, data)

    def newest_version(self, name: SchemaTableName) -> TableVersion:
        with self.query() as query:
            table = query.table(name).table
            assert isinstance(table, SqliteTable)
            return TableVersion(VersionKind.VERSION, str(table.rows))

    def damage(self, name: SchemaTableName, *, delete: bool) -> None:
        path = self.folder / name.schema / f"{name.table}.db"
        if delete:
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    def procedure_arguments(self, procedure: str, name: SchemaTableName) -> Mapping[str, Value | None]:
        return {"schema_name": name.schema, "table_name": name.table}
