"""Cancelling a statement in each of its phases: it ends as soon as it can look, and holds nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import UserError
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from connectors.memory.page_source import MemoryPageSourceProvider
from connectors.memory.splits import MemorySplitManager
from lakeport.duckdb.session import LocalSession
from lakeport.engine import Work
from lakeport.transactions.lease import ReadLease
from tests.lakeport.memory_session import put

pytestmark = pytest.mark.slow

_MAIN = "import sys; from lakeport.shell.main import main; sys.exit(main())"
_ROWS = 20_000
_LONG = "SELECT count(*) AS c FROM mem.s.t a, mem.s.t b, mem.s.t c WHERE (a.id + b.id + c.id) % 7 = 3"
# DuckDB looks for an interrupt many times a second; a slow machine has this long.
_PATIENCE = 30.0


@dataclass
class _Gate:
    """Where a statement waits until it may go on."""

    entered: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    passed: int = 0

    def wait(self) -> None:
        self.passed += 1
        self.entered.set()
        assert self.go.wait(_PATIENCE)


class _Statement(threading.Thread):
    """A statement as a shell runs it."""

    def __init__(self, session: LocalSession, text: str, pause: _Gate | None = None) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._text = text
        self._pause = pause
        self.begun = threading.Event()
        self.work: Work | None = None
        self.lease: ReadLease | None = None
        self.error: BaseException | None = None
        self.batches = 0

    def run(self) -> None:
        self.work = self._session.engine.work(self._text)
        try:
            with self._session.statement_block():
                self.lease = self._session.read_lease
                self.begun.set()
                result = self._session.plan(self._text)
                self.work.watch(result)
                for _ in result.rows().batches:
                    self.batches += 1
                    if self._pause is not None:
                        self._pause.wait()
        except BaseException as error:
            self.error = error

    def cancel(self) -> None:
        assert self.work is not None
        assert self.lease is not None
        self.work.cancel()
        self.lease.cancel()

    def check_cancelled(self) -> None:
        self.join(_PATIENCE)
        assert not self.is_alive()
        assert isinstance(self.error, UserError)
        assert str(self.error) == "[GENERIC_USER_ERROR] the statement was cancelled"


@pytest.fixture
def session() -> Iterator[LocalSession]:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with LocalSession(registry) as made:
        connector = _connector(made)
        put(connector, "t", pa.table({"id": pa.array(range(_ROWS), pa.int64())}), chunk_rows=_ROWS // 4)
        put(connector, "u", pa.table({"id": pa.array([1], pa.int64())}))
        yield made


def _connector(session: LocalSession) -> MemoryConnector:
    connector = session.catalogs.get("mem")
    assert isinstance(connector, MemoryConnector)
    return connector


def _check_free(session: LocalSession) -> None:
    """No transaction is open, and the session answers."""
    transactions = _connector(session).transactions
    until = time.monotonic() + _PATIENCE
    while transactions.open and time.monotonic() < until:
        time.sleep(0.02)
    assert not transactions.open
    assert session.sql("SELECT count(*) AS c FROM mem.s.u").fetchall() == [(1,)]


def _gate(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, before: Callable[[_Gate], None]) -> _Gate:
    gate = _Gate()
    original = getattr(owner, name)

    def waiting(*arguments: object, **named: object) -> object:
        before(gate)
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, waiting)
    return gate


def test_while_it_is_planned(session: LocalSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """What storage does not answer cannot be ended; nothing more is asked."""
    gate = _gate(monkeypatch, MemorySplitManager, "get_splits", _Gate.wait)
    statement = _Statement(session, "SELECT count(*) AS c FROM mem.s.t a JOIN mem.s.u b ON a.id = b.id")
    statement.start()
    assert gate.entered.wait(_PATIENCE)
    statement.cancel()
    gate.go.set()
    statement.join(_PATIENCE)
    assert not statement.is_alive()
    # It may find its transaction ended before it looks whether it was cancelled.
    assert statement.error is not None
    assert gate.passed == 1
    monkeypatch.undo()
    _check_free(session)


def test_while_rows_are_read(session: LocalSession, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = _gate(monkeypatch, MemoryPageSourceProvider, "read", _Gate.wait)
    statement = _Statement(session, "SELECT sum(id) AS c FROM mem.s.t")
    statement.start()
    assert gate.entered.wait(_PATIENCE)
    # The thread of DuckDB is in a read, and does not look.
    canceller = threading.Thread(target=statement.cancel)
    canceller.start()
    canceller.join(_PATIENCE)
    assert not canceller.is_alive()
    gate.go.set()
    statement.check_cancelled()
    assert statement.batches == 0
    monkeypatch.undo()
    _check_free(session)


def _computing(session: LocalSession, monkeypatch: pytest.MonkeyPatch, text: str) -> _Statement:
    """A statement that has read all chunks; the product of the tables takes much longer than a test may."""
    gate = _gate(monkeypatch, MemoryPageSourceProvider, "read", _Gate.wait)
    gate.go.set()
    statement = _Statement(session, text)
    statement.start()
    until = time.monotonic() + _PATIENCE
    while gate.passed < 4 and time.monotonic() < until:
        time.sleep(0.01)
    return statement


@pytest.mark.parametrize("text", [_LONG, f"EXPLAIN ANALYZE {_LONG}", f"INSERT INTO mem.s.u {_LONG}"])
def test_while_duckdb_works(session: LocalSession, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Also where the statement has no result that someone could cancel."""
    statement = _computing(session, monkeypatch, text)
    statement.cancel()
    statement.check_cancelled()
    monkeypatch.undo()
    _check_free(session)


def test_closing_the_session(session: LocalSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB refuses to close while a thread calls it, and what interrupts the database does not reach its cursors."""
    statement = _computing(session, monkeypatch, _LONG)
    session.close()
    statement.check_cancelled()


def test_with_half_of_the_rows(session: LocalSession) -> None:
    pause = _Gate()
    statement = _Statement(session, "SELECT a.id AS x FROM mem.s.t a, mem.s.t b", pause)
    statement.start()
    assert pause.entered.wait(_PATIENCE)
    statement.cancel()
    pause.go.set()
    statement.check_cancelled()
    assert statement.batches == 1
    _check_free(session)


def test_before_it_begins(session: LocalSession) -> None:
    found: list[str] = []

    def run() -> None:
        work = session.engine.work("later")
        work.cancel()
        with pytest.raises(UserError, match="cancelled"):
            session.sql("SELECT count(*) AS c FROM mem.s.t").fetchall()
        session.engine.work("the next one")
        found.append(str(session.sql("SELECT count(*) AS c FROM mem.s.u").fetchall()))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(_PATIENCE)
    assert found == ["[(1,)]"]
    _check_free(session)


def test_ctrl_c_cancels_duckdb_and_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _MAIN, "sql", "--engine", "duckdb", "--dialect", "duckdb"]
    text = "SELECT 1 AS first; SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range % 7 = b.range % 5"
    with subprocess.Popen([*command, text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"first"
        for _ in range(3):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"cancelled\n")
