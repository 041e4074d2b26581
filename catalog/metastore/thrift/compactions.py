"""Compactions over Thrift: asking for them in Hive 3 and later, making them in Hive 4."""

from __future__ import annotations

import socket

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore, ttypes
from catalog.metastore.compactions import (
    Compaction,
    CompactionClient,
    CompactionJob,
    CompactionKind,
    RequestedCompaction,
)
from catalog.metastore.thrift.connections.connection import ThriftConnections
from connector_spi.errors import MetastoreError

__all__ = ["ThriftCompactions"]

# Hive 4 takes none where the files of the one before are not deleted yet.
_PENDING = ("initiated", "working", "ready for cleaning")
_KINDS = {kind.value: kind for kind in CompactionKind}
_VERSION = "lakeport"


class ThriftCompactions(CompactionClient):
    """Compactions of a metastore over Thrift.

    Args:
        connections: The pool, which the client of reads closes.
    """

    def __init__(self, connections: ThriftConnections) -> None:
        self._connections = connections

    def request_compaction(
        self, database: str, table: str, partition: str | None, kind: CompactionKind, pool: str | None = None
    ) -> RequestedCompaction:
        request = ttypes.CompactionRequest(database.lower(), table.lower(), partition, kind.value, poolName=pool)
        answer, why = self._connections.call("compact2", lambda client: _requested(client.compact2(request)))
        if answer.accepted or answer.compaction > 0:
            return answer
        # Hive 4 says it in words alone (CompactFunction).
        for one in self.show_compactions(database, table):
            if one.partition == partition and one.state in _PENDING:
                return RequestedCompaction(one.compaction, one.state, accepted=False)
        raise MetastoreError(f"the metastore has refused the compaction: {why}", error_codes.REFUSED_REQUEST)

    def show_compactions(self, database: str, table: str) -> list[Compaction]:
        name = (database.lower(), table.lower())
        request = ttypes.ShowCompactRequest(*name)

        def ask(client: ThriftHiveMetastore.Client) -> list[Compaction]:
            shown = client.show_compact(request).compacts
            # Hive 3 gives those of all tables.
            return [_compaction(one) for one in shown if (one.dbname.lower(), one.tablename.lower()) == name]

        found = self._connections.call("show_compact", ask)
        return sorted(found, key=lambda one: -one.compaction)

    def take_compaction(self, worker: str, pool: str | None) -> CompactionJob | None:
        request = ttypes.FindNextCompactRequest(worker, _VERSION, pool)
        return self._connections.call("find_next_compact2", lambda client: _job(client.find_next_compact2(request).ci))

    def open_compaction(self, user: str, agent: str) -> int:
        request = ttypes.OpenTxnRequest(1, user, socket.gethostname(), agent, ttypes.TxnType.COMPACTION)
        return self._connections.call("open_txns", lambda client: int(client.open_txns(request).txn_ids[0]))

    def begin_compaction(self, job: CompactionJob, transaction: int) -> None:
        info = _info(job)
        self._connections.call(
            "update_compactor_state", lambda client: client.update_compactor_state(info, transaction)
        )

    def mark_compacted(self, job: CompactionJob) -> None:
        info = _info(job)
        self._connections.call("mark_compacted", lambda client: client.mark_compacted(info))

    def mark_failed(self, job: CompactionJob, why: str) -> None:
        info = _info(job, why)
        self._connections.call("mark_failed", lambda client: client.mark_failed(info))

    def mark_refused(self, job: CompactionJob, why: str) -> None:
        info = _info(job, why)
        self._connections.call("mark_refused", lambda client: client.mark_refused(info))

    def mark_cleaned(self, job: CompactionJob) -> None:
        info = _info(job)
        self._connections.call("mark_cleaned", lambda client: client.mark_cleaned(info))


def _requested(raw: ttypes.CompactionResponse) -> tuple[RequestedCompaction, str]:
    return RequestedCompaction(int(raw.id), raw.state, bool(raw.accepted)), raw.errormessage or raw.state


def _compaction(raw: ttypes.ShowCompactResponseElement) -> Compaction:
    return Compaction(
        compaction=raw.id or 0,
        partition=raw.partitionname or None,
        kind=ttypes.CompactionType._VALUES_TO_NAMES.get(raw.type, str(raw.type)).lower(),
        state=raw.state,
        worker=raw.workerid or None,
        start=raw.start or None,
        end=raw.endTime or None,
        error=raw.errorMessage or None,
        pool=raw.poolName or None,
        transaction=raw.txnId or None,
        # Hive 4.0.1 has the newest one at the commit there (CommitTxnFunction), although the name says the next.
        next_transaction=raw.nextTxnId + 1 if raw.nextTxnId else None,
        committed=raw.commitTime or None,
        highest_write_id=raw.hightestWriteId or raw.hightestTxnId or None,
    )


def _job(raw: ttypes.CompactionInfoStruct | None) -> CompactionJob | None:
    if raw is None:
        return None
    return CompactionJob(
        raw.id,
        raw.dbname.lower(),
        raw.tablename.lower(),
        raw.partitionname or None,
        _KINDS.get(raw.type),
        user=raw.runas or None,
        highest_write_id=raw.highestWriteId or 0,
    )


def _info(job: CompactionJob, error: str | None = None) -> ttypes.CompactionInfoStruct:
    kind = CompactionKind.MAJOR if job.kind is None else job.kind
    return ttypes.CompactionInfoStruct(
        id=job.compaction,
        dbname=job.database,
        tablename=job.table,
        partitionname=job.partition,
        type=kind.value,
        runas=job.user,
        highestWriteId=job.highest_write_id,
        errorMessage=error,
    )
