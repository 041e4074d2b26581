"""How often Java and Python call each other for one statement, which is what a small one costs above Spark's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.clientserver import ClientServerConnection
from pyspark.sql import SparkSession

from lakeport.spark.bridge import connections
from lakeport.spark.engine import SparkEngine
from tests.lakeport.spark.tables.warehouse import Warehouse

_FEWER_THAN = 12
"""Calls of a query on one small file, without those that PySpark makes for any query."""
_PYSPARKS = ("sql", "setCallSite", "collectToPython", "toArray")
_OURS = ("waitUntilEmpty",)


@pytest.fixture
def warehouse(spark: SparkSession, tmp_path: Path) -> Iterator[Warehouse]:
    warehouse = Warehouse(spark, tmp_path)
    (tmp_path / "small").mkdir()
    data = pa.table({"id": [1, 2, 3, 4], "name": ["a", "b", None, "d"]})
    pq.write_table(data, tmp_path / "small" / "000000_0")
    warehouse.call("hive", "s", "small", tmp_path / "small")
    yield warehouse
    warehouse.registry.shutdown()


@pytest.mark.parametrize("native", [True, False], ids=["native", "python"])
def test_a_small_query_takes_few_calls(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, native: bool) -> None:
    warehouse.native_reader("hive", native)
    engine = SparkEngine(warehouse.spark, warehouse.registry)
    query = "SELECT count(*), sum(id) FROM hive.s.small WHERE id >= 2"
    # Spark calls a listener some time after the query: not to be counted with the next statement.
    bus = warehouse.spark.sparkContext._jsc.sc().listenerBus()
    with _counted(monkeypatch) as calls:
        for _ in range(2):
            # What is looked up once for a session has been looked up.
            bus.waitUntilEmpty()
            calls.clear()
            assert [tuple(row) for row in engine.sql(query).collect()] == [(3, 9)]
        bus.waitUntilEmpty()
    assert 0 < len(calls) < _FEWER_THAN, calls


def test_a_small_insert_takes_few_calls(warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the table, for its write, when it begins, and to commit; and for the statement's settings."""
    engine = SparkEngine(warehouse.spark, warehouse.registry)
    (tmp_path / "made").mkdir()
    engine.sql(f"CREATE TABLE hive.s.made (id INT) USING orc LOCATION '{tmp_path / 'made'}'")
    # Spark calls a listener some time after the query: not to be counted with the next statement.
    bus = warehouse.spark.sparkContext._jsc.sc().listenerBus()
    with _counted(monkeypatch) as calls:
        for number in range(2):
            bus.waitUntilEmpty()
            calls.clear()
            engine.sql(f"INSERT INTO hive.s.made VALUES ({number})").collect()
        bus.waitUntilEmpty()
        made = list(calls)
    assert 0 < len(made) < _FEWER_THAN, made
    assert [tuple(row) for row in engine.sql("SELECT count(*) FROM hive.s.made").collect()] == [(2,)]


@contextmanager
def _counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What either side calls, but for what releases objects and connections."""
    found: list[str] = []
    send, call = ClientServerConnection.send_command, ClientServerConnection._call_proxy
    lock = threading.Lock()

    def sent(self: ClientServerConnection, command: str) -> object:
        kind, _, name, *_ = (*command.split("\n"), "", "", "")
        if kind == "c" and name not in (*_PYSPARKS, *_OURS):
            with lock:
                found.append(f"to Java: {command!r}")
        return send(self, command)

    def called(self: ClientServerConnection, obj_id: str, given: object) -> object:
        with lock:
            found.append(f"to Python: {obj_id}")
        return call(self, obj_id, given)

    with monkeypatch.context() as patch:
        patch.setattr(ClientServerConnection, "send_command", sent)
        patch.setattr(ClientServerConnection, "_call_proxy", called)
        # Connections are released once every few scans.
        patch.setattr(connections, "_EVERY", 1 << 30)
        yield found
