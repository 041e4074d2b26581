"""Snapshots of transactional tables: locks, transactions and their ends, over the embedded metastore."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.client import TransactionClient
from catalog.metastore.embedded.metastore import open_store
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.transactions import LockComponent, LockState, LockType, ValidTransactions, ValidWriteIds
from connector_spi.connector import SPI_VERSION, ConnectorContext
from connector_spi.connector_transaction import TransactionState
from connector_spi.errors import (
    ErrorCode,
    FileMissingError,
    InternalError,
    InvalidPropertyError,
    MetastoreError,
    NotSupportedError,
)
from connector_spi.names import SchemaTableName
from connector_spi.properties import parse_properties
from connectors.hive import error_codes
from connectors.hive.acid.directories.unknown_ids import UnknownIds
from connectors.hive.acid.valid_ids import ALL_VALID, AcidSnapshot, ValidIds
from connectors.hive.connector import HiveConnector, HiveFactory
from connectors.hive.transaction import HiveTransaction, hive_transaction
from connectors.hive.transactions.heartbeats import Heartbeats
from connectors.hive.transactions.snapshots import SnapshotPolicy, StatementSnapshots
from tests.connectors.hive.reading import make_connector, make_session, scan_table
from tests.connectors.hive.table_writer import create_table
from tests.hms import HiveMetastoreServer
from tests.paths import PROJECT

ORDERS, ITEMS = SchemaTableName("shop", "orders"), SchemaTableName("shop", "items")
# Transactions of compactions begin at 2 to the 40; those below are of other metastores, and have committed.
_COMPACTED_ELSEWHERE = ValidIds(2**40 - 1)
IMPATIENT = {"hive_metastore_thrift_txn__lock__max__wait": "100ms"}


def begin(hive: HiveConnector, *, lock: bool = True) -> HiveTransaction:
    return hive_transaction(hive.begin_transaction(make_session(hive, transactional_read_lock=lock)))


def write(client: TransactionClient, table: SchemaTableName, count: int = 1) -> None:
    """Commits as many write ids."""
    for _ in range(count):
        transaction = client.open_transaction("bob", "writer")
        client.allocate_write_ids([transaction], table.schema, table.table)
        client.commit(transaction)


def holders(client: TransactionClient, table: SchemaTableName = ORDERS) -> list[tuple[str, LockState]]:
    return [(lock.user, lock.state) for lock in client.show_locks(table.schema, table.table)]


def until(true: Callable[[], bool]) -> None:
    """Waits for what another thread does."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[HiveConnector]:
    connector = make_connector(tmp_path, **IMPATIENT)
    yield connector
    connector.shutdown()


def test_what_is_on_disk_is_committed_where_nothing_is_recorded(hive: HiveConnector) -> None:
    assert begin(hive).snapshot(ORDERS) == AcidSnapshot(ALL_VALID, _COMPACTED_ELSEWHERE)


def test_recorded_write_ids_are_the_snapshot(hive: HiveConnector) -> None:
    client = hive.metastore.transactions
    assert isinstance(client, EmbeddedTransactions)
    client.record_write_ids(ValidWriteIds("shop.orders", 9, (7,), (2, 3), 7))
    snapshot = begin(hive).snapshot(ORDERS)
    assert snapshot == AcidSnapshot(ValidIds(9, (7,), (2, 3), 7), _COMPACTED_ELSEWHERE)


@pytest.mark.parametrize("lock", [True, False])
def test_tables_of_a_statement_are_seen_at_one_moment(hive: HiveConnector, lock: bool) -> None:
    client = hive.metastore.transactions
    for table in (ORDERS, ITEMS):
        write(client, table, 2)
    reader = begin(hive, lock=lock)
    assert reader.snapshot(ORDERS).write_ids == ValidIds(2)
    for table in (ORDERS, ITEMS):
        write(client, table)
    assert reader.snapshot(ORDERS).write_ids == ValidIds(2)
    assert reader.snapshot(ITEMS).write_ids == ValidIds(2)
    assert begin(hive).snapshot(ITEMS).write_ids == ValidIds(3)


@pytest.mark.parametrize("commits", [True, False])
def test_a_reader_holds_a_shared_lock_until_its_end(hive: HiveConnector, commits: bool) -> None:
    client = hive.metastore.transactions
    reader = begin(hive)
    reader.snapshot(ORDERS)
    [lock] = client.show_locks("shop", "orders")
    assert (lock.type, lock.state, lock.user) == (LockType.SHARED_READ, LockState.ACQUIRED, "test")
    assert lock.agent == "lakeport q1"
    assert client.show_locks("shop", "items") == []
    if commits:
        reader.commit()
    else:
        reader.rollback()
    assert holders(client) == []
    seen = client.get_valid_transactions()
    assert seen.open == ()
    assert seen.aborted == (() if commits else (lock.transaction,))


def test_ends_once(hive: HiveConnector) -> None:
    reader = begin(hive)
    reader.snapshot(ORDERS)
    reader.commit()
    with pytest.raises(InternalError):
        reader.rollback()
    with pytest.raises(InternalError):
        reader.snapshot(ITEMS)
    assert reader.state is TransactionState.COMMITTED


def test_tables_that_are_not_transactional_need_no_transaction(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", pa.table({"a": [1, 2]}))
    assert scan_table(hive, "s", "t").rows.num_rows == 2
    assert hive.metastore.transactions.get_valid_transactions().high_watermark == 0


def test_without_a_lock_there_is_no_transaction(hive: HiveConnector) -> None:
    client = hive.metastore.transactions
    write(client, ORDERS)
    reader = begin(hive, lock=False)
    assert reader.snapshot(ORDERS).write_ids == ValidIds(1)
    assert holders(client) == []
    assert client.get_valid_transactions().high_watermark == 1
    assert not reader.takes_locks


def test_who_holds_the_lock_is_said(impatient: HiveConnector) -> None:
    client = impatient.metastore.transactions
    writer = client.open_transaction("bob", "insert overwrite")
    client.lock(writer, [LockComponent("shop", "orders", "ds=1", LockType.EXCLUSIVE)], "bob", "insert overwrite")
    reader = begin(impatient)
    with pytest.raises(
        MetastoreError, match=r"bob \(transaction 1, insert overwrite\) holds EXCLUSIVE on partition ds=1"
    ):
        reader.snapshot(ORDERS)
    # A request that waits would keep others out.
    assert holders(client) == [("bob", LockState.ACQUIRED)]
    client.commit(writer)
    assert reader.snapshot(ORDERS).write_ids == ALL_VALID


def test_locks_are_waited_for(hive: HiveConnector, tmp_path: Path) -> None:
    """Another process holds the lock until it is killed; then its transaction times out, or it lets go."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from catalog.metastore.embedded.metastore import open_store\n"
        "from catalog.metastore.embedded.transactions import EmbeddedTransactions\n"
        "from catalog.metastore.transactions import LockComponent, LockType\n"
        "client = EmbeddedTransactions(open_store(Path(sys.argv[1])))\n"
        "writer = client.open_transaction('eve', 'drop')\n"
        "client.lock(writer, [LockComponent('shop', 'orders', type=LockType.EXCLUSIVE)], 'eve', 'drop')\n"
        "print('held', flush=True)\n"
        "sys.stdin.readline()\n"
        "client.commit(writer)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "metastore.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        client = hive.metastore.transactions
        reader = begin(hive)
        other.stdin.write("go on\n")
        other.stdin.flush()
        reader.snapshot(ORDERS)
    assert holders(client) == [("test", LockState.ACQUIRED)]


def test_locks_that_are_released_are_acquired_again_and_nothing_new_is_seen(hive: HiveConnector) -> None:
    client = hive.metastore.transactions
    write(client, ORDERS)
    reader = begin(hive)
    before = reader.snapshot(ORDERS)
    reader.release()
    assert holders(client) == []
    write(client, ORDERS)
    assert reader.snapshot(ORDERS) == before
    assert reader.protect(ORDERS, before).write_ids == before.write_ids
    assert holders(client) == [("test", LockState.ACQUIRED)]
    reader.commit()
    assert holders(client) == []


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def beats(client: EmbeddedTransactions) -> list[float]:
    with client._store.read("heartbeats") as connection:
        return [row[0] for row in connection.execute("SELECT heartbeat FROM transactions WHERE state = 'open'")]


def test_heartbeats_keep_a_transaction_alive(tmp_path: Path) -> None:
    clock = Clock()
    client = EmbeddedTransactions(open_store(tmp_path / "metastore.db"), clock)
    heartbeats = Heartbeats(client, 0.01)
    snapshots = StatementSnapshots(client, heartbeats, SnapshotPolicy(True, 1.0, False, "ann", "q"))
    snapshots.snapshot(ORDERS)
    for _ in range(3):
        clock.now += 200  # of the 300 seconds after which a silent transaction is aborted
        until(lambda: beats(client) == [clock.now])
    snapshots.check()
    snapshots.end(commit=True)
    assert client.get_valid_transactions().aborted == ()
    heartbeats.close()


class Unreadable(EmbeddedTransactions):
    """Of a metastore whose certificate is being replaced: the first calls find no file."""

    left = 3

    def heartbeat(self, transaction: int) -> None:
        if self.left:
            self.left -= 1
            raise InvalidPropertyError("hive.metastore.thrift.client.ssl.key names no file")
        super().heartbeat(transaction)

    def timeout_seconds(self) -> float:
        raise InvalidPropertyError("hive.metastore.thrift.client.ssl.key names no file")


def test_heartbeats_go_on_whatever_one_of_them_met(tmp_path: Path) -> None:
    clock = Clock()
    client = Unreadable(open_store(tmp_path / "metastore.db"), clock)
    heartbeats = Heartbeats(client, 0.01)
    transaction = client.open_transaction("ann", "q")
    heartbeats.add(transaction)
    clock.now += 200
    until(lambda: beats(client) == [clock.now])
    heartbeats.close()


def test_a_transaction_that_the_metastore_gave_up_fails_the_statement(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, hive_transaction__heartbeat__interval="10ms")
    client = hive.metastore.transactions
    reader = begin(hive)
    snapshot = reader.snapshot(ORDERS)
    client.abort(client.show_locks("shop", "orders")[0].transaction)

    def code() -> ErrorCode | None:
        try:
            reader.protect(ORDERS, snapshot)
        except MetastoreError as error:
            return error.code
        return None

    until(lambda: code() is not None)
    assert code() == error_codes.HIVE_TRANSACTION_LOST
    with pytest.raises(MetastoreError, match="run the statement again"):
        _ = reader.client
    reader.rollback()
    hive.shutdown()


class Numbering(EmbeddedTransactions):
    """As a metastore of Hive 4, whose compactions are transactions of its own."""

    def known_compactions(self, transactions: ValidTransactions) -> ValidTransactions:
        return transactions


def numbering(folder: Path, *, lock: bool) -> tuple[Numbering, StatementSnapshots]:
    client = Numbering(open_store(folder / "metastore.db"))
    policy = SnapshotPolicy(lock, 1.0, False, "ann", "q")
    return client, StatementSnapshots(client, Heartbeats(client, 60.0), policy)


def test_compactions_after_the_snapshot_are_not_read_while_the_lock_is_held(tmp_path: Path) -> None:
    client, snapshots = numbering(tmp_path, lock=True)
    snapshot = snapshots.snapshot(ORDERS)
    compaction = client.open_transaction("hive", "compactor")
    client.commit(compaction)
    assert not snapshots.protect(ORDERS, snapshot).transactions.is_valid(compaction)
    snapshots.confirm(ORDERS, UnknownIds("/t", running=(compaction,)))


def test_compactions_after_the_snapshot_are_read_where_their_inputs_may_be_gone(tmp_path: Path) -> None:
    client, snapshots = numbering(tmp_path, lock=True)
    snapshot = snapshots.snapshot(ORDERS)
    snapshots.release(failed=False)
    compaction = client.open_transaction("hive", "compactor")
    client.commit(compaction)
    assert snapshots.protect(ORDERS, snapshot).transactions.is_valid(compaction)


def test_without_a_lock_a_compaction_that_ends_while_folders_are_listed_is_noticed(tmp_path: Path) -> None:
    client, snapshots = numbering(tmp_path, lock=False)
    compaction = client.open_transaction("hive", "compactor")
    snapshot = snapshots.protect(ORDERS, snapshots.snapshot(ORDERS))
    assert not snapshot.transactions.is_valid(compaction)
    snapshots.confirm(ORDERS, UnknownIds("/t", running=(compaction,)))
    client.commit(compaction)
    with pytest.raises(FileMissingError, match="read again"):
        snapshots.confirm(ORDERS, UnknownIds("/t", running=(compaction,)))


@pytest.mark.parametrize("lock", [True, False])
def test_folders_that_compactions_of_another_metastore_wrote_are_refused(tmp_path: Path, lock: bool) -> None:
    """Hive passes over them, and shows the table without their rows (HIVE-21213)."""
    client, snapshots = numbering(tmp_path, lock=lock)
    snapshots.protect(ORDERS, snapshots.snapshot(ORDERS))
    newest = client.get_valid_transactions().high_watermark
    with pytest.raises(NotSupportedError, match=rf"_v{newest + 1:07}\), but the metastore's newest transaction is"):
        snapshots.confirm(ORDERS, UnknownIds("/t", running=(newest + 1,)))
    compaction = client.open_transaction("hive", "compactor")
    assert compaction == newest + 1
    snapshots.confirm(ORDERS, UnknownIds("/t", running=(compaction,)))
    snapshots.end(commit=True)


@pytest.mark.parametrize("lock", [True, False])
def test_write_ids_that_another_metastore_gave_out_are_refused(tmp_path: Path, lock: bool) -> None:
    """Hive takes them for later than the snapshot, and shows the table without their rows."""
    client, snapshots = numbering(tmp_path, lock=lock)
    write(client, ORDERS, 3)
    snapshots.protect(ORDERS, snapshots.snapshot(ORDERS))
    snapshots.confirm(ORDERS, UnknownIds("/t", newest=3))
    with pytest.raises(NotSupportedError, match=r"/t holds write id 4, but the highest .* shop\.orders is 3") as caught:
        snapshots.confirm(ORDERS, UnknownIds("/t", newest=4))
    assert caught.value.code == error_codes.HIVE_ACID_LAYOUT
    # A writer of this metastore that came after the snapshot.
    write(client, ORDERS)
    snapshots.confirm(ORDERS, UnknownIds("/t", newest=4))
    snapshots.end(commit=True)


def hive_two(server: HiveMetastoreServer, **properties: str) -> HiveConnector:
    if server.pid is None:
        pytest.skip("the metastore that runs is of another release")
    factory = HiveFactory()
    given = {"hive.metastore.uri": server.uri, **properties}
    typed = parse_properties(factory.config_properties, given, lambda name: name)
    return factory.create("hive", typed, ConnectorContext(SPI_VERSION, "test"))


def test_hive_two_has_no_write_ids(hive_metastore_server: HiveMetastoreServer) -> None:
    hive = hive_two(hive_metastore_server)
    reader = begin(hive)
    with pytest.raises(NotSupportedError, match=r"hive\.assume-committed-write-ids=true"):
        reader.snapshot(ORDERS)
    reader.rollback()
    assert holders(hive.metastore.transactions) == []
    hive.shutdown()


def test_hive_two_is_read_as_all_committed_where_the_user_says_so(hive_metastore_server: HiveMetastoreServer) -> None:
    hive = hive_two(hive_metastore_server, **{"hive.assume-committed-write-ids": "true"})
    reader = begin(hive)
    snapshot = reader.snapshot(ORDERS)
    assert reader.protect(ORDERS, snapshot) == snapshot == AcidSnapshot(ALL_VALID, ALL_VALID)
    assert holders(hive.metastore.transactions) == [("test", LockState.ACQUIRED)]
    reader.commit()
    assert holders(hive.metastore.transactions) == []
    hive.shutdown()
