"""The shell over an engine that it has never seen: it knows the interface alone."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidArgumentError
from connectors.memory.connector import MemoryPlugin
from lakeport.catalog_session import AnySession, CatalogSession
from lakeport.engine import Engine, FunctionUsage, LazyResult, Parameters, ResultRows, Work
from lakeport.scan_facts import JobCounts
from lakeport.shell.commands.registry import run_command
from lakeport.shell.completion.names import NameCache
from lakeport.shell.configuration import GivenSetting
from lakeport.shell.display import Display
from lakeport.shell.footer import progress_text
from lakeport.shell.output.formats import FORMATS
from lakeport.shell.runner import Runner, RunState
from lakeport.shell.running import open_session
from lakeport.shell.shell_session import ShellSession
from lakeport.sql.explain.request import ExplainRequest
from lakeport.transactions.lease import ReadLease
from tests.lakeport.sample_session import sample_session

_COUNTS = JobCounts(1, 4, 10, 100)


class _Texts(LazyResult):
    """One column of given rows; after the first, each waits for ``go``."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self.go = threading.Event()
        self.is_cancelled = False

    @property
    def columns(self) -> list[str]:
        return ["t"] if self._texts else []

    @property
    def native(self) -> list[str]:
        return self._texts

    def rows(self) -> ResultRows:
        return ResultRows(pa.schema([("t", pa.string())]), self._batches())

    def first(self, count: int) -> pa.Table:
        return pa.table({"t": self._texts[:count]})

    def cancel(self) -> None:
        self.is_cancelled = True
        self.go.set()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for number, text in enumerate(self._texts):
            if number:
                self.go.wait(60)
            yield pa.record_batch({"t": [text]})


class _Work(Work):
    def counts(self) -> JobCounts:
        return _COUNTS

    def may_plan_again(self, error: Exception) -> bool:
        return isinstance(error, LookupError)


class _Engine(Engine[_Texts]):
    """Answers with the words of the statement."""

    name = "words"
    title = "Words"
    own_catalogs = ("lexicon",)

    def __init__(self) -> None:
        self.current = ("", "")
        self.planned: list[_Texts] = []
        self.properties: dict[str, str] = {}
        self._is_started = False

    @property
    def is_started(self) -> bool:
        return self._is_started

    def start(self) -> None:
        self._is_started = True

    def close(self) -> None:
        self._is_started = False

    def facts(self) -> list[str]:
        return ["Words: 26 letters"]

    def setting(self, name: str) -> str | None:
        return None

    def session_properties(self) -> dict[str, str]:
        return self.properties

    def keep_session_properties(self, properties: Mapping[str, str]) -> None:
        self.properties = dict(properties)

    def plan(self, text: str, args: Parameters = None, lease: ReadLease | None = None) -> _Texts:
        words = text.split()
        if words[0] == "USE":
            self.current = (words[1], "default")
            words = []
        self.planned.append(_Texts(words))
        return self.planned[-1]

    def table(self, name: str, lease: ReadLease | None = None) -> _Texts:
        return self.plan(name)

    def show_stats(self, name: str, lease: ReadLease | None = None) -> _Texts:
        return self.plan("stats " + name)

    def rows_of(self, table: pa.Table) -> _Texts:
        return self.plan(" ".join(map(str, table.columns)) or "done")

    def explain(self, request: ExplainRequest, lease: ReadLease | None = None) -> _Texts:
        return self.plan("explained" + request.query.strip())

    def block(self, lease: ReadLease) -> AbstractContextManager[None]:
        return nullcontext()

    def work(self, label: str) -> Work:
        self.start()
        return _Work()

    def current_catalog(self) -> str:
        return self.current[0]

    def current_schema(self) -> str:
        return self.current[1]

    def function_names(self) -> list[str]:
        return ["spell"]

    def function_usages(self, names: Iterable[str]) -> list[FunctionUsage]:
        return [FunctionUsage(name, "word", "Spells.") for name in names]


@pytest.fixture
def engine() -> _Engine:
    return _Engine()


@pytest.fixture
def session(engine: _Engine) -> Iterator[AnySession]:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with CatalogSession(registry, engine) as made:
        yield made


def test_statements_run(session: AnySession, engine: _Engine) -> None:
    out = io.BytesIO()
    runner = Runner(session, out)
    assert not session.is_started
    assert runner.run("a", FORMATS["csv"]) == 1
    assert out.getvalue() == b"t\na\n"
    assert session.is_started
    assert runner.run("USE lexicon", FORMATS["csv"]) is None
    out.truncate(0)
    assert runner.run("EXPLAIN SELECT", FORMATS["csv"]) == 1
    assert runner.run("SHOW STATS FOR t", None) is None
    assert [one.native[:1] for one in engine.planned] == [["a"], [], ["explainedSELECT"], ["stats"]]


class _Stop:
    """Presses Ctrl-C when the statement is counted."""

    def __init__(self) -> None:
        self.seen: list[RunState] = []
        self._until = time.monotonic() + 60

    def tick(self, state: RunState) -> None:
        self.seen.append(state)
        if state.counts == _COUNTS or time.monotonic() > self._until:
            raise KeyboardInterrupt

    def keeps_waiting(self) -> bool:
        return False


def test_a_statement_is_counted_and_cancelled(session: AnySession, engine: _Engine) -> None:
    watch = _Stop()
    with pytest.raises(KeyboardInterrupt):
        Runner(session, io.BytesIO()).run("a b c", FORMATS["csv"], watch=watch)
    assert engine.planned[0].is_cancelled
    assert watch.seen[-1].counts == _COUNTS
    assert progress_text(RunState("starting", 2.0, JobCounts(), engine=watch.seen[0].engine), 1)[2:] == (
        "starting Words 2 s"
    )


def test_the_engine_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names and session properties stay; Spark is not started for it."""
    monkeypatch.chdir(tmp_path)
    sample_session(tmp_path).close()
    catalogs = str(tmp_path / "catalogs")
    property_ = GivenSetting("hive.native_reader", "false", "--session")
    with open_session(catalogs, debug=True, engine="spark", session_properties=[property_]) as session:
        names = NameCache(session)
        out = io.BytesIO()
        shell = ShellSession(session, Display(out), names, run_command, debug=False)
        shell.begin_in("hive", "sales")
        run_command(shell, "\\engine")
        with pytest.raises(InvalidArgumentError, match="unknown engine 'dukdb'; did you mean 'duckdb'"):
            run_command(shell, "\\engine dukdb")
        run_command(shell, "\\engine duckdb")
        assert capsys.readouterr().out == "engine is spark\nengine is duckdb\n"
        assert shell.run_input("SELECT count(*) AS labels FROM labels; SET; USE hudi.sales;")
        shown = out.getvalue().decode()
        assert "(1 row" in shown
        assert "spark.lakeport.hive.native_reader | false" in shown
        assert shell.current == ("hudi", "sales")
        assert shell.run_input("RESET; SET spark.lakeport.hudi.native_reader = false;")
        run_command(shell, "\\engine spark")
        assert shell.current == ("hudi", "sales")
        assert session.engine.session_properties() == {"hudi.native_reader": "false"}
        assert not session.is_started
        names.close()


def test_a_session_of_one_engine(session: AnySession) -> None:
    names = NameCache(session)
    shell = ShellSession(session, Display(io.BytesIO()), names, run_command, debug=False)
    with pytest.raises(InvalidArgumentError, match="the engine words alone"):
        run_command(shell, "\\engine duckdb")
    names.close()


def test_the_shell(session: AnySession, capsys: pytest.CaptureFixture[str]) -> None:
    names = NameCache(session)
    out = io.BytesIO()
    shell = ShellSession(session, Display(out), names, run_command, debug=False)
    shell.begin_in("lexicon", None)
    shell.settle()
    assert shell.current == ("lexicon", "default")
    run_command(shell, "\\conninfo")
    assert capsys.readouterr().out.splitlines()[-1] == "Words: 26 letters"
    run_command(shell, "\\df")
    assert "spell" in out.getvalue().decode()
    names.close()
