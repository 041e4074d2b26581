"""Locks on transactional tables, each waited for within a time. Driver side."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from catalog.metastore.client import TransactionClient
from catalog.metastore.transactions import HeldLock, LockComponent, LockOperation, LockState
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
    """Acquires the locks of one statement.

    Attributes:
        client: The metastore.
        max_wait: Seconds to wait for a lock.
        user: The user whose statement it is.
        agent: Label of the statement that the metastore shows.
        ended: Set once the statement has ended, to stop waiting.
    """

    client: TransactionClient
    max_wait: float
    user: str
    agent: str
    ended: threading.Event

    def acquire(self, transaction: int, component: LockComponent) -> bool:
        """Acquires a lock on a table for a transaction.

        Args:
            transaction: An open transaction.
            component: What is locked.

        Returns:
            Whether it had to wait for the lock.

        Raises:
            MetastoreError: The lock was refused or not free in time (code ``HIVE_LOCK_NOT_ACQUIRED``): then the request
                may stay in the metastore until the transaction ends. Or the metastore failed.
        """
        answer = self.client.lock(transaction, [component], self.user, self.agent)
        deadline = time.monotonic() + self.max_wait
        wait = _FIRST_WAIT
        waited = answer.state is LockState.WAITING
        while answer.state is LockState.WAITING:
            if time.monotonic() >= deadline:
                raise self._refused(transaction, component, f"not free within {self.max_wait:g} s")
            if self.ended.wait(wait):
                raise self._refused(transaction, component, "given up, since the statement was cancelled")
            wait = min(wait * 2, _LONGEST_WAIT)
            answer = self.client.check_lock(answer.lock, transaction)
        if answer.state is not LockState.ACQUIRED:
            raise self._refused(transaction, component, f"refused ({answer.state.name})")
        return waited

    def _refused(self, transaction: int, component: LockComponent, why: str) -> MetastoreError:
        table = (component.database, component.table or "")
        reads = component.operation is LockOperation.SELECT
        kind = "shared read lock" if reads else f"{component.type.name} lock"
        way_out = ", or read without a lock by the session property transactional_read_lock=false" if reads else ""
        return MetastoreError(
            f"the {kind} on table {'.'.join(table)} was {why}: {self._holders(transaction, table)}; try again later"
            f"{way_out}",
            error_codes.HIVE_LOCK_NOT_ACQUIRED,
        )

    def _holders(self, transaction: int, table: TableKey) -> str:
        try:
            others = [lock for lock in self.client.show_locks(*table) if lock.transaction != transaction]
        except MetastoreError as error:
            return f"its holder is unknown ({error.message})"
        if not others:
            return "it is free by now"
        more = f" and {len(others) - _SHOWN_LOCKS} more" if len(others) > _SHOWN_LOCKS else ""
        return ", ".join(map(_described, others[:_SHOWN_LOCKS])) + more


def _described(lock: HeldLock) -> str:
    what = f"partition {lock.partition}" if lock.partition else "the table" if lock.table else "the database"
    verb = "holds" if lock.state is LockState.ACQUIRED else "waits for"
    where = f" at {lock.host}" if lock.host else ""
    agent = f", {lock.agent}" if lock.agent else ""
    user = lock.user or "an unknown user"
    return f"{user}{where} (transaction {lock.transaction}{agent}) {verb} {lock.type.name} on {what}"
