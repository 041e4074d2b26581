"""A plugin that pushes filters, expressions, orders and aggregates into a database."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.connector import ConnectorFactory
from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.testing import Behaviour, ConnectorConformance, read_table
from tests.plugin_example.sqlite_tables import SqliteConnector, SqliteFactory, quoted
from tests.sampling import examples

_TYPES = {pa.int64(): "INTEGER", pa.string(): "TEXT"}


def write(folder: Path, name: SchemaTableName, data: pa.Table) -> Path:
    path = folder / f"{name.schema}.db"
    columns = ", ".join(f"{quoted(field.name)} {_TYPES[field.type]}" for field in data.schema)
    marks = ", ".join("?" * data.num_columns)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {quoted(name.table)} ({columns}) STRICT")
        rows = [tuple(row.values()) for row in data.to_pylist()]
        connection.executemany(f"INSERT INTO {quoted(name.table)} VALUES ({marks})", rows)
    return path


class TestSqliteConformance(ConnectorConformance):
    missing_behaviours = frozenset(
        {
            Behaviour.CHANGES,
            Behaviour.COLUMN_STATISTICS,
            Behaviour.HIDDEN_COLUMNS,
            Behaviour.INSERT,
            Behaviour.NESTED_PROJECTION,
            Behaviour.MERGE,
            Behaviour.CREATE_TABLE_AS,
            Behaviour.DELETE,
            Behaviour.OVERWRITE,
            Behaviour.NULL_PARTITION_KEYS,
            Behaviour.PARTITIONED_TABLES,
            Behaviour.PARTITION_LISTING,
            Behaviour.PARTITION_PRUNING,
            Behaviour.PROCEDURES,
            Behaviour.SNAPSHOT_ISOLATION,
            Behaviour.STATISTICS,
            Behaviour.STREAMING,
            Behaviour.STREAMING_INSERT,
            Behaviour.SYSTEM_TABLES,
            Behaviour.TIME_TRAVEL,
            *(behaviour for behaviour in Behaviour if behaviour.name.startswith("TYPE_")),
        }
    )
    max_examples = examples(50)

    def factory(self) -> ConnectorFactory:
        return SqliteFactory()

    def catalog_properties(self) -> Mapping[str, str]:
        return {"sqlite.folder": str(self.folder)}

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        write(self.folder, name, data)

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        write(self.folder, name, data)

    def damage(self, name: SchemaTableName, *, delete: bool) -> None:
        path = self.folder / f"{name.schema}.db"
        if delete:
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


NAME = SchemaTableName("s", "t")


def test_what_is_no_table_of_ours_is_refused(tmp_path: Path) -> None:
    connector = SqliteConnector(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
        connection.execute("CREATE TABLE t (a REAL)")
        connection.execute("CREATE TABLE u (a INTEGER)")
        connection.execute("INSERT INTO u VALUES ('text')")
    with pytest.raises(NotSupportedError, match=r"s\.t: column a is REAL; expected one of"):
        read_table(connector, NAME)
    with pytest.raises(CorruptFileError, match=r"s\.db holds a value that is not of its column's type"):
        read_table(connector, SchemaTableName("s", "u"))
    (tmp_path / "x.db").write_bytes(b"no database" * 100)
    with pytest.raises(CorruptFileError, match=r"x\.db cannot be read as an SQLite database"):
        read_table(connector, SchemaTableName("x", "t"))


def test_values_and_names_are_no_sql(tmp_path: Path) -> None:
    name = SchemaTableName("s", 'o"r; drop')
    data = pa.table({'a"b': pa.array([1], pa.int64()), "select": ["x'; DROP TABLE t; --"]})
    write(tmp_path, name, data)
    assert read_table(SqliteConnector(tmp_path), name).equals(data)
