"""Queries that are asked again: what is kept of them holds no longer than what their tables are."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from sqlglot import exp

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ColumnNotFoundError, TableNotFoundError
from connector_spi.names import SchemaTableName
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.duckdb.session import LocalSession
from lakeport.duckdb.tables.arrow_views import KeptEstimates
from lakeport.duckdb.tables.query_tables import Tables
from lakeport.duckdb.translating import TranslatedQuery, translate_query
from lakeport.transactions.lease import ReadLease
from tests.lakeport.memory_session import put

_NAME = SchemaTableName("s", "t")


@pytest.fixture
def registry() -> CatalogRegistry:
    made = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    made.register("mem", "memory", {})
    return made


@pytest.fixture
def session(registry: CatalogRegistry) -> Iterator[LocalSession]:
    with LocalSession(registry) as made:
        yield made


def _memory(session: LocalSession) -> MemoryConnector:
    found = session.catalogs.get("mem")
    assert isinstance(found, MemoryConnector)
    return found


@pytest.fixture
def translations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that were translated."""
    made: list[str] = []

    def noted(statement: exp.Query, tables: Tables, lease: ReadLease) -> TranslatedQuery:
        made.append(statement.sql("spark"))
        return translate_query(statement, tables, lease)

    monkeypatch.setattr("lakeport.duckdb.engine.translate_query", noted)
    return made


def test_the_second_time_nothing_is_translated(session: LocalSession, translations: list[str]) -> None:
    memory = _memory(session)
    put(memory, "t", pa.table({"id": [1, 2], "s": ["a", "b"]}))
    text = "SELECT max(id) AS m, count(*) AS c FROM mem.s.t WHERE s < 'z'"
    assert session.sql(text).fetchall() == [(2, 2)]
    memory.insert(_NAME, pa.table({"id": [7], "s": ["c"]}))
    assert session.sql(text).fetchall() == [(7, 3)]
    assert len(translations) == 1
    assert session.sql("SELECT id FROM mem.s.t WHERE id = ?", args=[1]).fetchall() == [(1,)]
    assert session.sql("SELECT id FROM mem.s.t WHERE id = ?", args=[2]).fetchall() == [(2,)]


def test_other_columns_are_translated_anew(session: LocalSession, translations: list[str]) -> None:
    memory = _memory(session)
    put(memory, "t", pa.table({"id": pa.array([1, 5], pa.int32())}))
    assert session.sql("SELECT sum(id) / 4 AS x, * FROM mem.s.t GROUP BY id ORDER BY id").columns == ["x", "id"]
    memory.drop_table(_NAME)
    put(memory, "t", pa.table({"id": pa.array([1.5])}))
    assert session.sql("SELECT sum(id) / 4 AS x, * FROM mem.s.t GROUP BY id ORDER BY id").fetchall() == [(0.375, 1.5)]
    memory.drop_table(_NAME)
    put(memory, "t", pa.table({"other": [1]}))
    with pytest.raises(ColumnNotFoundError, match="id"):
        session.sql("SELECT sum(id) / 4 AS x, * FROM mem.s.t GROUP BY id ORDER BY id")
    memory.drop_table(_NAME)
    with pytest.raises(TableNotFoundError, match="t"):
        session.sql("SELECT sum(id) / 4 AS x, * FROM mem.s.t GROUP BY id ORDER BY id")
    assert len(translations) == 3


def test_names_are_those_of_now(session: LocalSession) -> None:
    """The same text in another schema is another table."""
    memory = _memory(session)
    put(memory, "t", pa.table({"id": [1]}))
    session.catalogs.register("other", "memory", {})
    other = session.catalogs.get("other")
    assert isinstance(other, MemoryConnector)
    put(other, "t", pa.table({"id": [2]}))
    session.sql("USE mem.s")
    assert session.sql("SELECT id FROM t").fetchall() == [(1,)]
    session.sql("USE other.s")
    assert session.sql("SELECT id FROM t").fetchall() == [(2,)]


def test_estimates_are_made_once_a_minute() -> None:
    kept, made = KeptEstimates(), []

    def estimate() -> int:
        made.append(1)
        return 5

    assert [kept.of("a", estimate), kept.of("a", estimate), kept.of("b", estimate)] == [5, 5, 5]
    assert len(made) == 2
