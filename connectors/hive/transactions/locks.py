"""Shared locks on transactional tables, each waited for within a time. Driver side."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from catalog.metastore.client import TransactionClient
from catalog.metastore.transactions import HeldLock, LockComponent, LockState
from connector_spi.errors import MetastoreError
from connectors.hive import error_codes

__all__ = ["TableKey", "TableLocks"]

TableKey = tuple[str, str]
"""Database and table, lower case."""

_FIRST_WAIT = 0.05
_LONGEST_WAIT = 1.0
_SHOWN_LOCKS = 5


@dataclass(frozen=True, slots=True)
class TableLocks:
    """Takes the locks of one statement.

    Attributes:
        client: The metastore.
        max_wait: Seconds to wait for a lock.
        user: Who reads.
        agent: What reads, as the metastore shows it.
        ended: Set once the statement is over: then no one waits any more.
    """

    client: TransactionClient
    max_wait: float
    user: str
    agent: str
    ended: threading.Event

    def acquire(self, transaction: int, table: TableKey) -> bool:
        """Takes the shared lock on a table for a transaction.

        Returns:
            Whether it was not free at once.

        Raises:
            MetastoreError: It was not free within the time or was refused (code ``HIVE_LOCK_NOT_ACQUIRED``): then the
                request may wait on, until the transaction is ended; or the metastore failed.
        """
        answer = self.client.lock(transaction, [LockComponent(*table)], self.user, self.agent)
        deadline = time.monotonic() + self.max_wait
        wait = _FIRST_WAIT
        waited = answer.state is LockState.WAITING
        while answer.state is LockState.WAITING:
            if time.monotonic() >= deadline:
                raise self._refused(transaction, table, f"not free within {self.max_wait:g} s")
            if self.ended.wait(wait):
                raise self._refused(transaction, table, "given up, since the statement was cancelled")
            wait = min(wait * 2, _LONGEST_WAIT)
            answer = self.client.check_lock(answer.lock, transaction)
        if answer.state is not LockState.ACQUIRED:
            raise self._refused(transaction, table, f"refused ({answer.state.name})")
        return waited

    def _refused(self, transaction: int, table: TableKey, why: str) -> MetastoreError:
        return MetastoreError(
            f"the shared read lock on table {'.'.join(table)} was {why}: {self._holders(transaction, table)}; try "
            "again later, or read without a lock by the session property transactional_read_lock=false",
            error_codes.HIVE_LOCK_NOT_ACQUIRED,
        )

    def _holders(self, transaction: int, table: TableKey) -> str:
        try:
            others = [lock for lock in self.client.show_locks(*table) if lock.transaction != transaction]
        except MetastoreError as error:
            return f"who holds it is not known ({error.message})"
        if not others:
            return "no one holds it by now"
        more = f" and {len(others) - _SHOWN_LOCKS} more" if len(others) > _SHOWN_LOCKS else ""
        return ", ".join(map(_described, others[:_SHOWN_LOCKS])) + more


def _described(lock: HeldLock) -> str:
    what = f"partition {lock.partition}" if lock.partition else "the table" if lock.table else "the database"
    verb = "holds" if lock.state is LockState.ACQUIRED else "waits for"
    where = f" at {lock.host}" if lock.host else ""
    agent = f", {lock.agent}" if lock.agent else ""
    return f"{lock.user or 'somebody'}{where} (transaction {lock.transaction}{agent}) {verb} {lock.type.name} on {what}"
