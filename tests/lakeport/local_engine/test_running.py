"""Statements while they run: counts, cancelling, threads, several sessions in one process."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidArgumentError, NotSupportedError, UserError
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.duckdb.session import LocalSession
from lakeport.engine import Work
from tests.lakeport.memory_session import put

_ROWS = 20_000


def _session() -> LocalSession:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    connector = registry.get("mem")
    assert isinstance(connector, MemoryConnector)
    put(connector, "t", pa.table({"id": pa.array(range(_ROWS), pa.int64())}))
    return LocalSession(registry)


@pytest.fixture
def session() -> Iterator[LocalSession]:
    with _session() as made:
        yield made


def test_rows_are_counted(session: LocalSession) -> None:
    work = Work()
    result = session.sql("SELECT count(*) AS c FROM mem.s.t WHERE id >= 0")
    work.watch(result)
    assert work.counts().rows == 0
    assert result.fetchall() == [(_ROWS,)]
    assert work.counts().rows == _ROWS


def test_cancel_ends_a_long_query(session: LocalSession) -> None:
    result = session.sql("SELECT count(*) AS c FROM mem.s.t a, mem.s.t b, mem.s.t c WHERE (a.id + b.id + c.id) % 7 = 3")
    ended: list[Exception] = []

    def run() -> None:
        try:
            result.fetchall()
        except UserError as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        # It may not have begun yet.
        result.cancel()
        thread.join(0.2)
    assert [str(error) for error in ended] == ["[GENERIC_USER_ERROR] the statement was cancelled"]
    assert session.sql("SELECT count(*) AS c FROM mem.s.t").fetchall() == [(_ROWS,)]


def test_a_result_that_is_not_read_to_its_end_holds_nothing(session: LocalSession) -> None:
    connector = session.catalogs.get("mem")
    assert isinstance(connector, MemoryConnector)
    reader = session.sql("SELECT a.id FROM mem.s.t a, mem.s.t b").to_reader()
    assert reader.read_next_batch().num_rows
    assert connector.transactions.open
    reader.close()
    del reader
    waits_until = time.monotonic() + 30
    while connector.transactions.open and time.monotonic() < waits_until:
        gc.collect()
        time.sleep(0.05)
    assert not connector.transactions.open


def test_threads_share_a_session(session: LocalSession) -> None:
    """Also the making of macros."""

    def ask(at: int) -> object:
        [(found,)] = session.sql(f"SELECT sum(pmod(id, 7) + {at} div 2) AS x FROM mem.s.t WHERE id < 70").fetchall()
        return found

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(8))) == [210 + 70 * (at // 2) for at in range(8)]


def test_sessions_of_one_process_do_not_meet(session: LocalSession) -> None:
    with _session() as other:
        other.sql("USE mem.s")
        assert other.sql("SELECT count(*) AS c FROM t").fetchall() == [(_ROWS,)]
        assert session.engine.current_schema() == ""
    assert session.sql("SELECT upper('a') AS u FROM mem.s.t LIMIT 1").fetchall() == [("A",)]


@pytest.mark.parametrize(
    ("text", "meant"), [("SELEC 1", "SELECT"), ("-- all\nSHWO TABLES", "SHOW"), ("descirbe t", "DESCRIBE")]
)
def test_a_misspelt_first_word_is_named(session: LocalSession, text: str, meant: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"did you mean '{meant}'"):
        session.sql(text)


@pytest.mark.parametrize("text", ["ALTER TABLE t RENAME TO u", "TRUNCATE TABLE t", "foo t"])
def test_what_only_spark_runs_is_said(session: LocalSession, text: str) -> None:
    with pytest.raises(NotSupportedError, match="use the engine spark"):
        session.sql(text)
