"""Transactional tables under real metastores of Hive 3.1 and 4.0: snapshots, locks, heartbeats, and the rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

import lakeport
from connector_spi.connector import SPI_VERSION, ConnectorContext
from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.properties import parse_properties
from connectors.hive import error_codes
from connectors.hive.acid.valid_ids import ValidIds
from connectors.hive.connector import HiveConnector, HiveFactory
from connectors.hive.transaction import HiveTransaction, hive_transaction
from connectors.hive.transactions.heartbeats import Heartbeats
from tests.connectors.hive.reading import make_session, read_table
from tests.hive_corpus import FULL_ACID_CASES, INSERT_ONLY_CASES, canonical_rows, expected_answer, with_null_keys
from tests.integration.conftest import TIMEOUT_SECONDS, RunningRelease
from tests.integration.corpus_in_metastore import CorpusTable, put_case

CASES = (*FULL_ACID_CASES, *INSERT_ONLY_CASES)
SCHEMA = "corpus"
FLAT = SchemaTableName(SCHEMA, "acid_flat")


def make_hive(uri: str, **properties: str) -> HiveConnector:
    factory = HiveFactory()
    given = {"hive.metastore.uri": uri, **properties}
    typed = parse_properties(factory.config_properties, given, lambda name: name)
    return factory.create("hive", typed, ConnectorContext(SPI_VERSION, "test"))


@dataclass(frozen=True)
class Loaded:
    """A metastore with the corpus in it.

    Attributes:
        release: The server.
        hive: Our connector over it.
        other: A client that others wrote.
        tables: By name.
    """

    release: RunningRelease
    hive: HiveConnector
    other: ThriftHiveMetastore.Client
    tables: dict[str, CorpusTable]

    def begin(self, *, lock: bool = True) -> HiveTransaction:
        """A transaction of a statement."""
        session = make_session(self.hive, transactional_read_lock=lock)
        return hive_transaction(self.hive.begin_transaction(session))

    def locks(self, table: str = "acid_flat") -> list[ttypes.ShowLocksResponseElement]:
        """What others are told of the locks on a table."""
        found = self.other.show_locks(ttypes.ShowLocksRequest()).locks
        return [lock for lock in found if lock.dbname == SCHEMA and lock.tablename == table]

    def state(self, transaction: int) -> str:
        """``open``, ``aborted``, or ``committed``."""
        for one in self.other.get_open_txns_info().open_txns:
            if one.id == transaction:
                return "open" if one.state == ttypes.TxnState.OPEN else "aborted"
        return "committed"


@pytest.fixture(scope="module")
def loaded(transactional_release: RunningRelease, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    transport = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", transactional_release.port))
    transport.open()
    hive = make_hive(transactional_release.uri)
    alive = Heartbeats(hive.metastore.transactions)
    with closing(transport), closing(alive):
        client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
        folder = tmp_path_factory.mktemp("corpus")
        client.create_database(ttypes.Database(SCHEMA, None, folder.as_uri(), {}))
        tables = {}
        for case in CASES:
            elsewhere = folder / case
            elsewhere.mkdir()
            tables[case] = put_case(client, SCHEMA, case, elsewhere, alive.add)
        yield Loaded(transactional_release, hive, client, tables)
    hive.shutdown()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_snapshots_are_those_of_hive(loaded: Loaded) -> None:
    reader = loaded.begin()
    found = {case: reader.snapshot(SchemaTableName(SCHEMA, case)).write_ids for case in CASES}
    reader.commit()
    assert found == {case: table.write_ids for case, table in loaded.tables.items()}


@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_hive(loaded: Loaded, case: str) -> None:
    rows = read_table(loaded.hive, SCHEMA, case)
    assert canonical_rows(rows) == with_null_keys(expected_answer(case).rows)


def test_the_timeout_is_the_servers(loaded: Loaded) -> None:
    assert loaded.hive.metastore.transactions.timeout_seconds() == TIMEOUT_SECONDS


@pytest.mark.parametrize("commits", [True, False])
def test_a_reader_holds_a_lock_that_others_see(loaded: Loaded, commits: bool) -> None:
    reader = loaded.begin()
    reader.snapshot(FLAT)
    [lock] = loaded.locks()
    assert (lock.type, lock.state) == (ttypes.LockType.SHARED_READ, ttypes.LockState.ACQUIRED)
    assert (lock.user, lock.agentInfo, lock.partname) == ("test", "lakeport q1", None)
    assert loaded.state(lock.txnid) == "open"
    if commits:
        reader.commit()
    else:
        reader.rollback()
    assert loaded.locks() == []
    assert loaded.state(lock.txnid) == ("committed" if commits else "aborted")


def test_tables_are_seen_at_one_moment(loaded: Loaded) -> None:
    reader = loaded.begin()
    before = reader.snapshot(FLAT).write_ids
    opened = loaded.other.open_txns(ttypes.OpenTxnRequest(1, "bob", "localhost")).txn_ids
    for name in ("acid_flat", "acid_union"):
        loaded.other.allocate_table_write_ids(ttypes.AllocateTableWriteIdsRequest(SCHEMA, name, opened))
    loaded.other.commit_txn(ttypes.CommitTxnRequest(opened[0]))
    now = loaded.begin()
    for name in ("acid_flat", "acid_union"):
        table = SchemaTableName(SCHEMA, name)
        assert reader.snapshot(table).write_ids == loaded.tables[name].write_ids
        newer = loaded.tables[name].write_ids.high_watermark + 1
        assert now.snapshot(table).write_ids == ValidIds(newer)
        loaded.tables[name].write_ids = ValidIds(newer)
    assert reader.snapshot(FLAT).write_ids == before
    reader.commit()
    now.commit()


def test_without_a_lock_nothing_is_opened(loaded: Loaded) -> None:
    before = loaded.other.get_open_txns().txn_high_water_mark
    reader = loaded.begin(lock=False)
    assert reader.snapshot(FLAT).write_ids == loaded.tables["acid_flat"].write_ids
    assert loaded.locks() == []
    reader.commit()
    assert loaded.other.get_open_txns().txn_high_water_mark == before


def test_an_exclusive_lock_is_waited_for_and_its_holder_named(loaded: Loaded) -> None:
    impatient = make_hive(loaded.release.uri, **{"hive.metastore.thrift.txn-lock-max-wait": "200ms"})
    [writer] = loaded.other.open_txns(ttypes.OpenTxnRequest(1, "bob", "there")).txn_ids
    component = ttypes.LockComponent(
        ttypes.LockType.EXCLUSIVE, ttypes.LockLevel.TABLE, SCHEMA, "acid_flat", None, ttypes.DataOperationType.NO_TXN
    )
    component.isTransactional = True
    request = ttypes.LockRequest([component], writer, "bob", "there", "drop it")
    assert loaded.other.lock(request).state == ttypes.LockState.ACQUIRED
    reader = hive_transaction(impatient.begin_transaction(make_session(impatient)))
    told = rf"bob at there \(transaction {writer}, drop it\) holds EXCLUSIVE on the table"
    with pytest.raises(MetastoreError, match=told) as raised:
        reader.snapshot(FLAT)
    assert raised.value.code == error_codes.HIVE_LOCK_NOT_ACQUIRED
    loaded.other.abort_txn(ttypes.AbortTxnRequest(writer))
    reader.snapshot(FLAT)
    assert len(loaded.locks()) == 1
    reader.commit()
    assert loaded.locks() == []
    impatient.shutdown()


def test_heartbeats_outlive_the_servers_timeout(loaded: Loaded) -> None:
    reader = loaded.begin()
    snapshot = reader.snapshot(FLAT)
    [lock] = loaded.locks()
    [silent] = loaded.other.open_txns(ttypes.OpenTxnRequest(1, "bob", "localhost")).txn_ids
    until(lambda: loaded.state(silent) == "aborted")
    # By now ours would have been aborted twice over.
    time.sleep(TIMEOUT_SECONDS)
    assert loaded.state(lock.txnid) == "open"
    assert reader.protect(FLAT, snapshot) == snapshot
    reader.commit()
    assert loaded.state(lock.txnid) == "committed"


def test_a_transaction_that_is_aborted_by_others_fails_the_statement(loaded: Loaded) -> None:
    reader = loaded.begin()
    reader.snapshot(FLAT)
    loaded.other.abort_txn(ttypes.AbortTxnRequest(loaded.locks()[0].txnid))

    def is_lost() -> bool:
        try:
            reader.table(FLAT)
        except MetastoreError as error:
            return error.code == error_codes.HIVE_TRANSACTION_LOST
        return False

    until(is_lost)
    reader.rollback()


def test_queries_of_spark_end_their_transactions(loaded: Loaded, spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "hive.properties").write_text(f"connector.name=hive\nhive.metastore.uri={loaded.release.uri}\n")
    with lakeport.connect(spark.newSession(), tmp_path) as session:
        frame = session.sql(f"SELECT * FROM hive.{SCHEMA}.acid_union JOIN hive.{SCHEMA}.acid_flat USING (id)")
        [flat], [union] = loaded.locks(), loaded.locks("acid_union")
        assert flat.txnid == union.txnid
        frame.collect()
        assert len(loaded.locks()) == 1
        del frame
        session.spark.sql(f"SELECT * FROM hive.{SCHEMA}.acid_minor").collect()
        until(lambda: loaded.locks("acid_minor") == [])
        failing = session.sql(f"SELECT raise_error('no') FROM hive.{SCHEMA}.acid_major")
        [lock] = loaded.locks("acid_major")
        with pytest.raises(PySparkException):
            failing.collect()
        until(lambda: loaded.state(lock.txnid) == "aborted")
        assert loaded.locks("acid_major") == []
    assert loaded.locks() == []
    assert loaded.state(flat.txnid) == "committed"
