"""Makes one compaction by the metastore's protocol, as Hive's ``Worker`` does."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, replace

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.compactions import CompactionJob
from catalog.metastore.factory import Metastore
from catalog.metastore.transactions import NO_MINIMUM, LockComponent, ValidTransactions, ValidWriteIds
from connector_spi.errors import ConnectorError, MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.page_source import PageSourceProvider
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.acid.directories.unknown_ids import UnknownIds
from connectors.hive.acid.valid_ids import MAX_ID, AcidSnapshot, ValidIds
from connectors.hive.compaction.full_acid import compact_rows
from connectors.hive.compaction.insert_only import copy_files
from connectors.hive.compaction.output import CompactedFiles
from connectors.hive.compaction.plan import CompactionPlan, list_for_compaction, plan_compaction
from connectors.hive.compaction.sources import TableSources
from connectors.hive.compaction.targets import CompactionTarget
from connectors.hive.transactions.heartbeats import Heartbeat, Heartbeats
from connectors.hive.transactions.locks import TableLocks
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["CompactionResult", "CompactionWorker"]

_NOTHING = "there are not enough directories to merge"


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What became of a compaction.

    Attributes:
        state: Hive's word.
        reason: Why nothing was made; ``None`` where something was.
        files: Files that were written.
        rows: Rows and delete events in them; ``None`` where files were copied.
        size: Bytes of them.
    """

    state: str
    reason: str | None = None
    files: int = 0
    rows: int | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class CompactionWorker:
    """Makes compactions that were taken from the metastore's list.

    Attributes:
        metastore: The metastore.
        files: Storage.
        pages: Reads rows.
        heartbeats: Keeps transactions alive.
        session: In whose name, and with which settings.
        lock_wait: Seconds to wait for a lock.
    """

    metastore: Metastore
    files: FileSystem
    pages: PageSourceProvider
    heartbeats: Heartbeats
    session: ConnectorSession
    lock_wait: float

    def run(self, job: CompactionJob) -> CompactionResult:
        """Makes a compaction that is this worker's.

        Raises:
            ConnectorError: It has failed: nothing of it is visible, and the metastore shows why.
        """
        client = self.metastore.transactions
        try:
            target = self._target(job)
            transaction = client.open_compaction(job.user or self.session.user, f"lakeport {self.session.query_id}")
        except BaseException as error:
            _mark_failed(client, job, error)
            raise
        heartbeat = self.heartbeats.add(transaction, client)
        try:
            return _Attempt(self, job, target, heartbeat).run()
        finally:
            self.heartbeats.remove(heartbeat)

    def _target(self, job: CompactionJob) -> CompactionTarget:
        name = SchemaTableName(job.database, job.table)
        if job.kind is None:
            raise NotSupportedError(f"compaction {job.compaction} of {name} is neither minor nor major; Hive makes it")
        target = CompactionTarget.find(self.metastore, self.files, name, job.partition)
        target.check_compactable(self.files)
        return target


class _Attempt:
    """One compaction in its open transaction."""

    def __init__(
        self, worker: CompactionWorker, job: CompactionJob, target: CompactionTarget, heartbeat: Heartbeat
    ) -> None:
        self._worker = worker
        self._client: TransactionClient = worker.metastore.transactions
        self._job = job
        self._target = target
        self._heartbeat = heartbeat
        self._output: CompactedFiles | None = None

    def run(self) -> CompactionResult:
        try:
            plan = self._plan()
            if not plan.is_worthwhile:
                return self._nothing(plan)
            result = self._write(plan)
            self._client.mark_compacted(self._job)
        except BaseException as error:
            self._fail(error)
            raise
        self._commit()
        return result

    def _plan(self) -> CompactionPlan:
        """Looks at the directory, under a lock, with what no one may change any more."""
        worker, target, transaction = self._worker, self._target, self._heartbeat.transaction
        name = target.table.name
        asks, agent = worker.session.user, f"lakeport {worker.session.query_id}"
        locks = TableLocks(self._client, worker.lock_wait, asks, agent, threading.Event())
        locks.acquire(transaction, LockComponent(name.schema, name.table, target.partition))
        valid = self._client.get_valid_transactions(transaction)
        [found] = self._client.get_valid_write_ids([(name.schema, name.table)], valid)
        if found.high_watermark >= MAX_ID:
            self._check_empty(name)
        snapshot = AcidSnapshot(_ended_ids(found), _known(self._client, valid))
        user = self._job.user or target.owner(worker.session.user)
        self._job = replace(self._job, user=user, highest_write_id=snapshot.write_ids.high_watermark)
        self._client.begin_compaction(self._job, transaction)
        listed = list_for_compaction(worker.files, target.location, snapshot, insert_only=target.table.insert_only)
        self._check_known(name, UnknownIds.of(listed))
        assert self._job.kind is not None, "checked before"
        return plan_compaction(listed, self._job.kind, transaction)

    def _write(self, plan: CompactionPlan) -> CompactionResult:
        worker = self._worker
        output = self._output = CompactedFiles(worker.files, plan, self._target.table.location)
        table = replace(self._target.table, snapshot=plan.listed.snapshot)
        if table.insert_only:
            copy_files(plan, worker.files, output, self._check)
        else:
            sources = TableSources(worker.pages, worker.session, worker.files, table)
            compact_rows(plan, sources, output, self._check)
        self._check()
        output.publish()
        rows = None if table.insert_only else output.rows
        return CompactionResult("ready for cleaning", None, len(output.names), rows, output.size)

    def _nothing(self, plan: CompactionPlan) -> CompactionResult:
        if plan.leaves_obsolete:
            self._client.mark_compacted(self._job)
            result = CompactionResult("ready for cleaning", _NOTHING)
        else:
            self._client.mark_refused(self._job, _NOTHING)
            result = CompactionResult("refused", _NOTHING)
        self._client.commit(self._heartbeat.transaction)
        return result

    def _check(self) -> None:
        if self._heartbeat.lost is not None:
            raise self._lost(self._heartbeat.lost)

    def _check_empty(self, name: SchemaTableName) -> None:
        """Checks that there are no files where the metastore has given out no write ids."""
        files, location = self._worker.files, self._target.location
        found = files.list(location, recursive=True) if files.exists(location) else ()
        if any(not one.is_directory for one in found):
            raise NotSupportedError(
                f"{name} cannot be compacted: its metastore has given out none of its write ids, so that another one "
                "may still do; compact it there",
                error_codes.HIVE_TRANSACTIONAL_TABLE,
            )

    def _check_known(self, name: SchemaTableName, unknown: UnknownIds) -> None:
        now = self._client.get_valid_transactions()
        [ids] = self._client.get_valid_write_ids([(name.schema, name.table)], now)
        unknown.check_write_ids(name, ids.high_watermark)
        unknown.check_transactions(self._client.known_compactions(now).high_watermark)

    def _commit(self) -> None:
        transaction = self._heartbeat.transaction
        try:
            self._client.commit(transaction)
        except MetastoreError as error:
            if error.code == metastore_codes.TRANSACTION_ENDED:
                lost = self._lost(error)
                self._fail(lost)
                raise lost from error
            if not self._is_committed(error):
                self._fail(error)
                raise

    def _is_committed(self, error: MetastoreError) -> bool:
        """Asks again, after the answer to the commit was lost."""
        transaction = self._heartbeat.transaction
        try:
            return self._client.get_valid_transactions().is_valid(transaction)
        except ConnectorError:
            # Its files stay: readers know by the transaction whether to read them.
            raise MetastoreError(
                f"the metastore did not say whether transaction {transaction} of compaction {self._job.compaction} is "
                f"committed ({error.message}); {self._target.table.name}$acid shows whether its files are read",
                error_codes.HIVE_COMMIT_UNKNOWN,
            ) from error

    def _fail(self, error: BaseException) -> None:
        """Takes back what was made: files first, so that the metastore has nothing to remember."""
        if self._output is not None:
            self._output.discard()
        _mark_failed(self._client, self._job, error)
        with suppress(ConnectorError):  # the metastore's timeout does it
            self._client.abort(self._heartbeat.transaction)

    def _lost(self, why: MetastoreError) -> MetastoreError:
        return MetastoreError(
            f"the metastore has ended transaction {self._heartbeat.transaction} of compaction {self._job.compaction} "
            f"({why.message}); nothing of it is visible; run it again",
            error_codes.HIVE_TRANSACTION_LOST,
        )


def _mark_failed(client: TransactionClient, job: CompactionJob, error: BaseException) -> None:
    with suppress(ConnectorError):  # the first error is the one to tell
        told = error.message if isinstance(error, ConnectorError) else str(error)
        client.mark_failed(job, told or type(error).__name__)


def _ended_ids(found: ValidWriteIds) -> ValidIds:
    """The write ids up to the first open one (``TxnUtils.createValidCompactWriteIdList``)."""
    highest = 0 if found.high_watermark >= MAX_ID else found.high_watermark
    least = min([found.minimum_open, *found.open], default=NO_MINIMUM)
    return ValidIds(min(highest, least - 1), (), found.aborted)


def _known(client: TransactionClient, valid: ValidTransactions) -> ValidIds:
    known = client.known_compactions(valid)
    return ValidIds(known.high_watermark, known.open, known.aborted, known.minimum_open)
