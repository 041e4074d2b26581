"""The list of compactions, and what workers and cleaners say: embedded, and over Thrift as of Hive 4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ttypes
from catalog.metastore.client import TransactionClient
from catalog.metastore.compactions import Compaction, CompactionJob, CompactionKind, RequestedCompaction
from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.embedded.metastore import open_store
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.model import Database, Table
from catalog.metastore.testing.objects import STORAGE
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.metastore.transactions import ValidTransactions
from connector_spi.errors import MetastoreError
from tests.catalog.metastore.test_transactions import HiveThree
from tests.catalog.metastore.thrift.loopback import serving, speak_thrift

_FIRST = 2**40


class HiveFour(HiveThree):
    """What a metastore of Hive 4 answers."""

    def open_txns(self, rqst: ttypes.OpenTxnRequest) -> ttypes.OpenTxnsResponse:
        if rqst.txn_type == ttypes.TxnType.COMPACTION:
            return ttypes.OpenTxnsResponse([self.kept.open_compaction(rqst.user, rqst.agentInfo)])
        return super().open_txns(rqst)

    def compact2(self, rqst: ttypes.CompactionRequest) -> ttypes.CompactionResponse:
        kind = CompactionKind(rqst.type)
        made = self.kept.request_compaction(rqst.dbname, rqst.tablename, rqst.partitionname, kind, rqst.poolName)
        if made.accepted:
            return ttypes.CompactionResponse(made.compaction, made.state, True)
        return ttypes.CompactionResponse(-1, "refused", False, "there is one already")

    def show_compact(self, rqst: ttypes.ShowCompactRequest) -> ttypes.ShowCompactResponse:
        return ttypes.ShowCompactResponse(
            [
                ttypes.ShowCompactResponseElement(
                    dbname=rqst.dbName,
                    tablename=rqst.tbName,
                    partitionname=one.partition,
                    type=CompactionKind[one.kind.upper()].value,
                    state=one.state,
                    workerid=one.worker,
                    start=one.start,
                    endTime=one.end,
                    id=one.compaction,
                    errorMessage=one.error,
                    poolName=one.pool,
                    nextTxnId=one.next_transaction and one.next_transaction - 1,
                    txnId=one.transaction,
                    commitTime=one.committed,
                    hightestTxnId=one.highest_write_id,
                )
                for one in self.kept.show_compactions(rqst.dbName, rqst.tbName)
            ]
        )

    def find_next_compact2(self, rqst: ttypes.FindNextCompactRequest) -> ttypes.OptionalCompactionInfoStruct:
        job = self.kept.take_compaction(rqst.workerId, rqst.poolName)
        if job is None:
            return ttypes.OptionalCompactionInfoStruct()
        assert job.kind is not None
        info = ttypes.CompactionInfoStruct(job.compaction, job.database, job.table, job.partition, job.kind.value)
        return ttypes.OptionalCompactionInfoStruct(info)

    def update_compactor_state(self, cr: ttypes.CompactionInfoStruct, txn_id: int) -> None:
        self.kept.begin_compaction(_job(cr), txn_id)

    def mark_compacted(self, cr: ttypes.CompactionInfoStruct) -> None:
        self.kept.mark_compacted(_job(cr))

    def mark_cleaned(self, cr: ttypes.CompactionInfoStruct) -> None:
        self.kept.mark_cleaned(_job(cr))

    def mark_failed(self, cr: ttypes.CompactionInfoStruct) -> None:
        self.kept.mark_failed(_job(cr), cr.errorMessage)

    def mark_refused(self, cr: ttypes.CompactionInfoStruct) -> None:
        self.kept.mark_refused(_job(cr), cr.errorMessage)


def _job(cr: ttypes.CompactionInfoStruct) -> CompactionJob:
    kind = CompactionKind(cr.type)
    return CompactionJob(cr.id, cr.dbname, cr.tablename, cr.partitionname, kind, cr.runas, cr.highestWriteId)


@pytest.fixture(params=["embedded", "thrift"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TransactionClient]:
    store = open_store(tmp_path / "metastore.db")
    kept = EmbeddedTransactions(store, lambda: 1000.0)
    if request.param == "embedded":
        yield kept
    else:
        with serving(speak_thrift(HiveFour(kept), newer=True)) as uri:
            over = connect_thrift(ThriftConfig(uri=uri))
            yield over.transactions
            over.close()
    store.close()


def test_a_compaction_from_the_request_to_the_end(client: TransactionClient) -> None:
    assert client.take_compaction("w", None) is None
    asked = client.request_compaction("D", "T", "p=1", CompactionKind.MINOR)
    assert asked == RequestedCompaction(1, "initiated", accepted=True)
    again = client.request_compaction("d", "t", "p=1", CompactionKind.MAJOR)
    assert again == RequestedCompaction(1, "initiated", accepted=False)
    job = client.take_compaction("w", None)
    assert job == CompactionJob(1, "d", "t", "p=1", CompactionKind.MINOR)
    assert client.take_compaction("other", None) is None
    transaction = client.open_compaction("ann", "agent")
    assert client.get_valid_transactions().open == (transaction,)
    job = replace(job, highest_write_id=7)
    client.begin_compaction(job, transaction)
    shown = Compaction(1, "p=1", "minor", "working", "w", 1_000_000, transaction=transaction, highest_write_id=7)
    assert client.show_compactions("d", "t") == [shown]
    client.mark_compacted(job)
    later = client.open_transaction("ann", "reader")
    client.commit(transaction)
    shown = replace(shown, state="ready for cleaning", next_transaction=later + 1, committed=1_000_000)
    assert client.show_compactions("d", "t") == [shown]
    client.mark_cleaned(job)
    assert client.show_compactions("d", "t") == [replace(shown, state="succeeded", end=1_000_000)]
    assert client.request_compaction("d", "t", "p=1", CompactionKind.MAJOR).accepted is True


@pytest.mark.parametrize("state", ["failed", "refused"])
def test_one_that_is_not_made(client: TransactionClient, state: str) -> None:
    client.request_compaction("d", "t", None, CompactionKind.MAJOR)
    job = client.take_compaction("w", None)
    assert job is not None
    (client.mark_failed if state == "failed" else client.mark_refused)(job, "because")
    [shown] = client.show_compactions("d", "t")
    assert (shown.state, shown.error, shown.end) == (state, "because", 1_000_000)
    assert client.take_compaction("w", None) is None


def test_pools_are_apart(client: TransactionClient) -> None:
    for table, pool in (("a", "own"), ("b", None), ("c", "own")):
        client.request_compaction("d", table, None, CompactionKind.MAJOR, pool)
    taken = [client.take_compaction("w", pool) for pool in (None, None, "own", "own", "own", "none")]
    assert [one and one.table for one in taken] == ["b", None, "a", "c", None, None]


def test_transactions_of_compactions_have_numbers_of_their_own(tmp_path: Path) -> None:
    """Directories that Hive has compacted count as committed, whatever the number."""
    kept = EmbeddedTransactions(open_store(tmp_path / "metastore.db"))
    first = kept.open_transaction("ann", "writer")
    assert kept.known_compactions(kept.get_valid_transactions()) == ValidTransactions(_FIRST - 1)
    transactions = [kept.open_compaction("ann", "worker") for _ in range(3)]
    assert (first, transactions) == (1, [_FIRST, _FIRST + 1, _FIRST + 2])
    kept.commit(_FIRST)
    kept.abort(_FIRST + 1)
    known = kept.known_compactions(kept.get_valid_transactions())
    assert known == ValidTransactions(_FIRST + 2, (_FIRST + 2,), (_FIRST + 1,), _FIRST + 2)
    assert [one for one in (5, 999, *transactions) if known.is_valid(one)] == [5, 999, _FIRST]


def test_a_compaction_that_is_not_there(tmp_path: Path) -> None:
    kept = EmbeddedTransactions(open_store(tmp_path / "metastore.db"))
    with pytest.raises(MetastoreError, match="no compaction 5") as raised:
        kept.mark_compacted(CompactionJob(5, "d", "t", None, CompactionKind.MAJOR))
    assert raised.value.code == error_codes.REFUSED_REQUEST


def test_the_list_goes_with_its_table(tmp_path: Path) -> None:
    metastore = open_embedded(tmp_path / "metastore.db")
    metastore.writes.create_database(Database("d"))
    metastore.writes.create_table(Table("d", "t", STORAGE))
    metastore.transactions.request_compaction("d", "t", None, CompactionKind.MAJOR)
    metastore.writes.alter_table("d", "t", Table("d", "u", STORAGE))
    assert [len(metastore.transactions.show_compactions("d", name)) for name in "tu"] == [0, 1]
    metastore.writes.drop_table("d", "u")
    assert metastore.transactions.show_compactions("d", "u") == []
    metastore.close()
