"""Settings and parameters of statements that DuckDB runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import lakeport
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import (
    ConnectorError,
    InvalidArgumentError,
    InvalidPropertyError,
    NotSupportedError,
    UserError,
)
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.duckdb.session import LocalSession
from tests.lakeport.memory_session import put
from tests.lakeport.sample_session import sample_session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LocalSession]:
    sample_session(tmp_path).close()
    with lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb") as made:
        yield made


def test_session_properties_reach_the_tables(session: LocalSession) -> None:
    """``native_reader`` says whether DuckDB reads files itself."""
    plan = "EXPLAIN SELECT count(*) FROM hudi.sales.items"
    assert "READ_PARQUET" in str(session.sql(plan).fetchall())
    was = session.sql("SELECT count(*) FROM hudi.sales.items").fetchall()
    assert session.sql("SET spark.lakeport.hudi.native_reader = false").fetchall() == [
        ("spark.lakeport.hudi.native_reader", "false")
    ]
    assert "READ_PARQUET" not in str(session.sql(plan).fetchall())
    assert session.sql("SELECT count(*) FROM hudi.sales.items").fetchall() == was
    assert session.sql("SET `spark.lakeport.hudi.native_reader`").fetchall()[0][1] == "false"
    assert session.sql("RESET spark.lakeport.hudi.native_reader").columns == []
    assert session.sql("SET spark.lakeport.hudi.native_reader").fetchall()[0][1] == "<undefined>"


def test_trino_s_words(session: LocalSession) -> None:
    session.sql("SET SESSION hive.native_reader = false", dialect="trino")
    assert session.sql("SET").fetchall() == [("spark.lakeport.hive.native_reader", "false")]
    session.sql("RESET SESSION hive.native_reader", dialect="trino")
    assert session.sql("SET").fetchall() == []


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("SET spark.lakeport.hive.native_reader = 7", InvalidPropertyError, "true or false"),
        ("SET spark.lakeport.hive.native_raeder = true", InvalidPropertyError, "did you mean 'native_reader'"),
        ("SET spark.lakeport.hve.native_reader = true", InvalidPropertyError, "did you mean 'hive'"),
        ("SET spark.lakeport.hive.task_pushdown = true", NotSupportedError, "says what Spark does"),
        ("RESET spark.lakeport.hive.task_pushdown", NotSupportedError, "says what Spark does"),
        ("SET spark.sql.ansi.enabled = false", NotSupportedError, "use the engine spark"),
        ("SET hive.native_reader = false", NotSupportedError, "write spark.lakeport.hive.native_reader"),
        ("SET TIME ZONE 'Europe/Paris'", NotSupportedError, "SET key = value"),
        ("SET duckdb.memory = 1GB", InvalidPropertyError, "there are duckdb.memory_limit"),
        ("SET duckdb.memory_limit = lots", InvalidPropertyError, "duckdb.memory_limit is not set to 'lots'"),
        ("SET duckdb.threads = 0", InvalidPropertyError, "duckdb.threads"),
    ],
)
def test_what_is_not_set(session: LocalSession, text: str, error: type[ConnectorError], words: str) -> None:
    with pytest.raises(error, match=words):
        session.sql(text)
    assert session.sql("SET").fetchall() == []


def test_settings_of_duckdb(tmp_path: Path) -> None:
    sample_session(tmp_path).close()
    settings = {"threads": "1", "memory_limit": "512MiB"}
    with lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb", settings=settings) as session:
        assert session.sql("SET").fetchall() == [("duckdb.threads", "1"), ("duckdb.memory_limit", "512.0 MiB")]
        assert session.sql("SET duckdb.memory_limit = '1GiB'").fetchall() == [("duckdb.memory_limit", "1.0 GiB")]
        [(_, folder)] = session.sql("SET duckdb.temp_directory").fetchall()
        assert Path(str(folder)).stat().st_mode & 0o077 == 0
        session.sql("RESET")
        assert session.sql("SET").fetchall() == []
    assert not Path(str(folder)).exists()
    with pytest.raises(InvalidPropertyError, match=r"duckdb\.thread'; did you mean|there are duckdb"):
        lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb", settings={"thread": "1"})
    with pytest.raises(InvalidArgumentError, match="settings are those of the engine duckdb"):
        lakeport.connect(catalogs=tmp_path / "catalogs", engine="spark", settings={"threads": "1"})  # type: ignore[call-overload]


@pytest.mark.slow
def test_a_query_over_the_limit_spills(tmp_path: Path) -> None:
    folder = tmp_path / "spilled"
    count = 1_000_000
    ids = pa.array(np.random.default_rng(7).permutation(count))
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    settings = {"threads": "1", "memory_limit": "40MiB", "temp_directory": str(folder)}
    with LocalSession(registry, settings) as session:
        connector = registry.get("mem")
        assert isinstance(connector, MemoryConnector)
        put(connector, "t", pa.table({"id": ids, "s": pc.cast(pc.add(ids, 10**15), pa.string())}))
        result = session.sql("SELECT id, s FROM mem.s.t ORDER BY id DESC")
        largest, ended = 0, threading.Event()

        def look() -> None:
            nonlocal largest
            while not ended.wait(0.002):
                with suppress(FileNotFoundError):  # removed while it is looked at
                    largest = max(largest, sum(file.stat().st_size for file in folder.glob("*")))

        looker = threading.Thread(target=look)
        looker.start()
        try:
            found = result.arrow()
        finally:
            ended.set()
            looker.join()
        assert found["id"].to_pylist() == list(range(count - 1, -1, -1))
        assert largest > 0
        # What says that the folder is in use is there until the end.
        assert [file.name for file in folder.glob("*") if not file.name.endswith("_owner")] == []
        session.sql("SET duckdb.max_temp_directory_size = '100KiB'")
        with pytest.raises(UserError, match="max_temp_directory_size"):
            result.arrow()
    assert not folder.exists() or list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "args", "words"),
    [
        ("SELECT ? AS a, ? AS b", [1], "there are 1 values"),
        ("SELECT ? AS a", None, "there are 0 values"),
        ("SELECT :first AS a", {"frist": 1}, "parameter :first has no value; did you mean 'frist'"),
        ("SELECT :first AS a", [1], "parameter :first has no value"),
        ("SELECT ? AS a", [b"x"], "is a bytes"),
        ("SELECT ? AS a", [datetime(2024, 1, 1)], "is a datetime"),
        ("SELECT ? AS a", [float("nan")], "is a float"),
    ],
)
def test_parameters_that_are_refused(
    session: LocalSession, text: str, args: list[object] | dict[str, object] | None, words: str
) -> None:
    with pytest.raises((InvalidArgumentError, NotSupportedError), match=words):
        session.sql(text, args)


def test_parameters_stand_in_the_order_of_the_text(session: LocalSession) -> None:
    text = "SELECT ? AS a, '?' AS b FROM hive.sales.labels WHERE id > ? /* ? */ AND id < ? ORDER BY id LIMIT ?"
    assert session.sql(text, ["x'; --", 1, 4, 1]).fetchall() == [("x'; --", "?")]
    found = session.sql("SELECT id FROM hive.sales.labels WHERE id = :n OR id = :n + 1 ORDER BY id", {"n": 2})
    assert found.fetchall() == [(2,), (3,)]
    [row] = session.sql("SELECT :d AS d, :m AS m, :t AS t", {"d": date(2024, 2, 29), "m": Decimal("1.50"), "t": True})\
        .arrow().to_pylist()  # fmt: skip
    assert row == {"d": date(2024, 2, 29), "m": Decimal("1.50"), "t": True}
