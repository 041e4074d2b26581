"""``INSERT INTO`` by the engine duckdb."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ColumnNotFoundError, ConnectorError, InvalidArgumentError, NotSupportedError
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.duckdb.session import LocalSession
from tests.lakeport.memory_session import put

_ROWS = pa.table({"id": pa.array([1], pa.int64()), "s": ["a"], "d": pa.array([0.5])})


@pytest.fixture
def session() -> Iterator[LocalSession]:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with LocalSession(registry) as made:
        connector = registry.get("mem")
        assert isinstance(connector, MemoryConnector)
        put(connector, "t", _ROWS)
        yield made


def rows(session: LocalSession) -> list[tuple[object, ...]]:
    return session.sql("SELECT id, s, d FROM mem.s.t ORDER BY id, s").fetchall()


def test_rows_that_are_written_out(session: LocalSession) -> None:
    session.sql("USE mem.s")
    assert session.sql("INSERT INTO t VALUES (2, 'b', 1.5), (3, NULL, 2), (4, 'd', NULL)").fetchall() == []
    session.sql("INSERT INTO TABLE mem.s.t (s, id) VALUES ('e', 5)")
    assert rows(session) == [(1, "a", 0.5), (2, "b", 1.5), (3, None, 2.0), (4, "d", None), (5, "e", None)]


def test_rows_of_a_query_go_by_their_order(session: LocalSession) -> None:
    session.sql("INSERT INTO mem.s.t SELECT id + 1, concat(s, 'x'), d FROM mem.s.t")
    session.sql("INSERT INTO mem.s.t (d, id) SELECT d, id + 10 FROM mem.s.t WHERE id = ?", [2])
    assert rows(session) == [(1, "a", 0.5), (2, "ax", 0.5), (12, None, 0.5)]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("INSERT INTO mem.s.t SELECT 1", InvalidArgumentError, "the query has 1 columns, and 3 of mem.s.t"),
        ("INSERT INTO mem.s.t (idd) VALUES (1)", ColumnNotFoundError, "no column 'idd'; did you mean 'id'"),
        ("INSERT INTO mem.s.t (id, ID) VALUES (1, 2)", InvalidArgumentError, "twice"),
        (
            "INSERT INTO mem.s.t (id) VALUES ('x')",
            InvalidArgumentError,
            "'id' of mem.s.t is int64, the rows have string",
        ),
        ("INSERT INTO mem.s.t BY NAME SELECT 1 AS id", NotSupportedError, "INSERT INTO or OVERWRITE table"),
        ("INSERT INTO mem.s.t PARTITION (s = 'a') SELECT 1, 0.5D", InvalidArgumentError, "no partition key of mem.s.t"),
        ("INSERT OVERWRITE mem.s.t SELECT 1", InvalidArgumentError, "the query has 1 columns"),
        ("INSERT INTO mem.s.u VALUES (1)", ConnectorError, "no table"),
        ("INSERT INTO mem.s.`t$snapshots` VALUES (1)", NotSupportedError, "is a system table"),
        ("INSERT INTO mem.s.t SELECT id / 0, s, d FROM mem.s.t", ConnectorError, "division by zero"),
    ],
)
def test_what_is_refused_adds_nothing(
    session: LocalSession, text: str, error: type[ConnectorError], words: str
) -> None:
    with pytest.raises(error, match=words):
        session.sql(text)
    assert rows(session) == [(1, "a", 0.5)]


def test_rows_of_a_block_are_there_at_its_end(session: LocalSession) -> None:
    with session.transaction():
        session.sql("INSERT INTO mem.s.t VALUES (2, 'b', 1.5)")
        with pytest.raises(NotSupportedError, match="has written to it"):
            rows(session)
    assert len(rows(session)) == 2
    with session.statement_block():
        session.sql("INSERT INTO mem.s.t VALUES (3, 'b', 1.5)")
    assert len(rows(session)) == 3
