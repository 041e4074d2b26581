"""``system.run_compaction`` and ``system.run_clean``: compactions without workers of Hive. Driver side."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.compactions import Compaction, CompactionJob, CompactionKind, RequestedCompaction
from catalog.metastore.factory import Metastore
from connector_spi.errors import InvalidArgumentError, MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.compaction.cleaning import CLEAN_ARGUMENTS, CLEAN_RESULT, CompactionCleaner
from connectors.hive.compaction.worker import CompactionResult, CompactionWorker
from connectors.hive.transactions.compactions import request_compaction
from connectors.hive.transactions.heartbeats import Heartbeats
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["CompactionProcedures"]

_OWN_POOL = "lakeport-"
"""Pools that a compaction is alone in, so that no other worker takes it."""
_ARGUMENTS = (
    ProcedureArgument(
        "schema_name", pa.string(), "Schema of the table; without it the compaction that waits longest is made.",
        required=False,
    ),
    ProcedureArgument("table_name", pa.string(), "Name of the table, which is transactional.", required=False),
    ProcedureArgument(
        "partition", pa.string(), "Name of the partition, such as ds=2024-01-01, if there are.", required=False
    ),
    ProcedureArgument(
        "type",
        pa.string(),
        "MINOR: one delta of all deltas; MAJOR: a base without deleted rows.",
        required=False,
        default="MAJOR",
    ),
    ProcedureArgument("pool", pa.string(), "Without a table: only those that wait in this pool.", required=False),
)  # fmt: skip
_RESULT = pa.schema(
    [
        ("compaction", pa.int64()),
        ("schema_name", pa.string()),
        ("table_name", pa.string()),
        ("partition", pa.string()),
        ("type", pa.string()),
        ("state", pa.string()),
        ("reason", pa.string()),
        ("files", pa.int64()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class CompactionProcedures:
    """The procedures, over one metastore.

    Attributes:
        metastore: The metastore.
        files: Storage.
        pages: Reads rows.
        heartbeats: Keeps transactions alive.
        lock_wait: Seconds to wait for a lock.
    """

    metastore: Metastore
    files: FileSystem
    pages: PageSourceProvider
    heartbeats: Heartbeats
    lock_wait: float

    def procedures(self) -> Sequence[Procedure]:
        """All of them."""
        return (
            Procedure(
                "system",
                "run_compaction",
                "Makes a compaction of a transactional table, or the one that waits longest in the metastore's list.",
                arguments=_ARGUMENTS,
                result=_RESULT,
                function=self._run,
            ),
            Procedure(
                "system",
                "run_clean",
                "Deletes what compactions of a transactional table have replaced, and no reader needs any more.",
                arguments=CLEAN_ARGUMENTS,
                result=CLEAN_RESULT,
                function=CompactionCleaner(self.metastore, self.files).clean,
            ),
        )

    def _run(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        worker = f"lakeport-{socket.gethostname()}-{os.getpid()}"
        job = self._named(arguments, worker) if arguments["table_name"] else self._waiting(arguments, worker)
        if job is None:
            return _RESULT.empty_table()
        made = CompactionWorker(
            self.metastore, self.files, self.pages, self.heartbeats, session=session, lock_wait=self.lock_wait
        ).run(job)
        return pa.Table.from_pylist([_row(job, made)], _RESULT)

    def _waiting(self, arguments: Mapping[str, Value | None], worker: str) -> CompactionJob | None:
        if arguments["schema_name"] or arguments["partition"]:
            raise InvalidArgumentError("expected both schema_name and table_name, or neither and no partition")
        self.metastore.writes.check_allowed("make compactions")
        pool = arguments["pool"]
        return _take(self.metastore.transactions, worker, None if pool is None else str(pool))

    def _named(self, arguments: Mapping[str, Value | None], worker: str) -> CompactionJob:
        client, pool = self.metastore.transactions, f"{_OWN_POOL}{uuid.uuid4().hex}"
        # Before something is asked for that no one would make: it finds nothing.
        _take(client, worker, pool)
        asked = request_compaction(self.metastore, arguments, pool)
        name = SchemaTableName(str(arguments["schema_name"]).lower(), str(arguments["table_name"]).lower())
        if not asked.accepted:
            found = _listed(client, name, asked)
            if found.state == "initiated" and found.pool is not None and found.pool.startswith(_OWN_POOL):
                pool = found.pool
            elif _is_abandoned(client, found):
                client.mark_failed(_job_of(name, found), "its worker's transaction has ended")
                asked = request_compaction(self.metastore, arguments, pool)
        job = _take(client, worker, pool)
        if job is None:
            raise MetastoreError(
                f"compaction {asked.compaction} of {name} is {asked.state} already: wait for it; where it is only "
                "initiated, CALL system.run_compaction() with no table makes the one that waits longest; where it is "
                "ready for cleaning, CALL system.run_clean(...)",
                error_codes.HIVE_COMPACTION_FAILED,
            )
        return job


def _take(client: TransactionClient, worker: str, pool: str | None) -> CompactionJob | None:
    try:
        return client.take_compaction(worker, pool)
    except MetastoreError as error:
        if error.code != metastore_codes.NO_SUCH_CALL:
            raise
        raise NotSupportedError(
            f"the metastore has no calls for workers that are not its own ({error.message}): they came with Hive 4; "
            "with Hive 3, system.compact asks Hive's workers"
        ) from error


def _listed(client: TransactionClient, name: SchemaTableName, asked: RequestedCompaction) -> Compaction:
    shown = client.show_compactions(name.schema, name.table)
    found = next((one for one in shown if one.compaction == asked.compaction), None)
    return found or Compaction(asked.compaction, None, "", asked.state)


def _is_abandoned(client: TransactionClient, found: Compaction) -> bool:
    """Whether a compaction cannot be committed any more: the transaction that it was made in has ended."""
    if found.state != "working" or found.transaction is None:
        return False
    return found.transaction not in client.get_valid_transactions().open


def _job_of(name: SchemaTableName, found: Compaction) -> CompactionJob:
    kind = CompactionKind.__members__.get(found.kind.upper())
    return CompactionJob(found.compaction, name.schema, name.table, found.partition, kind)


def _row(job: CompactionJob, made: CompactionResult) -> dict[str, object]:
    return {
        "compaction": job.compaction,
        "schema_name": job.database,
        "table_name": job.table,
        "partition": job.partition,
        "type": None if job.kind is None else job.kind.name.lower(),
        "state": made.state,
        "reason": made.reason,
        "files": made.files,
        "rows": made.rows,
        "bytes": made.size,
    }
