"""``information_schema`` and ``system.metadata`` of every catalog, read with no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.embedded.metastore import EmbeddedMetastore
from catalog.metastore.model import Table
from connector_spi.errors import ConnectorError, NotSupportedError, StorageError, TableNotFoundError
from connector_spi.handles import TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.session import ConnectorSession
from connectors.hive.connector import HiveConnector
from connectors.memory.connector import MemoryConnector
from connectors.memory.metadata import MemoryMetadata
from lakeport.arrow.filters.where import Where
from lakeport.session import Session
from lakeport.transactions.cleanup import CLEANUP
from tests.lakeport.memory_session import memory_session
from tests.lakeport.sample_session import sample_session

ENGINE = [
    ("information_schema", "columns"),
    ("information_schema", "schemata"),
    ("information_schema", "tables"),
    ("information_schema", "views"),
    ("system", "metadata"),
]


@pytest.fixture
def opened() -> Iterator[tuple[Session, MemoryConnector]]:
    with memory_session() as (session, connector):
        id_of = pa.field("id", pa.int64(), nullable=False, metadata={"comment": "a key"})
        rows = pa.table([[1], ["eu"]], schema=pa.schema([id_of, ("ds", pa.string())]))
        connector.create_table(SchemaTableName("s", "trips"), rows, ["ds"], comment="all trips")
        connector.create_table(SchemaTableName("a", "t"), pa.table({"v": pa.array([[1.5]], pa.list_(pa.float64()))}))
        yield session, connector


def rows(
    session: Session, table: str, where: Where | None = None, columns: Sequence[str] | None = None
) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in session.arrow(table, columns, where).read_all().to_pylist()]


def test_schemata(opened: tuple[Session, MemoryConnector]) -> None:
    assert rows(opened[0], "mem.information_schema.schemata") == [
        ("mem", "a"),
        ("mem", "default"),
        ("mem", "information_schema"),
        ("mem", "s"),
        ("mem", "system"),
    ]


def test_tables(opened: tuple[Session, MemoryConnector]) -> None:
    session = opened[0]
    found = rows(session, "MEM.Information_Schema.TABLES")
    assert found == [
        ("mem", schema, table, "BASE TABLE") for schema, table in sorted([("a", "t"), ("s", "trips"), *ENGINE])
    ]
    names = ["table_name"]
    assert rows(session, "mem.information_schema.tables", "table_schema = 's'", names) == [("trips",)]
    assert rows(session, "mem.information_schema.tables", "table_catalog <> 'mem'") == []
    assert session.scan("mem.information_schema.tables", where="table_name LIKE 't%'").count() == 3


def test_columns(opened: tuple[Session, MemoryConnector]) -> None:
    where = [("table_schema", "in", ["a", "s"])]
    assert rows(opened[0], "mem.information_schema.columns", where) == [
        ("mem", "a", "t", "v", 1, None, "YES", "array<double>", None),
        ("mem", "s", "trips", "id", 1, None, "NO", "bigint", "a key"),
        ("mem", "s", "trips", "ds", 2, None, "YES", "string", None),
    ]
    own = [("table_schema", "=", "information_schema"), ("table_name", "=", "views")]
    assert rows(opened[0], "mem.information_schema.columns", own, ["column_name", "ordinal_position"]) == [
        ("table_catalog", 1),
        ("table_schema", 2),
        ("table_name", 3),
        ("view_definition", 4),
    ]


def test_metadata(opened: tuple[Session, MemoryConnector]) -> None:
    columns = ["table_name", "table_type", "comment", "partitioned_by", "problem"]
    assert rows(opened[0], "mem.system.metadata", [("table_schema", "in", ["a", "s"])], columns) == [
        ("t", "BASE TABLE", None, [], None),
        ("trips", "BASE TABLE", "all trips", ["ds"], None),
    ]


@pytest.mark.parametrize("error", [NotSupportedError("what no one reads"), StorageError("what no one reads")])
def test_a_table_that_cannot_be_read_hides_no_other(
    opened: tuple[Session, MemoryConnector], monkeypatch: pytest.MonkeyPatch, error: ConnectorError
) -> None:
    handle_of = MemoryMetadata.get_table_handle

    def broken(self: MemoryMetadata, session: ConnectorSession, name: SchemaTableName) -> TableHandle | None:
        if name.schema == "a":
            raise error
        return handle_of(self, session, name)

    monkeypatch.setattr(MemoryMetadata, "get_table_handle", broken)
    where = [("table_schema", "in", ["a", "s"])]
    assert rows(opened[0], "mem.information_schema.tables", where, ["table_name"]) == [("t",), ("trips",)]
    assert rows(opened[0], "mem.information_schema.columns", where, ["column_name"]) == [("id",), ("ds",)]
    assert rows(opened[0], "mem.system.metadata", where, ["table_name", "problem"]) == [
        ("t", "what no one reads"),
        ("trips", None),
    ]


def test_only_tables_that_are_asked_for_are_looked_at(
    opened: tuple[Session, MemoryConnector], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    handle_of = MemoryMetadata.get_table_handle

    def seen(self: MemoryMetadata, session: ConnectorSession, name: SchemaTableName) -> TableHandle | None:
        asked.append(name.table)
        return handle_of(self, session, name)

    monkeypatch.setattr(MemoryMetadata, "get_table_handle", seen)
    assert len(rows(opened[0], "mem.information_schema.columns", "table_schema = 's' AND table_name = 'trips'")) == 2
    assert asked == ["trips"]


def test_names_that_are_not_there(opened: tuple[Session, MemoryConnector]) -> None:
    with pytest.raises(TableNotFoundError, match=r"no table mem.information_schema.table; did you mean 'tables'"):
        opened[0].arrow("mem.information_schema.table")
    with pytest.raises(NotSupportedError, match="has no older states"):
        opened[0].arrow("mem.information_schema.tables", version=1)


def test_hive_and_hudi_tables_have_them_and_no_lock_stays(tmp_path: Path) -> None:
    with sample_session(tmp_path) as session:
        where = [("table_schema", "=", "sales")]
        for catalog in ("hive", "hudi"):
            listed = rows(session, f"{catalog}.information_schema.tables", where, ["table_name"])
            assert [f"{catalog}.sales.{name}" for (name,) in listed] == session.tables(f"{catalog}.sales")
            for name in session.tables(f"{catalog}.sales"):
                table = name.rpartition(".")[2]
                columns = rows(session, f"{catalog}.information_schema.columns", [("table_name", "=", table)])
                [(problem,)] = rows(session, f"{catalog}.system.metadata", [("table_name", "=", table)], ["problem"])
                # Both catalogs are over one metastore, and the hudi catalog reads no Hive tables.
                if catalog == "hudi" and table not in ("items", "prices", "visits"):
                    assert "is no Hudi table" in str(problem)
                    assert columns == []
                else:
                    assert problem is None
                    assert [column[3] for column in columns] == session.scan(name).columns
        hive = session.catalogs.get("hive")
        assert isinstance(hive, HiveConnector)
        CLEANUP.wait()
        assert hive.metastore.transactions.show_locks("sales", "notes") == []


def test_hive_tables_are_described_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    get_table = EmbeddedMetastore.get_table

    def counted(self: EmbeddedMetastore, database: str, name: str) -> Table | None:
        asked.append(name)
        return get_table(self, database, name)

    with sample_session(tmp_path) as session:
        names = [name.rpartition(".")[2] for name in session.tables("hive.sales")]
        single = [rows(session, "hive.information_schema.columns", [("table_name", "=", name)]) for name in names]
        monkeypatch.setattr(EmbeddedMetastore, "get_table", counted)
        sales = [("table_schema", "=", "sales")]
        assert rows(session, "hive.information_schema.columns", sales) == [row for each in single for row in each]
        # Hudi tables have their columns elsewhere; the last is the name in the query.
        assert set(asked) == {"items", "prices", "visits", "columns"}
        asked.clear()
        assert len(rows(session, "hive.information_schema.tables", sales)) == len(names)
        assert rows(session, "hive.information_schema.views", sales) == []
        assert set(asked) <= {"tables", "views"}
