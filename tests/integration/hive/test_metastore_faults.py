"""Connections to a real metastore that end at each call of a statement: all of it is seen, or nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count
from uuid import uuid4

import pytest

from connector_spi.errors import ConnectorError
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from tests.integration.hive.engine import HiveEngine
from tests.integration.hive.interrupted_writes import WRITES, create, hive_rows, our_rows
from tests.integration.hive.thrift_proxy import Cut, running_proxy
from tests.integration.test_transactions import make_hive

_BESIDE = ("set_ugi", "heartbeat", "heartbeat_txn_range", "get_config_value")
"""Calls that come when they like."""
_IMPATIENT = {
    "hive.metastore.thrift.client.max-retries": "1",
    "hive.metastore.thrift.client.min-backoff-delay": "0.01s",
    "hive.metastore.thrift.client.max-wait": "10s",
}


class Fault:
    """Cuts a call of a statement, counted from 0; told to, also all after it.

    Attributes:
        met: The calls that came, without those beside.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.met: list[str] = []
        self.arm(-1, Cut.NEVER)

    def arm(self, at: int, cut: Cut, *, gone: bool = False) -> None:
        """From now on calls are counted, and that one is cut."""
        with self._lock:
            self.met = []
            self._at, self._cut, self._gone = at, cut, gone

    def __call__(self, name: str) -> Cut:
        with self._lock:
            if self._gone and len(self.met) > self._at >= 0:
                return Cut.BEFORE
            if name in _BESIDE:
                return Cut.NEVER
            self.met.append(name)
            return self._cut if len(self.met) == self._at + 1 else Cut.NEVER


@pytest.fixture(scope="module")
def fault() -> Fault:
    return Fault()


@pytest.fixture(scope="module")
def cut_off(hive_engine: HiveEngine, fault: Fault) -> Iterator[HiveConnector]:
    """Our connector behind the proxy."""
    with running_proxy(hive_engine.port, cut=fault) as proxy:
        connector = make_hive(proxy.uri, **_IMPATIENT)
        yield connector
        fault.arm(-1, Cut.NEVER)
        connector.shutdown()


@pytest.mark.parametrize("write", list(WRITES))
def test_all_or_nothing(
    hive: HiveConnector, hive_engine: HiveEngine, cut_off: HiveConnector, fault: Fault, write: str
) -> None:
    schema = f"f{uuid4().hex[:8]}"
    hive_engine.sql(f"CREATE DATABASE {schema}")
    name, statement, numbers = SchemaTableName(schema, f"t_{write}"), WRITES[write], count()
    create(hive_engine, hive, name, statement.properties)
    rows = our_rows(hive, name)
    for cut, gone in ((Cut.BEFORE, False), (Cut.AFTER, False), (Cut.AFTER, True)):
        for at in count():
            number = next(numbers)
            fault.arm(at, cut, gone=gone)
            error: ConnectorError | None = None
            try:
                statement.run(cut_off, name, number)
            except ConnectorError as raised:
                error = raised
            met = fault.met
            fault.arm(-1, Cut.NEVER)
            where = f"{cut} call {at} of {met}, gone: {gone}, error: {error}"
            before, rows = rows, our_rows(hive, name)
            after = statement.after(before, number)
            # Who is told of no error has written; of a lost answer to the commit one may be told.
            assert rows == after or (rows == before and error is not None), where
            if not gone:
                assert hive.metastore.transactions.show_locks(schema, name.table) == [], where
            if at >= len(met):
                break
        assert error is None, where
        assert hive_rows(hive_engine, name) == rows
    # What the lost clients had locked is free when their transactions have timed out.
    hive_engine.expire()
    assert hive.metastore.transactions.show_locks(schema, name.table) == []
    number = next(numbers)
    statement.run(hive, name, number)
    assert our_rows(hive, name) == hive_rows(hive_engine, name) == statement.after(rows, number)
