"""Transactions, write ids and locks over Thrift, for Hive 3 and later."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore, ttypes
from catalog.metastore.client import TransactionClient
from catalog.metastore.thrift.compactions import ThriftCompactions
from catalog.metastore.thrift.connections.connection import ThriftConnections
from catalog.metastore.transactions import (
    NO_MINIMUM,
    HeldLock,
    LockComponent,
    LockedObject,
    LockOperation,
    LockState,
    LockType,
    ValidTransactions,
    ValidWriteIds,
)
from connector_spi.errors import MetastoreError, NotSupportedError

__all__ = ["ThriftTransactions"]

# Hive calls its settings metastore.* or hive.*, by release; a number without a unit is seconds (MetastoreConf).
_TIMEOUT_SETTINGS = ("metastore.txn.timeout", "hive.txn.timeout")
_TIMEOUT_SECONDS = 300.0
_UNITS = {"": 1.0, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(r"\s*(\d+)\s*([a-z]*)\s*")


class ThriftTransactions(ThriftCompactions, TransactionClient):
    """Transactions of a metastore over Thrift.

    Args:
        connections: The pool, which the client of reads closes.
    """

    def __init__(self, connections: ThriftConnections) -> None:
        super().__init__(connections)

    def open_transaction(self, user: str, agent: str) -> int:
        request = ttypes.OpenTxnRequest(1, user, socket.gethostname(), agent)
        return self._connections.call("open_txns", lambda client: int(client.open_txns(request).txn_ids[0]))

    def commit(self, transaction: int) -> None:
        # Hive 4 takes it that writers of the same rows have locked each other out, by locks that Hive 3 does not have,
        # and compares nothing; so a flag says not to. Hive 3 always compares, and passes over the field.
        request = ttypes.CommitTxnRequest(transaction, exclWriteEnabled=False)
        self._connections.call("commit_txn", lambda client: client.commit_txn(request))

    def abort(self, transaction: int) -> None:
        request = ttypes.AbortTxnRequest(transaction)
        self._connections.call("abort_txn", lambda client: client.abort_txn(request))

    def get_valid_transactions(self, current: int = 0) -> ValidTransactions:
        return self._connections.call("get_open_txns", lambda client: _valid(client.get_open_txns(), current))

    def get_valid_write_ids(
        self, tables: Sequence[tuple[str, str]], transactions: ValidTransactions
    ) -> list[ValidWriteIds]:
        names = [f"{database}.{table}".lower() for database, table in tables]
        request = ttypes.GetValidWriteIdsRequest(names, transactions.to_text())

        def ask(client: ThriftHiveMetastore.Client) -> list[ValidWriteIds]:
            found = {one.fullTableName.lower(): one for one in client.get_valid_write_ids(request).tblValidWriteIds}
            return [_write_ids(name, found[name]) for name in names]

        return self._connections.call("get_valid_write_ids", ask)

    def allocate_write_ids(self, transactions: Sequence[int], database: str, table: str) -> Mapping[int, int]:
        request = ttypes.AllocateTableWriteIdsRequest(database.lower(), table.lower(), list(transactions))
        return self._connections.call(
            "allocate_table_write_ids",
            lambda client: {
                pair.txnId: pair.writeId for pair in client.allocate_table_write_ids(request).txnToWriteIds
            },
        )

    def add_dynamic_partitions(
        self,
        transaction: int,
        write_id: int,
        table: tuple[str, str],
        partitions: Sequence[str],
        operation: LockOperation = LockOperation.INSERT,
    ) -> None:
        request = ttypes.AddDynamicPartitions(
            txnid=transaction,
            writeid=write_id,
            dbname=table[0].lower(),
            tablename=table[1].lower(),
            partitionnames=list(partitions),
            operationType=operation.value,
        )
        self._connections.call("add_dynamic_partitions", lambda client: client.add_dynamic_partitions(request))

    def lock(self, transaction: int, components: Sequence[LockComponent], user: str, agent: str) -> LockedObject:
        wanted = [_component(component) for component in components]
        request = ttypes.LockRequest(wanted, transaction, user, socket.gethostname(), agent)
        return self._connections.call("lock", lambda client: _locked(client.lock(request)))

    def check_lock(self, lock: int, transaction: int) -> LockedObject:
        request = ttypes.CheckLockRequest(lock, transaction)
        return self._connections.call("check_lock", lambda client: _locked(client.check_lock(request)))

    def unlock(self, lock: int) -> None:
        request = ttypes.UnlockRequest(lock)
        self._connections.call("unlock", lambda client: client.unlock(request))

    def heartbeat(self, transaction: int) -> None:
        request = ttypes.HeartbeatRequest(txnid=transaction)
        self._connections.call("heartbeat", lambda client: client.heartbeat(request))

    def show_locks(self, database: str, table: str) -> list[HeldLock]:
        request = ttypes.ShowLocksRequest(database.lower())
        found = self._connections.call(
            "show_locks", lambda client: [(raw.dbname.lower(), _held(raw)) for raw in client.show_locks(request).locks]
        )
        # Hive 2 gives the locks of everything, whatever it is asked for.
        shown = [lock for within, lock in found if within == database.lower()]
        return [lock for lock in shown if lock.table in (None, table.lower())]

    def timeout_seconds(self) -> float:
        for setting in _TIMEOUT_SETTINGS:
            text = self._setting(setting)
            match = _DURATION.fullmatch(text.lower())
            if match is not None and match[2] in _UNITS and int(match[1]) > 0:
                return int(match[1]) * _UNITS[match[2]]
        return _TIMEOUT_SECONDS

    def _setting(self, name: str) -> str:
        try:
            return self._connections.call("get_config_value", lambda client: client.get_config_value(name, "")) or ""
        except MetastoreError as error:
            # A server may keep its settings to itself.
            if error.code in (error_codes.REFUSED_REQUEST, error_codes.NO_SUCH_CALL):
                return ""
            raise


def _valid(answer: ttypes.GetOpenTxnsResponse, current: int) -> ValidTransactions:
    if answer.open_txns is None or answer.abortedBits is None:
        raise NotSupportedError(
            "the metastore is of Hive 2 or older, which has no write ids; transactional tables need Hive 3",
            error_codes.NO_WRITE_IDS,
        )
    high_watermark = answer.txn_high_water_mark
    still_open, aborted = _split(answer.open_txns, answer.abortedBits)
    if current:
        high_watermark = min(current, high_watermark)
        still_open = tuple(one for one in still_open if one < current)
        aborted = tuple(one for one in aborted if one < current)
    minimum = NO_MINIMUM if answer.min_open_txn is None else answer.min_open_txn
    return ValidTransactions(high_watermark, still_open, aborted, minimum)


def _write_ids(name: str, raw: ttypes.TableValidWriteIds) -> ValidWriteIds:
    still_open, aborted = _split(raw.invalidWriteIds, raw.abortedBits)
    minimum = NO_MINIMUM if raw.minOpenWriteId is None else raw.minOpenWriteId
    return ValidWriteIds(name, raw.writeIdHighWaterMark, still_open, aborted, minimum)


def _split(ids: Sequence[int], aborted_bits: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Open and aborted ids, separated by the bit at each id's position (java.util.BitSet.toByteArray)."""
    flags = int.from_bytes(aborted_bits, "little")
    still_open = sorted(one for position, one in enumerate(ids) if not flags >> position & 1)
    aborted = sorted(one for position, one in enumerate(ids) if flags >> position & 1)
    return tuple(still_open), tuple(aborted)


def _component(component: LockComponent) -> ttypes.LockComponent:
    return ttypes.LockComponent(
        type=component.type.value,
        level=component.level.value,
        dbname=component.database.lower(),
        tablename=component.table.lower() if component.table else None,
        partitionname=component.partition,
        operationType=component.operation.value,
        isTransactional=component.transactional,
        isDynamicPartitionWrite=component.dynamic_partitions,
    )


def _locked(raw: ttypes.LockResponse) -> LockedObject:
    return LockedObject(raw.lockid, LockState(raw.state))


def _held(raw: ttypes.ShowLocksResponseElement) -> HeldLock:
    return HeldLock(
        lock=raw.lockid,
        transaction=raw.txnid or 0,
        database=raw.dbname.lower(),
        table=raw.tablename.lower() if raw.tablename else None,
        partition=raw.partname,
        type=LockType(raw.type),
        state=LockState(raw.state),
        user=raw.user,
        host=raw.hostname,
        agent=raw.agentInfo or "",
    )
