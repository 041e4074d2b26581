"""Transactions, write ids and locks: the embedded metastore, and ours over Thrift to a server with others' bindings.

The server on loopback answers through pymetastore's bindings, and keeps its transactions in an embedded metastore.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest
from pymetastore.hive_metastore import ttypes

from catalog.metastore import error_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.compactions import Compaction, CompactionKind, RequestedCompaction
from catalog.metastore.embedded.metastore import open_store
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.metastore.transactions import (
    NO_MINIMUM,
    LockComponent,
    LockOperation,
    LockState,
    LockType,
    ValidTransactions,
    ValidWriteIds,
)
from connector_spi.errors import MetastoreError, NotSupportedError
from tests.catalog.metastore.thrift.loopback import serving, speak_thrift


class HiveThree:
    """What a metastore of Hive 3 answers, in the words of its Thrift, out of an embedded metastore."""

    def __init__(self, kept: EmbeddedTransactions) -> None:
        self.kept = kept
        self.compactions: list[ttypes.ShowCompactResponseElement] = []
        self.states: list[str] = []
        """What the compactions become, one after the other, each time that someone has looked."""

    def set_ugi(self, user_name: str, group_names: list[str]) -> list[str]:
        return group_names

    def open_txns(self, rqst: ttypes.OpenTxnRequest) -> ttypes.OpenTxnsResponse:
        opened = [self.kept.open_transaction(rqst.user, rqst.agentInfo) for _ in range(rqst.num_txns)]
        return ttypes.OpenTxnsResponse(opened)

    def commit_txn(self, rqst: ttypes.CommitTxnRequest) -> None:
        self._ended(lambda: self.kept.commit(rqst.txnid))

    def abort_txn(self, rqst: ttypes.AbortTxnRequest) -> None:
        self._ended(lambda: self.kept.abort(rqst.txnid))

    def heartbeat(self, ids: ttypes.HeartbeatRequest) -> None:
        self._ended(lambda: self.kept.heartbeat(ids.txnid))

    def get_open_txns(self) -> ttypes.GetOpenTxnsResponse:
        found = self.kept.get_valid_transactions()
        listed, bits = _listed(found.open, found.aborted)
        minimum = None if found.minimum_open == NO_MINIMUM else found.minimum_open
        return ttypes.GetOpenTxnsResponse(found.high_watermark, listed, minimum, bits)

    def get_valid_write_ids(self, rqst: ttypes.GetValidWriteIdsRequest) -> ttypes.GetValidWriteIdsResponse:
        high, minimum, still_open, aborted = rqst.validTxnList.split(":")
        known = ValidTransactions(int(high), _ids(still_open), _ids(aborted), int(minimum))
        answers = []
        for name in rqst.fullTableNames:
            database, table = name.split(".")
            (found,) = self.kept.get_valid_write_ids([(database, table)], known)
            listed, bits = _listed(found.open, found.aborted)
            lowest = None if found.minimum_open == NO_MINIMUM else found.minimum_open
            answers.append(ttypes.TableValidWriteIds(name, found.high_watermark, listed, lowest, bits))
        # A metastore promises no order.
        return ttypes.GetValidWriteIdsResponse(answers[::-1])

    def allocate_table_write_ids(
        self, rqst: ttypes.AllocateTableWriteIdsRequest
    ) -> ttypes.AllocateTableWriteIdsResponse:
        given = self.kept.allocate_write_ids(rqst.txnIds, rqst.dbName, rqst.tableName)
        return ttypes.AllocateTableWriteIdsResponse([ttypes.TxnToWriteId(*pair) for pair in given.items()])

    def add_dynamic_partitions(self, rqst: ttypes.AddDynamicPartitions) -> None:
        table, operation = (rqst.dbname, rqst.tablename), LockOperation(rqst.operationType)
        self._ended(
            lambda: self.kept.add_dynamic_partitions(rqst.txnid, rqst.writeid, table, rqst.partitionnames, operation)
        )

    def lock(self, rqst: ttypes.LockRequest) -> ttypes.LockResponse:
        components = [
            LockComponent(
                database=c.dbname,
                table=c.tablename,
                partition=c.partitionname,
                type=LockType(c.type),
                operation=LockOperation(c.operationType),
                dynamic_partitions=c.isDynamicPartitionWrite,
            )
            for c in rqst.component
        ]
        assert [c.level.value for c in components] == [c.level for c in rqst.component]
        given = self.kept.lock(rqst.txnid, components, rqst.user, rqst.agentInfo)
        return ttypes.LockResponse(given.lock, given.state.value)

    def check_lock(self, rqst: ttypes.CheckLockRequest) -> ttypes.LockResponse:
        given = self.kept.check_lock(rqst.lockid, rqst.txnid)
        return ttypes.LockResponse(given.lock, given.state.value)

    def unlock(self, rqst: ttypes.UnlockRequest) -> None:
        try:
            self.kept.unlock(rqst.lockid)
        except MetastoreError as error:
            raise ttypes.NoSuchLockException(error.message) from error

    def compact2(self, rqst: ttypes.CompactionRequest) -> ttypes.CompactionResponse:
        for one in self.compactions:
            same = (one.dbname, one.tablename, one.partitionname) == (rqst.dbname, rqst.tablename, rqst.partitionname)
            if same and one.state in ("initiated", "working"):
                return ttypes.CompactionResponse(one.id, one.state, False)
        made = ttypes.ShowCompactResponseElement(
            rqst.dbname, rqst.tablename, rqst.partitionname, rqst.type, "initiated", id=len(self.compactions) + 1
        )
        self.compactions.append(made)
        return ttypes.CompactionResponse(made.id, made.state, True)

    def show_compact(self, rqst: ttypes.ShowCompactRequest) -> ttypes.ShowCompactResponse:
        # Hive 3 gives those of all tables, whatever it is asked for.
        shown = [copy(one) for one in self.compactions]
        for one in self.compactions:
            one.state = self.states.pop(0) if self.states else one.state
        return ttypes.ShowCompactResponse(shown)

    def _ended(self, call: object) -> None:
        try:
            assert callable(call)
            call()
        except MetastoreError as error:
            raise ttypes.NoSuchTxnException(error.message) from error


def _listed(still_open: tuple[int, ...], aborted: tuple[int, ...]) -> tuple[list[int], bytes]:
    """A list with java.util.BitSet's bytes, lowest bit first, that say which are aborted."""
    listed = sorted((*still_open, *aborted))
    bits = bytearray((len(listed) + 7) // 8)
    for place, one in enumerate(listed):
        if one in aborted:
            bits[place // 8] |= 1 << place % 8
    return listed, bytes(bits).rstrip(b"\0")


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def embedded(tmp_path: Path, clock: Clock) -> Iterator[EmbeddedTransactions]:
    store = open_store(tmp_path / "metastore.db")
    yield EmbeddedTransactions(store, clock)
    store.close()


@pytest.fixture(params=["embedded", "thrift"])
def transactions(request: pytest.FixtureRequest, embedded: EmbeddedTransactions) -> Iterator[TransactionClient]:
    if request.param == "embedded":
        yield embedded
        return
    with serving(speak_thrift(HiveThree(embedded))) as uri:
        metastore = connect_thrift(ThriftConfig(uri=uri))
        yield metastore.transactions
        metastore.close()


def _open(transactions: TransactionClient) -> int:
    return transactions.open_transaction("ann", "query 1")


def test_open_and_aborted_transactions_are_not_valid(transactions: TransactionClient) -> None:
    first, second, third = (_open(transactions) for _ in range(3))
    assert first < second < third
    transactions.commit(first)
    transactions.abort(second)
    valid = transactions.get_valid_transactions()
    assert valid == ValidTransactions(third, (third,), (second,), third)
    assert [valid.is_valid(one) for one in (first, second, third, third + 1)] == [True, False, False, False]
    own = transactions.get_valid_transactions(third)
    assert (own.high_watermark, own.open, own.aborted) == (third, (), (second,))


def test_many_aborted_among_open_ones_are_told_apart(transactions: TransactionClient) -> None:
    opened = [_open(transactions) for _ in range(21)]
    aborted = (opened[0], opened[7], opened[8], opened[17])
    for one in aborted:
        transactions.abort(one)
    valid = transactions.get_valid_transactions()
    assert valid.aborted == aborted
    assert valid.open == tuple(one for one in opened if one not in aborted)


def test_an_ended_transaction_takes_no_more_calls(transactions: TransactionClient) -> None:
    transaction = _open(transactions)
    transactions.add_dynamic_partitions(transaction, 1, ("d", "t"), ["p=1"])
    transactions.commit(transaction)

    def add_dynamic_partitions(ended: int) -> None:
        transactions.add_dynamic_partitions(ended, 1, ("d", "t"), ["p=1"])

    for call in (transactions.commit, transactions.abort, transactions.heartbeat, add_dynamic_partitions):
        with pytest.raises(MetastoreError) as raised:
            call(transaction)
        assert raised.value.code == error_codes.TRANSACTION_ENDED


def test_write_ids_follow_their_transactions(transactions: TransactionClient) -> None:
    first, second, third, late = (_open(transactions) for _ in range(4))
    assert transactions.allocate_write_ids([second, first], "D", "T") == {first: 1, second: 2}
    assert transactions.allocate_write_ids([first], "d", "t") == {first: 1}
    assert transactions.allocate_write_ids([third], "d", "t") == {third: 3}
    assert transactions.allocate_write_ids([third], "d", "other") == {third: 1}
    transactions.commit(first)
    transactions.abort(second)
    seen = transactions.get_valid_transactions()
    found = transactions.get_valid_write_ids([("d", "t"), ("D", "OTHER")], seen)
    assert found == [ValidWriteIds("d.t", 3, (3,), (2,), 3), ValidWriteIds("d.other", 1, (1,), (), 1)]
    # What is committed or begun after the list was made does not change what it lets see.
    transactions.commit(third)
    newest = _open(transactions)
    transactions.allocate_write_ids([newest], "d", "t")
    transactions.commit(newest)
    assert transactions.get_valid_write_ids([("d", "t")], seen) == found[:1]
    now = transactions.get_valid_transactions(late)
    assert transactions.get_valid_write_ids([("d", "t")], now)[0] == ValidWriteIds("d.t", 3, (), (2,))


def test_locks_wait_for_each_other(transactions: TransactionClient) -> None:
    reader, writer, third = (_open(transactions) for _ in range(3))
    read = LockComponent("d", "t", "p=1")
    held = transactions.lock(reader, [read], "ann", "q")
    assert held.state is LockState.ACQUIRED
    drop = replace(read, partition=None, type=LockType.EXCLUSIVE)
    waiting = transactions.lock(writer, [drop], "bob", "q")
    assert waiting.state is LockState.WAITING
    other_table = replace(drop, table="u")
    assert transactions.lock(third, [other_table], "eve", "q").state is LockState.ACQUIRED
    # Whoever comes after one that waits, waits behind it.
    behind = transactions.lock(third, [read], "eve", "q")
    assert behind.state is LockState.WAITING
    transactions.commit(reader)
    assert transactions.check_lock(waiting.lock, writer).state is LockState.ACQUIRED
    assert transactions.check_lock(behind.lock, third).state is LockState.WAITING
    transactions.abort(writer)
    assert transactions.check_lock(behind.lock, third).state is LockState.ACQUIRED


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (LockType.SHARED_READ, LockType.SHARED_READ, True),
        (LockType.SHARED_READ, LockType.SHARED_WRITE, True),
        (LockType.SHARED_WRITE, LockType.SHARED_READ, True),
        (LockType.SHARED_WRITE, LockType.SHARED_WRITE, False),
        (LockType.SHARED_READ, LockType.EXCLUSIVE, False),
        (LockType.EXCLUSIVE, LockType.SHARED_READ, False),
    ],
)
def test_kinds_of_locks(embedded: EmbeddedTransactions, first: LockType, second: LockType, together: bool) -> None:
    for kind, state in ((first, True), (second, together)):
        given = embedded.lock(_open(embedded), [LockComponent("d", "t", type=kind)], "ann", "q")
        assert (given.state is LockState.ACQUIRED) is state


def test_unlocking_is_not_for_locks_of_transactions(transactions: TransactionClient) -> None:
    held = transactions.lock(_open(transactions), [LockComponent("d")], "ann", "q")
    for lock in (held.lock, held.lock + 1):
        with pytest.raises(MetastoreError):
            transactions.unlock(lock)


def test_a_silent_transaction_is_aborted(embedded: EmbeddedTransactions, clock: Clock) -> None:
    silent, alive = _open(embedded), _open(embedded)
    embedded.lock(silent, [LockComponent("d", "t", type=LockType.EXCLUSIVE)], "ann", "q")
    clock.now += 200
    embedded.heartbeat(alive)
    clock.now += 200
    assert embedded.get_valid_transactions().aborted == (silent,)
    assert embedded.lock(alive, [LockComponent("d", "t")], "bob", "q").state is LockState.ACQUIRED
    with pytest.raises(MetastoreError):
        embedded.heartbeat(silent)


def test_write_ids_of_another_metastore_are_kept(embedded: EmbeddedTransactions) -> None:
    unknown = embedded.get_valid_write_ids([("d", "t")], embedded.get_valid_transactions())[0]
    assert unknown == ValidWriteIds("d.t", 2**63 - 1)
    written = ValidWriteIds("d.t", 10_000_003, (10_000_002,), (1, 10_000_003), 10_000_002)
    embedded.record_write_ids(written)
    assert embedded.get_valid_write_ids([("d", "t")], embedded.get_valid_transactions())[0] == written
    with pytest.raises(MetastoreError, match="recorded already"):
        embedded.record_write_ids(written)
    transaction = _open(embedded)
    assert embedded.allocate_write_ids([transaction], "d", "t") == {transaction: 10_000_004}


def test_many_threads_get_ids_of_their_own(transactions: TransactionClient) -> None:
    given: list[int] = []

    def write() -> None:
        for _ in range(5):
            transaction = _open(transactions)
            given.extend(transactions.allocate_write_ids([transaction], "d", "t").values())
            transactions.commit(transaction)

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given) == list(range(1, 31))


def test_compactions_are_asked_for_and_shown(embedded: EmbeddedTransactions) -> None:
    server = HiveThree(embedded)
    with serving(speak_thrift(server)) as uri:
        metastore = connect_thrift(ThriftConfig(uri=uri))
        client = metastore.transactions
        assert client.request_compaction("D", "T", None, CompactionKind.MAJOR) == RequestedCompaction(
            1, "initiated", accepted=True
        )
        again = client.request_compaction("d", "t", None, CompactionKind.MINOR)
        assert again == RequestedCompaction(1, "initiated", accepted=False)
        client.request_compaction("d", "other", "p=1", CompactionKind.MINOR)
        server.compactions[0].state, server.compactions[0].workerid, server.compactions[0].start = "working", "w1", 5000
        client.request_compaction("d", "other", "p=2", CompactionKind.MINOR)
        assert client.show_compactions("D", "T") == [Compaction(1, None, "major", "working", "w1", 5000)]
        assert [one.partition for one in client.show_compactions("d", "other")] == ["p=2", "p=1"]
        metastore.close()


class HiveFour(HiveThree):
    """Hive 4 does not say in fields which compaction is in the way."""

    def compact2(self, rqst: ttypes.CompactionRequest) -> ttypes.CompactionResponse:
        answer = super().compact2(rqst)
        if rqst.tablename == "refused":
            self.compactions.clear()
        elif answer.accepted:
            return answer
        return ttypes.CompactionResponse(-1, "refused", False)


def test_hive_four_is_asked_which_compaction_is_in_the_way(embedded: EmbeddedTransactions) -> None:
    with serving(speak_thrift(HiveFour(embedded))) as uri:
        metastore = connect_thrift(ThriftConfig(uri=uri))
        client = metastore.transactions
        for partition in ("p=1", "p=2"):
            assert client.request_compaction("d", "t", partition, CompactionKind.MAJOR).accepted
        again = client.request_compaction("d", "t", "p=1", CompactionKind.MINOR)
        assert again == RequestedCompaction(1, "initiated", accepted=False)
        with pytest.raises(MetastoreError, match="has refused the compaction") as raised:
            client.request_compaction("d", "refused", None, CompactionKind.MAJOR)
        assert raised.value.code == error_codes.REFUSED_REQUEST
        metastore.close()


class HiveTwo(HiveThree):
    """Hive 2 sends its open transactions as a set, and tells none apart as aborted."""

    def get_open_txns(self) -> ttypes.GetOpenTxnsResponse:
        return ttypes.GetOpenTxnsResponse(5, None, None, None)


def test_hive_two_is_refused_by_name(embedded: EmbeddedTransactions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ttypes.GetOpenTxnsResponse, "validate", lambda _: None)
    with serving(speak_thrift(HiveTwo(embedded))) as uri:
        metastore = connect_thrift(ThriftConfig(uri=uri))
        with pytest.raises(NotSupportedError, match="Hive 3"):
            metastore.transactions.get_valid_transactions()
        metastore.close()
