"""Connections to a real metastore that end at each call of a statement: all of it is seen, or nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from uuid import uuid4

import pytest

from connector_spi.errors import ConnectorError
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from tests.integration.hive.engine import HiveEngine
from tests.integration.hive.interrupted_writes import (
    WRITES,
    Rows,
    begin_replace,
    create,
    create_as,
    finish_replace,
    hive_rows,
    new_rows,
    our_rows,
)
from tests.integration.hive.thrift_proxy import Cut, running_proxy
from tests.integration.test_transactions import make_hive

_BESIDE = ("set_ugi", "heartbeat", "heartbeat_txn_range", "get_config_value")
"""Calls that come when they like."""
_WAYS = ((Cut.BEFORE, False), (Cut.AFTER, False), (Cut.AFTER, True))
"""How a call is cut, and whether all after it are cut, too."""
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
    statement, left = WRITES[write], {}
    for place, (cut, gone) in enumerate(_WAYS):
        name = SchemaTableName(schema, f"t_{place}")
        create(hive_engine, hive, name, statement.properties)
        rows = our_rows(hive, name)
        for at in count():
            fault.arm(at, cut, gone=gone)
            error: ConnectorError | None = None
            try:
                statement.run(cut_off, name, at)
            except ConnectorError as raised:
                error = raised
            met = fault.met
            fault.arm(-1, Cut.NEVER)
            where = f"{cut} call {at} of {met}, gone: {gone}, error: {error}"
            before, rows = rows, our_rows(hive, name)
            after = statement.after(before, at)
            # Who is told of no error has written; of a lost answer to the commit one may be told.
            assert rows == after or (rows == before and error is not None), where
            if not gone:
                assert hive.metastore.transactions.show_locks(schema, name.table) == [], where
            if at >= len(met):
                break
        assert error is None, where
        left[name] = rows
    # What the lost clients had locked is free when their transactions have timed out.
    hive_engine.expire()
    for name, rows in left.items():
        assert hive.metastore.transactions.show_locks(schema, name.table) == []
        assert hive_rows(hive_engine, name) == rows
        statement.run(hive, name, 900)
        assert our_rows(hive, name) == hive_rows(hive_engine, name) == statement.after(rows, 900)


@pytest.mark.parametrize("keys", [False, True], ids=["whole", "partitioned"])
@pytest.mark.parametrize("full", [False, True], ids=["plain", "full"])
def test_a_table_is_made_with_its_rows_or_not_at_all(
    hive: HiveConnector, hive_engine: HiveEngine, cut_off: HiveConnector, fault: Fault, full: bool, keys: bool
) -> None:
    schema = f"m{uuid4().hex[:8]}"
    hive_engine.sql(f"CREATE DATABASE {schema}")
    left: dict[SchemaTableName, Rows] = {}
    for run in _runs(fault, schema, lambda name: create_as(cut_off, name, full=full, keys=keys)):
        if _is_there(hive, run.name):
            rows = our_rows(hive, run.name)
            # Who is killed after it is made, and before its partitions or the commit, leaves it empty.
            assert len(rows) == 10 or (run.gone and not rows and (keys or full)), run
            if not (full and run.gone):
                left[run.name] = rows
        else:
            assert run.error is not None, run
            left[run.name] = create_as(hive, run.name, full=full, keys=keys)
        if not run.gone:
            assert hive.metastore.transactions.show_locks(schema, run.name.table) == [], run
    _assert_as_left(hive, hive_engine, left)


@pytest.mark.parametrize("full", [False, True], ids=["plain", "full"])
def test_a_table_is_replaced_or_is_what_it_was(
    hive: HiveConnector, hive_engine: HiveEngine, cut_off: HiveConnector, fault: Fault, full: bool
) -> None:
    schema = f"r{uuid4().hex[:8]}"
    hive_engine.sql(f"CREATE DATABASE {schema}")
    left: dict[SchemaTableName, Rows] = {}
    made: dict[SchemaTableName, SchemaTableName] = {}

    def prepare(name: SchemaTableName) -> None:
        left[name] = create_as(hive, name, full=full, keys=True)
        made[name] = begin_replace(hive, name, 1, full=full)

    # The calls that plain tables have as well are not cut twice before they are made.
    ways = _WAYS[1:] if full else _WAYS
    for run in _runs(fault, schema, lambda name: finish_replace(cut_off, name, made[name]), prepare, ways):
        if run.gone:
            # Of who is killed between the two renames, the way out is the one that the documentation gives.
            _put_back(hive, run.name)
        rows = our_rows(hive, run.name)
        assert rows == new_rows(1) or (rows == left[run.name] and run.error is not None), run
        left[run.name] = rows
        if not run.gone:
            assert hive.metastore.transactions.show_locks(schema, run.name.table) == [], run
            if run.error is not None:
                finish_replace(hive, run.name, begin_replace(hive, run.name, 2, full=full))
                left[run.name] = new_rows(2)
            assert [one for one in hive.metastore.reads.get_table_names(schema) if f"{run.name.table}__" in one] == []
    _assert_as_left(hive, hive_engine, left)


@dataclass(frozen=True, slots=True)
class _Run:
    """A statement of which one call was cut."""

    name: SchemaTableName
    where: str
    gone: bool
    error: ConnectorError | None


def _runs(
    fault: Fault,
    schema: str,
    statement: Callable[[SchemaTableName], object],
    prepare: Callable[[SchemaTableName], object] = str,
    ways: Sequence[tuple[Cut, bool]] = _WAYS,
) -> Iterator[_Run]:
    """Runs a statement on a table of its own for each call that is cut, in each way."""
    for place, (cut, gone) in enumerate(ways):
        for at in count():
            name = SchemaTableName(schema, f"t_{place}_{at}")
            prepare(name)
            fault.arm(at, cut, gone=gone)
            error: ConnectorError | None = None
            try:
                statement(name)
            except ConnectorError as raised:
                error = raised
            met = fault.met
            fault.arm(-1, Cut.NEVER)
            yield _Run(name, f"{cut} call {at} of {met}", gone, error)
            if at >= len(met):
                assert error is None, (at, met)
                break


def _is_there(hive: HiveConnector, name: SchemaTableName) -> bool:
    return hive.metastore.reads.get_table(name.schema, name.table) is not None


def _put_back(hive: HiveConnector, name: SchemaTableName) -> None:
    """Renames a table back that was put aside, where none has its name."""
    if _is_there(hive, name):
        return
    metastore = hive.metastore
    [aside] = [one for one in metastore.reads.get_table_names(name.schema) if one.startswith(f"{name.table}__old_")]
    entry = metastore.reads.get_table(name.schema, aside)
    assert entry is not None
    metastore.writes.alter_table(name.schema, aside, replace(entry, name=name.table))


def _assert_as_left(hive: HiveConnector, engine: HiveEngine, left: Mapping[SchemaTableName, Rows]) -> None:
    """What lost clients had locked is free when their transactions have timed out; Hive reads what we read."""
    engine.expire()
    for name, rows in left.items():
        assert hive.metastore.transactions.show_locks(name.schema, name.table) == []
        assert our_rows(hive, name) == rows
    names = list(left)
    for name in (names[0], names[-1]):
        assert hive_rows(engine, name) == left[name]
