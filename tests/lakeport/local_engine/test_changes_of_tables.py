"""``CHANGES FROM ... TO ...`` in the engine duckdb, over a table in memory whose history the test knows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ColumnNotFoundError, ConnectorError, InvalidArgumentError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.duckdb.engine import DuckDbEngine
from lakeport.duckdb.query.changes import with_changes_as_versions
from lakeport.duckdb.session import LocalSession
from lakeport.spark.results import arrow_result
from tests.lakeport.memory_session import memory_session

_NAME = SchemaTableName("sales", "ledger")
_TABLE = "mem.sales.ledger"
_FIRST = [(1, "insert", 1, "a"), (1, "insert", 2, "b")]
_SECOND = [
    (2, "delete", 2, "b"),
    (2, "insert", 4, "d"),
    (2, "update_postimage", 1, "A"),
    (2, "update_preimage", 1, "a"),
]
_THIRD = [(3, "update_postimage", 1, "AA"), (3, "update_preimage", 1, "A")]
_COLUMNS = "_commit_version, _change_type, id, v"


def _fill(memory: MemoryConnector) -> None:
    memory.create_table(_NAME, pa.table({"id": [1, 2], "v": ["a", "b"]}))
    memory.merge(_NAME, "id", pa.table({"id": [1, 4], "v": ["A", "d"]}), [2])
    memory.merge(_NAME, "id", pa.table({"id": [1], "v": ["AA"]}), [])


@pytest.fixture
def session() -> Iterator[LocalSession]:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with LocalSession(registry) as made:
        memory = registry.get("mem")
        assert isinstance(memory, MemoryConnector)
        _fill(memory)
        yield made


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("FROM VERSION 1", _FIRST + _SECOND + _THIRD),
        ("FROM VERSION 2 TO VERSION 2", _SECOND),
        ("from version '1' exclusive\n to version '3' EXCLUSIVE", _SECOND),
        ("FROM VERSION 2 INCLUSIVE TO VERSION 3 EXCLUSIVE AS c", _SECOND),
        ("FROM VERSION 3 EXCLUSIVE c", []),
        ("FROM TIMESTAMP '2000-01-01 00:00:00'", _FIRST + _SECOND + _THIRD),
        ("FROM TIMESTAMP '2000-01-01' TO TIMESTAMP '2000-01-02'", []),
    ],
)
def test_ranges(session: LocalSession, bounds: str, expected: list[tuple[object, ...]]) -> None:
    found = session.sql(f"SELECT {_COLUMNS} FROM {_TABLE} CHANGES {bounds} ORDER BY 1, 2, 3, 4")
    assert found.fetchall() == expected


def test_two_ranges_and_the_table(session: LocalSession) -> None:
    text = (
        f"SELECT a.id, a.v AS before, b.v AS after, t.v AS now FROM {_TABLE} CHANGES FROM VERSION 2 TO VERSION 2 AS a "
        f"JOIN {_TABLE} CHANGES FROM VERSION 3 AS b ON a.id = b.id JOIN {_TABLE} t ON t.id = b.id "
        "WHERE a._change_type = 'update_postimage' AND b._change_type = 'update_postimage'"
    )
    assert session.sql(text).fetchall() == [(1, "A", "AA", "AA")]


def test_in_a_block(session: LocalSession) -> None:
    memory = session.catalogs.get("mem")
    assert isinstance(memory, MemoryConnector)
    text = f"SELECT id FROM {_TABLE} CHANGES FROM VERSION 3 EXCLUSIVE"
    with session.transaction():
        assert session.sql(text).fetchall() == []
        memory.merge(_NAME, "id", pa.table({"id": [9], "v": ["n"]}), [])
        assert session.sql(text).fetchall() == []
    assert session.sql(text).fetchall() == [(9,)]


def test_what_a_scan_of_changes_reads(session: LocalSession) -> None:
    [(plan,)] = session.sql(f"EXPLAIN SELECT id FROM {_TABLE} CHANGES FROM VERSION 1 EXCLUSIVE TO VERSION 3").fetchall()
    assert "snapshot: changes FROM VERSION 1 EXCLUSIVE TO VERSION 3" in str(plan)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (f"{_TABLE} CHANGES FROM VERSION 2 WITH (computeUpdates = 'true')", NotSupportedError, "options of changes"),
        (f"{_TABLE} CHANGES FROM TIMESTAMP 'soon'", InvalidArgumentError, "'soon' is no time"),
        (f"{_TABLE} CHANGES FROM VERSION 1 TO TIMESTAMP '2024-01-01'", InvalidArgumentError, "VERSION"),
        (f"{_TABLE} CHANGES FROM VERSION 99", InvalidArgumentError, "99"),
        (f"{_TABLE} CHANGES FROM VERSION 1 + 1", ConnectorError, "not understood|written out"),
        (f"{_TABLE} CHANGES", ColumnNotFoundError, "_change_type"),
    ],
)
def test_what_is_refused(session: LocalSession, text: str, error: type[ConnectorError], words: str) -> None:
    with pytest.raises(error, match=words):
        session.sql(f"SELECT _change_type FROM {text}").fetchall()


def test_other_uses_of_the_word() -> None:
    for text in (
        "SELECT 'CHANGES FROM VERSION 1' AS a",
        "SELECT changes FROM t",
        "SELECT 1 -- t CHANGES FROM VERSION 1",
        "SELECT `CHANGES` FROM t",
    ):
        assert with_changes_as_versions(text) == text


@pytest.mark.slow
def test_the_same_as_spark(spark: SparkSession) -> None:
    if tuple(int(part) for part in spark.version.split(".")[:2]) < (4, 2):
        pytest.skip(f"Spark {spark.version} has no CHANGES clause")
    with memory_session(spark.newSession()) as (session, memory):
        _fill(memory)
        engine = DuckDbEngine(session.catalogs)
        for bounds in ("FROM VERSION 1", "FROM VERSION '1' EXCLUSIVE TO VERSION 2", "FROM TIMESTAMP '2000-01-01'"):
            text = f"SELECT * FROM {_TABLE} CHANGES {bounds} ORDER BY _commit_version, _change_type, id"
            shown = arrow_result(session.sql(text))
            expected, found = pa.Table.from_batches(shown.batches, shown.schema), engine.plan(text).arrow()
            assert found.schema.names == expected.schema.names
            assert found.drop(["_commit_timestamp"]).to_pylist() == expected.drop(["_commit_timestamp"]).to_pylist()
            assert found["_commit_timestamp"].cast(pa.int64()) == expected["_commit_timestamp"].cast(pa.int64())
        engine.close()
