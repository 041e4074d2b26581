"""The span in which a connector's answers belong together."""

from __future__ import annotations

import threading
from abc import ABC
from enum import Enum

from connector_spi.errors import InternalError

__all__ = ["ConnectorTransaction", "TransactionState"]


class TransactionState(Enum):
    """A transaction is open until exactly one of commit and rollback was called."""

    OPEN = "open"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"


class ConnectorTransaction(ABC):
    """One transaction of one catalog. Driver side; the engine ends it exactly once.

    Connectors override ``on_commit`` and ``on_rollback``, which run at most once, and one of them only. A connector
    that has locks which others wait for also overrides ``takes_locks`` and ``on_release``.
    """

    def __init__(self) -> None:
        self._state = TransactionState.OPEN
        self._lock = threading.Lock()

    @property
    def state(self) -> TransactionState:
        """Whether and how the transaction ended."""
        return self._state

    @property
    def takes_locks(self) -> bool:
        """Whether the transaction holds locks, or will again when something is read in it."""
        return False

    def release(self, *, failed: bool = False) -> None:
        """Releases locks because nothing is being read; what is read later acquires them again, and sees the same.

        The engine calls it when a query has ended whose tables may be read once more. Nothing happens after the end.

        Args:
            failed: The query that ended has failed, or was cancelled.
        """
        if self._state is TransactionState.OPEN:
            self.on_release(failed)

    def commit(self) -> None:
        """Ends the transaction well.

        Raises:
            InternalError: It has ended before.
        """
        self._end(TransactionState.COMMITTED)
        self.on_commit()

    def rollback(self) -> None:
        """Ends the transaction after a failure or a cancel.

        Raises:
            InternalError: It has ended before.
        """
        self._end(TransactionState.ROLLED_BACK)
        self.on_rollback()

    def on_commit(self) -> None:
        """Releases what the transaction holds."""

    def on_rollback(self) -> None:
        """Releases what the transaction holds."""

    def on_release(self, failed: bool) -> None:
        """Releases locks; may run any number of times."""

    def _end(self, state: TransactionState) -> None:
        with self._lock:
            if self._state is not TransactionState.OPEN:
                raise InternalError(f"the transaction is {self._state.value}; it can end only once")
            self._state = state
