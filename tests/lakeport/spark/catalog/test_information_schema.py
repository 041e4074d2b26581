"""``information_schema`` and ``system.metadata`` through Spark: what SQL sees, and which tables are looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from connector_spi.errors import TableNotFoundError
from connector_spi.handles import TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.session import ConnectorSession
from connectors.memory.connector import MemoryConnector
from connectors.memory.metadata import MemoryMetadata
from lakeport.session import Session
from tests.lakeport.memory_session import memory_session, put

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def opened(spark: SparkSession) -> Iterator[tuple[Session, MemoryConnector]]:
    with memory_session(spark.newSession()) as (session, connector):
        put(connector, "trips", pa.table({"id": pa.array([1], pa.int64()), "ds": ["x"]}), "ds")
        connector.create_table(SchemaTableName("a", "t"), pa.table({"v": [1.5]}), comment="the only one")
        yield session, connector


def rows(session: Session, text: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in session.spark.sql(text).collect()]


def test_the_schemas_are_listed_and_can_be_used(opened: tuple[Session, MemoryConnector]) -> None:
    session = opened[0]
    schemas = [("a",), ("default",), ("information_schema",), ("s",), ("system",)]
    assert rows(session, "SHOW SCHEMAS IN mem") == schemas
    assert rows(session, "SELECT schema_name FROM mem.information_schema.schemata") == schemas
    listed = rows(session, "SHOW TABLES IN mem.information_schema")
    assert [row[1] for row in listed] == ["columns", "schemata", "tables", "views"]
    assert [row[1] for row in rows(session, "SHOW TABLES IN mem.system")] == ["metadata"]
    assert ("Namespace Name", "system") in rows(session, "DESCRIBE SCHEMA mem.system")
    session.spark.sql("USE mem.information_schema")
    try:
        assert rows(session, "SELECT count(*) FROM tables") == [(7,)]
    finally:
        session.spark.sql("USE mem.s")


@pytest.mark.slow
def test_columns_and_metadata(opened: tuple[Session, MemoryConnector]) -> None:
    session = opened[0]
    assert rows(
        session,
        "SELECT table_schema, column_name, ordinal_position, data_type FROM mem.information_schema.columns "
        "WHERE table_schema IN ('a', 's') ORDER BY ALL",
    ) == [("a", "v", 1, "double"), ("s", "ds", 2, "string"), ("s", "id", 1, "bigint")]
    assert rows(
        session,
        "SELECT table_name, comment, partitioned_by, properties['missing'], problem FROM mem.system.metadata "
        "WHERE table_schema = 'a' OR table_name = 'trips' ORDER BY 1",
    ) == [("t", "the only one", [], None, None), ("trips", None, ["ds"], None, None)]
    assert rows(session, "SELECT * FROM mem.information_schema.views") == []


def test_filters_choose_the_tables_that_are_looked_at(
    opened: tuple[Session, MemoryConnector], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()
    handle_of = MemoryMetadata.get_table_handle

    def seen(self: MemoryMetadata, session: ConnectorSession, name: SchemaTableName) -> TableHandle | None:
        asked.add(name.table)
        return handle_of(self, session, name)

    monkeypatch.setattr(MemoryMetadata, "get_table_handle", seen)
    text = "SELECT count(*) FROM mem.information_schema.columns WHERE table_schema = 's' AND table_name LIKE 'tr%'"
    assert rows(opened[0], text) == [(2,)]
    assert asked == {"trips"}


def test_they_cannot_be_changed_and_other_names_are_not_there(opened: tuple[Session, MemoryConnector]) -> None:
    with pytest.raises(PySparkException, match="READ_ONLY_CATALOG"):
        opened[0].spark.sql("DROP TABLE mem.information_schema.tables")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        opened[0].spark.sql("SELECT * FROM mem.information_schema.nothing")
    with pytest.raises(TableNotFoundError, match="did you mean 'tables'"):
        opened[0].sql("SELECT * FROM mem.information_schema.table")
