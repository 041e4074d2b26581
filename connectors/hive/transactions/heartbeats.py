"""Keeps the transactions of one metastore alive, from one thread."""

from __future__ import annotations

import threading

from catalog.metastore import error_codes
from catalog.metastore.client import TransactionClient
from connector_spi.errors import MetastoreError

__all__ = ["Heartbeat", "Heartbeats"]

_LONGEST_END = 1.0
_FALLBACK_SECONDS = 150.0
"""Half of Hive's default of ``hive.txn.timeout``, where the metastore does not report its own."""


class Heartbeat:
    """One transaction that is kept alive.

    Attributes:
        transaction: Its id.
        client: The metastore client of the transaction's user.
        lost: The metastore's error once the transaction is no longer open; ``None`` before.
    """

    __slots__ = ("client", "lost", "transaction")

    def __init__(self, transaction: int, client: TransactionClient) -> None:
        self.transaction = transaction
        self.client = client
        self.lost: MetastoreError | None = None


class Heartbeats:
    """Sends the heartbeats of all transactions of a catalog.

    The thread starts with the first transaction, ends when there are none, and never keeps the process alive.

    Args:
        client: The metastore; transactions of impersonated users have clients of their own.
        interval: Seconds between two heartbeats; ``None`` is half of the metastore's own timeout, as in Hive.
    """

    def __init__(self, client: TransactionClient, interval: float | None = None) -> None:
        self._client = client
        self._interval = interval
        self._lock = threading.Lock()
        self._beating: dict[int, Heartbeat] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, transaction: int, client: TransactionClient | None = None) -> Heartbeat:
        """Keeps a transaction alive from now on.

        Args:
            transaction: Its id.
            client: The client that opened it; the catalog's own client if not given.
        """
        heartbeat = Heartbeat(transaction, client or self._client)
        with self._lock:
            self._beating[transaction] = heartbeat
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="lakeport-heartbeats", daemon=True)
                self._thread.start()
        return heartbeat

    def remove(self, heartbeat: Heartbeat) -> None:
        """Stops the heartbeats of a transaction, which is about to end."""
        with self._lock:
            self._beating.pop(heartbeat.transaction, None)

    def close(self) -> None:
        """Stops all heartbeats for good."""
        with self._lock:
            self._beating.clear()
            self._stop.set()
            thread = self._thread
        if thread is not None:
            # A call that hangs ends by its own timeout; the thread is a daemon.
            thread.join(_LONGEST_END)

    def _run(self) -> None:
        interval = self._interval or self._half_of_timeout()
        wait = interval
        while not self._stop.wait(wait):
            with self._lock:
                if not self._beating:
                    self._thread = None
                    return
                due = list(self._beating.values())
            failures = sum(not self._beat(one) for one in due)
            # Retry sooner after a failure: the metastore counts from the last heartbeat that it received.
            wait = interval / 4 if failures else interval

    def _beat(self, heartbeat: Heartbeat) -> bool:
        try:
            heartbeat.client.heartbeat(heartbeat.transaction)
        except MetastoreError as error:
            if error.code != error_codes.TRANSACTION_ENDED:
                return False
            heartbeat.lost = error
            self.remove(heartbeat)
        except Exception:
            # For instance an unreadable certificate: the thread also keeps all other transactions alive.
            return False
        return True

    def _half_of_timeout(self) -> float:
        try:
            return self._client.timeout_seconds() / 2
        except Exception:
            # Heartbeats have to go on after any failure.
            return _FALLBACK_SECONDS
