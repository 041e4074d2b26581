"""The metastore transaction in which a statement writes. Driver side."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.transactions import LockComponent, LockOperation, LockType, ValidTransactions
from connector_spi.errors import ConnectorError, InternalError, MetastoreError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.acid.valid_ids import ValidIds
from connectors.hive.transactions.conflicts import check_unchanged, write_conflict
from connectors.hive.transactions.heartbeats import Heartbeat, Heartbeats
from connectors.hive.transactions.locks import TableKey, TableLocks

__all__ = ["WriteTransaction"]

_CONFLICT = "write conflict"
"""In the message of the metastore's answer to the commit that came second (``TxnHandler.commitTxn``)."""

_COMMIT_WAITS = (0.0, 0.1, 0.5)
"""Seconds before each try to commit: one that fails in the metastore's database may have lost a deadlock there."""


class WriteTransaction:
    """Opened by the first table that is written; commits or aborts all of them.

    It is not the transaction that protects what the statement reads, which may end and begin again while nothing is
    read: this one stays open until its rows are visible or gone.

    Args:
        client: The metastore.
        heartbeats: Keeps the transaction alive.
        max_wait: Seconds to wait for a lock.
        user: The user who writes.
        agent: The query's id, shown by ``SHOW LOCKS`` and ``SHOW TRANSACTIONS``.
    """

    def __init__(
        self, client: TransactionClient, heartbeats: Heartbeats, max_wait: float, user: str, agent: str
    ) -> None:
        self._client = client
        self._heartbeats = heartbeats
        self._user = user
        self._agent = agent
        self._ended = threading.Event()
        self._locks = TableLocks(client, max_wait, user, agent, self._ended)
        self._heartbeat: Heartbeat | None = None
        self._write_ids: dict[TableKey, int] = {}
        self._operations: dict[TableKey, LockOperation] = {}

    def begin_insert(self, name: SchemaTableName, *, partitioned: bool) -> int:
        """The write id of rows that are added to a table, which is locked (``AcidUtils.makeLockComponents``).

        Args:
            name: A transactional table.
            partitioned: The partitions are said later, by ``add_partitions``.

        Raises:
            NotSupportedError: The metastore has no write ids.
            MetastoreError: The lock was not acquired in time, or the metastore failed.
        """
        key = (name.schema.lower(), name.table.lower())
        if key in self._write_ids:
            return self._write_ids[key]
        component = LockComponent(
            *key, type=LockType.SHARED_READ, operation=LockOperation.INSERT, dynamic_partitions=partitioned
        )
        return self._allocate(key, component)

    def begin_merge(
        self, name: SchemaTableName, operation: LockOperation, snapshot: ValidIds, *, partitioned: bool
    ) -> int:
        """The write id of changes to rows that were read in a snapshot.

        The metastore refuses the commit where others have changed the same table or partition, and have committed
        since this transaction was opened (``TxnHandler.commitTxn``). The snapshot is older than that, so what was
        committed in between is looked for here, under the lock; Hive compiles its statement again
        (``Driver.isValidTxnListState``).

        Args:
            name: A transactional table.
            operation: Rows are updated, or deleted only.
            snapshot: The write ids that were visible to who read the rows.
            partitioned: The partitions are said later, by ``add_partitions``.

        Raises:
            MetastoreError: Others have changed the table (code ``HIVE_WRITE_CONFLICT``), the lock was not acquired in
                time, or the metastore failed.
        """
        key = (name.schema.lower(), name.table.lower())
        component = LockComponent(*key, type=LockType.SHARED_WRITE, operation=operation, dynamic_partitions=partitioned)
        write_id = self._allocate(key, component)
        check_unchanged(name, snapshot, self._now(key))
        return write_id

    def begin_overwrite(self, name: SchemaTableName, seen: ValidIds, *, partitioned: bool) -> int:
        """The write id of rows that take the place of others; they hide all rows of lower write ids.

        The lock lets others read and add rows, the statement's own queries among them; Hive's updates wait for it.
        Hive has an exclusive lock (or, with ``hive.txn.xlock.iow=false``, this one), which would wait for what the
        statement itself reads. So it is checked here that no row is lost.

        Args:
            name: A transactional table that the transaction has not written to.
            seen: The write ids that the statement sees.
            partitioned: As in ``begin_insert``.

        Raises:
            NotSupportedError: The metastore has no write ids.
            MetastoreError: The lock was not acquired in time, the metastore failed, or others write or have written
                to the table since it was seen (code ``HIVE_WRITE_CONFLICT``).
        """
        key = (name.schema.lower(), name.table.lower())
        component = LockComponent(
            *key, type=LockType.SHARED_WRITE, operation=LockOperation.UPDATE, dynamic_partitions=partitioned
        )
        write_id = self._allocate(key, component)
        # What comes with a higher write id stays.
        before = self._now(key).up_to(write_id - 1)
        if before.open:
            raise write_conflict(name, f"is at it, with write id {before.open[0]}")
        check_unchanged(name, seen, before)
        return write_id

    def add_partitions(self, name: SchemaTableName, partitions: list[str]) -> None:
        """Says which partitions were written to.

        Raises:
            MetastoreError: The metastore has ended the transaction, or it failed.
        """
        key = (name.schema.lower(), name.table.lower())
        self._client.add_dynamic_partitions(
            self._opened().transaction, self._write_ids[key], key, partitions, self._operations[key]
        )

    def check(self) -> None:
        """Checks that the metastore still knows the transaction as open.

        Raises:
            MetastoreError: It has ended it: no row will be visible.
        """
        heartbeat = self._heartbeat
        if heartbeat is not None and heartbeat.lost is not None:
            raise self._lost(heartbeat, heartbeat.lost)

    def commit(self) -> None:
        """Makes all that was written visible.

        Raises:
            MetastoreError: Nothing is visible; or, with a code of its own, it is not known.
        """
        heartbeat = self._end()
        if heartbeat is None:
            return
        for tries, wait in enumerate(_COMMIT_WAITS, start=1):
            time.sleep(wait)
            if self._commits(heartbeat, is_last=tries == len(_COMMIT_WAITS)):
                return

    def abort(self) -> None:
        """Gives up what was written; where the metastore cannot be told, its timeout does it."""
        heartbeat = self._end()
        if heartbeat is not None:
            with suppress(ConnectorError):
                self._client.abort(heartbeat.transaction)

    def end_other(self, transaction: int) -> bool:
        """Aborts the transaction of a writer that was killed, if it is still open.

        Args:
            transaction: Of another writer.

        Returns:
            Whether the metastore takes it for committed; one that was aborted long ago it may have forgotten.

        Raises:
            MetastoreError: The metastore failed, or does not end it.
        """
        valid = self._client.get_valid_transactions()
        if transaction in valid.open:
            try:
                self._client.abort(transaction)
            except MetastoreError as error:
                if error.code != metastore_codes.TRANSACTION_ENDED:
                    raise
            valid = self._client.get_valid_transactions()
        if transaction in valid.open:
            raise MetastoreError(f"the metastore still has transaction {transaction} open after it was aborted")
        return valid.is_valid(transaction)

    @property
    def transaction(self) -> int:
        """Its id; there is one once a table has a write id."""
        return self._opened().transaction

    def _allocate(self, key: TableKey, component: LockComponent) -> int:
        transaction = self._open()
        write_id = self._client.allocate_write_ids([transaction], *key)[transaction]
        self._locks.acquire(transaction, component)
        self._write_ids[key] = write_id
        self._operations[key] = component.operation
        return write_id

    def _now(self, key: TableKey) -> ValidIds:
        [now] = self._client.get_valid_write_ids([key], self._client.get_valid_transactions())
        return ValidIds(now.high_watermark, now.open, now.aborted)

    def _open(self) -> int:
        if self._heartbeat is None:
            transaction = self._client.open_transaction(self._user, self._agent)
            self._heartbeat = self._heartbeats.add(transaction, self._client)
        return self._heartbeat.transaction

    def _opened(self) -> Heartbeat:
        if self._heartbeat is None:
            raise InternalError("no rows were written in the transaction")
        return self._heartbeat

    def _end(self) -> Heartbeat | None:
        self._ended.set()
        heartbeat, self._heartbeat = self._heartbeat, None
        if heartbeat is not None:
            self._heartbeats.remove(heartbeat)
        return heartbeat

    def _commits(self, heartbeat: Heartbeat, *, is_last: bool) -> bool:
        """Tries to commit; false where the metastore failed at it and still has the transaction open."""
        try:
            self._client.commit(heartbeat.transaction)
        except MetastoreError as error:
            if error.code == metastore_codes.TRANSACTION_ENDED:
                raise self._lost(heartbeat, error) from error
            # A request whose answer was lost may still be under way; one that was answered is not.
            may_repeat = error.code == metastore_codes.REFUSED_REQUEST and not is_last
            valid = self._valid_after(error, heartbeat, abort=not may_repeat)
            if may_repeat and heartbeat.transaction in valid.open:
                return False
            if not valid.is_valid(heartbeat.transaction):
                raise
        return True

    def _valid_after(self, error: MetastoreError, heartbeat: Heartbeat, *, abort: bool) -> ValidTransactions:
        """The metastore's transactions after a commit that failed or whose answer was lost.

        Args:
            error: What was said.
            heartbeat: Of the transaction.
            abort: Abort it if it is still open.

        Raises:
            MetastoreError: They cannot be asked for.
        """
        try:
            valid = self._client.get_valid_transactions()
            if abort and heartbeat.transaction in valid.open:
                self._client.abort(heartbeat.transaction)
        except ConnectorError:
            raise MetastoreError(
                f"the metastore did not say whether transaction {heartbeat.transaction} of query {self._agent} is "
                f"committed ({error.message}); look whether its rows are there before you add them again",
                error_codes.HIVE_COMMIT_UNKNOWN,
            ) from error
        return valid

    def _lost(self, heartbeat: Heartbeat, why: MetastoreError) -> MetastoreError:
        if _CONFLICT in why.message:
            return MetastoreError(
                f"another transaction has changed the same rows' table or partition, and was committed first "
                f"({why.message}); nothing of query {self._agent} is visible; run the statement again",
                error_codes.HIVE_WRITE_CONFLICT,
            )
        return MetastoreError(
            f"the metastore has ended transaction {heartbeat.transaction} of query {self._agent}, whose rows are gone "
            f"({why.message}); run the statement again",
            error_codes.HIVE_TRANSACTION_LOST,
        )
