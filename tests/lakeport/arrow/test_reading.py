"""``session.arrow``: names, columns, filters, limits, transactions; and that it needs no Spark."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import lakeport
from connector_spi.connector_transaction import TransactionState
from connector_spi.errors import (
    CatalogNotFoundError,
    ColumnNotFoundError,
    InvalidArgumentError,
    MetastoreError,
    NotSupportedError,
    SchemaNotFoundError,
    TableNotFoundError,
    UserError,
)
from connector_spi.names import SchemaTableName
from connector_spi.page_source import PageSource
from connectors.memory.connector import MemoryConnector
from connectors.memory.metadata import MemoryTransaction
from connectors.memory.page_source import MemoryPageSourceProvider
from lakeport.arrow.filters.where import Where
from lakeport.arrow.scan_request import Exclusive
from lakeport.arrow.stream import ArrowScan, ArrowStream
from lakeport.session import Session
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.plain_statement import plain_statement
from tests.lakeport.memory_session import memory_session, put

TRIPS = pa.table(
    {
        "region": ["eu", "eu", "us", None],
        "amount": pa.array([10, 20, 30, 40], pa.int64()),
        "ds": ["2024-01-01", "2024-01-02", "2024-01-01", "2024-01-02"],
    }
)


def run_apart(program: str) -> None:
    """Runs a program in a process of its own, which is given a folder with no catalogs."""
    ended = subprocess.run(
        [sys.executable, "-c", program, "."], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.fixture
def opened() -> Iterator[tuple[Session, MemoryConnector]]:
    with memory_session() as (session, connector):
        put(connector, "trips", TRIPS, "ds", chunk_rows=1)
        yield session, connector


def rows(reader: pa.RecordBatchReader) -> list[dict[str, object]]:
    found: list[dict[str, object]] = reader.read_all().to_pylist()
    return found


def test_all_rows_and_columns(opened: tuple[Session, MemoryConnector]) -> None:
    found = opened[0].arrow("mem.s.trips")
    assert found.schema.equals(TRIPS.schema)
    assert sorted(found.read_all().to_pylist(), key=lambda row: row["amount"]) == TRIPS.to_pylist()


def test_columns_come_in_the_asked_order_and_hidden_ones_when_asked(opened: tuple[Session, MemoryConnector]) -> None:
    found = rows(opened[0].arrow("MEM.S.Trips", columns=["AMOUNT", "region", "$chunk"], where=[("amount", "=", 20)]))
    assert [list(row) for row in found] == [["amount", "region", "$chunk"]]
    assert (found[0]["amount"], found[0]["region"]) == (20, "eu")


def test_a_table_with_no_columns_has_none_to_read(opened: tuple[Session, MemoryConnector]) -> None:
    """Such as one over ORC's example file ``version1999.orc``."""
    session, connector = opened
    put(connector, "bare", pa.table({}))
    assert session.arrow("mem.s.bare").read_all() == pa.table({})
    assert session.scan("mem.s.bare").schema == pa.schema([])
    with pytest.raises(InvalidArgumentError, match="names no column"):
        session.arrow("mem.s.bare", columns=[])


def test_a_filter_on_a_column_that_is_not_read(opened: tuple[Session, MemoryConnector]) -> None:
    where: Where = [[("ds", "=", "2024-01-01"), ("amount", ">", 10)], [("region", "is null")]]
    found = rows(opened[0].arrow("mem.s.trips", columns=["amount"], where=where))
    assert sorted(str(row) for row in found) == ["{'amount': 30}", "{'amount': 40}"]


@pytest.mark.parametrize("limit", [0, 1, 3, 9])
def test_a_limit_counts_rows_after_the_filter(opened: tuple[Session, MemoryConnector], limit: int) -> None:
    assert len(rows(opened[0].arrow("mem.s.trips", limit=limit))) == min(limit, 4)
    found = rows(opened[0].arrow("mem.s.trips", where=[("amount", ">=", 30)], limit=limit))
    assert len(found) == min(limit, 2)
    assert all(int(str(row["amount"])) >= 30 for row in found)


def test_system_tables(opened: tuple[Session, MemoryConnector]) -> None:
    found = rows(opened[0].arrow("mem.s.`trips$snapshots`", columns=["version"], where=[("version", ">", 0)]))
    assert found == [{"version": 1}]


def test_the_snapshot_is_that_of_the_call(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    reader = session.arrow("mem.s.trips")
    connector.insert(SchemaTableName("s", "trips"), TRIPS)
    assert len(rows(reader)) == TRIPS.num_rows
    assert len(rows(session.arrow("mem.s.trips"))) == 2 * TRIPS.num_rows


def test_a_read_is_one_transaction_that_ends_once(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    before = connector.transactions.begun
    reader = session.arrow("mem.s.trips")
    next(reader)
    assert (connector.transactions.begun - before, connector.transactions.open) == (1, 1)
    del reader
    gc.collect()
    CLEANUP.wait()
    assert connector.transactions.open == 0
    with pytest.raises(ColumnNotFoundError):
        session.arrow("mem.s.trips", columns=["nope"])
    assert (connector.transactions.open, connector.transactions.rolled_back) == (0, 1)


def test_a_closed_session_does_not_cut_a_table_short(opened: tuple[Session, MemoryConnector]) -> None:
    session, _ = opened
    reader = session.arrow("mem.s.trips")
    next(reader)
    assert repr(session) == "<lakeport.Session of mem>"
    session.close()
    assert repr(session) == "<lakeport.Session, closed>"
    with pytest.raises(UserError, match="closed while the table was read"):
        next(reader)
    with pytest.raises(UserError, match="connect again"):
        session.arrow("mem.s.trips")


def test_a_read_may_be_closed_while_another_thread_waits_for_its_batch(
    opened: tuple[Session, MemoryConnector],
) -> None:
    reads, may_go_on = threading.Event(), threading.Event()

    def batches() -> Iterator[pa.RecordBatch]:
        reads.set()
        may_go_on.wait(10)
        yield TRIPS.to_batches()[0]

    stream = ArrowStream(plain_statement(opened[0].catalogs), ArrowScan(TRIPS.schema, batches()))
    with ThreadPoolExecutor(2) as pool:
        read = pool.submit(next, stream)
        reads.wait(10)
        closed = pool.submit(stream.close)
        wait([closed], timeout=0.1)
        may_go_on.set()
        assert read.result().num_rows == 4
        closed.result()
    with pytest.raises(UserError, match="closed while the table was read"):
        next(stream)


def test_a_system_table_may_be_read_by_one_thread_after_the_other(opened: tuple[Session, MemoryConnector]) -> None:
    reader = opened[0].arrow("mem.s.`trips$snapshots`")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(next, reader).result().num_rows == 1
    with pytest.raises(StopIteration):
        next(reader)


def test_nothing_is_opened_beyond_a_limit(
    opened: tuple[Session, MemoryConnector], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    create = MemoryPageSourceProvider.create_page_source

    def counted(provider: MemoryPageSourceProvider, *given: object) -> PageSource:
        asked.append(given)
        return create(provider, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(MemoryPageSourceProvider, "create_page_source", counted)
    assert len(rows(opened[0].arrow("mem.s.trips", where=[("amount", ">", 0)], limit=2, threads=1))) == 2
    assert len(asked) == 2


@pytest.mark.parametrize("fails", ["mem", "other"])
def test_each_transaction_ends_though_another_fails_to(opened: tuple[Session, MemoryConnector], fails: str) -> None:
    session, _ = opened
    session.catalogs.register("other", "memory", {})
    statement = plain_statement(session.catalogs)
    accesses = [statement.access(name) for name in ("mem", "other")]
    for access in accesses:
        access.transaction.__class__ = Unwilling if access.catalog == fails else access.transaction.__class__
    with pytest.raises(MetastoreError, match="no answer"):
        statement.lease.release_if_unread()
    with pytest.raises(MetastoreError, match="no answer"):
        statement.commit()
    assert {access.transaction.state for access in accesses} == {TransactionState.COMMITTED}


class Unwilling(MemoryTransaction):
    """Fails to end."""

    def on_release(self, failed: bool) -> None:
        raise MetastoreError("no answer")

    def on_commit(self) -> None:
        super().on_commit()
        raise MetastoreError("no answer")


@pytest.mark.slow
def test_a_forked_process_leaves_its_parents_session_alone() -> None:
    program = (
        "import os, sys, pyarrow as pa, lakeport\n"
        "from connector_spi import SchemaTableName, UserError\n"
        "session = lakeport.connect(catalogs=sys.argv[1])\n"
        "session.catalogs.register('mem', 'memory', {})\n"
        "memory = session.catalogs.get('mem')\n"
        "memory.create_table(SchemaTableName('s', 't'), pa.table({'a': [1, 2]}))\n"
        "scan = session.scan('mem.s.t')\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    for read in (scan.to_arrow, lambda: session.arrow('mem.s.t')):\n"
        "        try:\n"
        "            read()\n"
        "        except UserError as error:\n"
        "            assert 'open a session of its own' in str(error), error\n"
        "        else:\n"
        "            sys.exit('it was read')\n"
        "    scan = None\n"
        "    lakeport.connect(catalogs=sys.argv[1]).close()\n"
        "    session.close()\n"
        "    sys.exit(0 if memory.transactions.open else 'the transaction was ended')\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert scan.to_arrow().num_rows == 2\n"
    )
    run_apart(program)


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("meme.s.trips", CatalogNotFoundError, "did you mean 'mem'"),
        ("mem.z.trips", SchemaNotFoundError, "no schema z"),
        ("mem.s.trip", TableNotFoundError, "did you mean trips"),
        ("mem.s.`trips$snapshot`", TableNotFoundError, "snapshots"),
        ("s.trips", InvalidArgumentError, "catalog, schema and table"),
        ("mem.s.", InvalidArgumentError, "cannot read the name"),
    ],
)
def test_names_that_are_not_there(
    opened: tuple[Session, MemoryConnector], name: str, kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=says):
        opened[0].arrow(name)


def test_columns_that_are_not_there(opened: tuple[Session, MemoryConnector]) -> None:
    session, _ = opened
    with pytest.raises(ColumnNotFoundError, match="did you mean amount"):
        session.arrow("mem.s.trips", columns=["amout"])
    with pytest.raises(ColumnNotFoundError, match="did you mean region"):
        session.arrow("mem.s.trips", where=[("regoin", "=", "eu")])
    with pytest.raises(ColumnNotFoundError, match="did you mean 'version'"):
        session.arrow("mem.s.`trips$snapshots`", columns=["versoin"])
    with pytest.raises(InvalidArgumentError, match="twice"):
        session.arrow("mem.s.trips", columns=["amount", "AMOUNT"])
    with pytest.raises(InvalidArgumentError, match="a list of names"):
        session.arrow("mem.s.trips", columns="amount")


def test_blocks_of_two_sessions_are_kept_apart(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    with memory_session() as (other, _), session.transaction():
        assert session.arrow("mem.s.trips").read_all().num_rows == 4
        with other.transaction():
            connector.insert(SchemaTableName("s", "trips"), TRIPS)
            assert session.arrow("mem.s.trips").read_all().num_rows == 4
        assert session.arrow("mem.s.trips").read_all().num_rows == 4
    assert session.arrow("mem.s.trips").read_all().num_rows == 8


def test_a_folder_in_the_place_of_spark() -> None:
    with pytest.raises(InvalidArgumentError, match=r"named as connect\(catalogs='etc/catalog'\)"):
        lakeport.connect("etc/catalog")  # type: ignore[call-overload]


def test_reading_arrow_loads_no_spark() -> None:
    program = (
        "import sys, pyarrow as pa, lakeport\n"
        "from connector_spi import SchemaTableName\n"
        "session = lakeport.connect(catalogs=sys.argv[1])\n"
        "session.catalogs.register('mem', 'memory', {})\n"
        "session.catalogs.get('mem').create_table(SchemaTableName('s', 't'), pa.table({'a': [1, 2]}))\n"
        "assert session.arrow('mem.s.t', where=[('a', '>', 1)]).read_all().to_pylist() == [{'a': 2}]\n"
        "session.close()\n"
        "loaded = [name for name in ('pyspark', 'py4j', 'lakeport.spark.catalog.install') if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    run_apart(program)


@pytest.fixture
def ledger(opened: tuple[Session, MemoryConnector]) -> Session:
    """Three versions: two rows, one updated and one added, one deleted."""
    session, connector = opened
    put(connector, "ledger", pa.table({"id": [1, 2], "v": ["a", "b"]}))
    name = SchemaTableName("s", "ledger")
    connector.merge(name, "id", pa.table({"id": [1, 3], "v": ["A", "c"]}))
    connector.merge(name, "id", pa.table({"id": [], "v": []}, pa.schema([("id", pa.int64()), ("v", pa.string())])), [2])
    return session


def told(reader: pa.RecordBatchReader) -> list[tuple[object, ...]]:
    found = reader.read_all()
    columns = [found.column(name).to_pylist() for name in ("_commit_version", "_change_type", "id")]
    return sorted(zip(*columns, strict=True))


CREATED = [(1, "insert", 1), (1, "insert", 2)]
MERGED = [(2, "insert", 3), (2, "update_postimage", 1), (2, "update_preimage", 1)]
DELETED = [(3, "delete", 2)]


def test_changes_of_a_range(ledger: Session) -> None:
    assert told(ledger.changes("mem.s.ledger")) == CREATED + MERGED + DELETED
    assert told(ledger.changes("mem.s.ledger", 2)) == MERGED + DELETED
    assert told(ledger.changes("mem.s.ledger", Exclusive("1"), 2)) == MERGED
    assert told(ledger.changes("mem.s.ledger", None, Exclusive(2))) == CREATED
    start = datetime(2020, 1, 1, tzinfo=UTC)
    assert told(ledger.changes("mem.s.ledger", start)) == CREATED + MERGED + DELETED
    assert told(ledger.changes("mem.s.ledger", start, start + timedelta(days=1))) == []


def test_columns_filters_and_limits_of_changes(ledger: Session) -> None:
    found = ledger.changes("mem.s.ledger")
    assert found.schema.names == ["id", "v", "_change_type", "_commit_version", "_commit_timestamp"]
    where: Where = [("_change_type", "in", ["insert", "delete"]), ("_commit_version", ">", 1)]
    assert rows(ledger.changes("mem.s.ledger", columns=["v", "_CHANGE_TYPE"], where=[*where, ("id", "=", 2)])) == [
        {"v": "b", "_change_type": "delete"}
    ]
    assert len(rows(ledger.changes("mem.s.ledger", where=where))) == 2
    assert len(rows(ledger.changes("mem.s.ledger", limit=4))) == 4
    found.close()


def test_changes_that_cannot_be_asked_for(ledger: Session) -> None:
    for name, start, end, error, words in (
        ("mem.s.ledger", 4, None, InvalidArgumentError, "has no version '4'; it has 1 to 3"),
        ("mem.s.ledger", 3, 2, InvalidArgumentError, "FROM VERSION 3 TO VERSION 2: the end is before the start"),
        ("mem.s.ledger", 1, datetime(2020, 1, 1, tzinfo=UTC), InvalidArgumentError, "two versions or two timestamps"),
        ("mem.s.ledger", datetime(2020, 1, 1), None, InvalidArgumentError, "expected an aware datetime"),
        ("mem.s.`ledger$snapshots`", 1, None, NotSupportedError, "system table .* has no changes"),
        ("mem.s.legder", 1, None, TableNotFoundError, "did you mean"),
        ("mem.z.ledger", 1, None, SchemaNotFoundError, "no schema"),
    ):
        with pytest.raises(error, match=words):
            ledger.changes(name, start, end)
