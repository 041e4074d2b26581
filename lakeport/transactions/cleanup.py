"""Ends transactions in a thread of its own.

The garbage collector finds that no one needs a transaction any more at any point of any thread, perhaps one that holds
a lock of the metastore client. Ending it there, which asks the metastore, could wait for itself; so it is done here.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

__all__ = ["CLEANUP", "Cleanup"]

_WAIT_SECONDS = 10.0


class Cleanup:
    """Work that is done soon, one after the other, in a thread that never keeps the process alive."""

    def __init__(self) -> None:
        # Its put() may be called from a finalizer that interrupts another put().
        self._queue: SimpleQueue[tuple[float, Callable[[], object]]] = SimpleQueue()
        self._waiting: list[tuple[float, int, Callable[[], object]]] = []
        self._order = itertools.count()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Has the thread ready: it cannot be started by a finalizer."""
        if self._runs():
            return
        with self._lock:
            if not self._runs():
                self._thread = threading.Thread(target=self._run, name="lakeport-cleanup", daemon=True)
                self._thread.start()

    def later(self, work: Callable[[], object]) -> None:
        """Has ``work`` done soon; safe to call from a finalizer."""
        self._queue.put((0.0, work))

    def after(self, seconds: float, work: Callable[[], object]) -> None:
        """Has ``work`` done in some seconds; safe to call from a finalizer."""
        self._queue.put((time.monotonic() + seconds, work))

    def wait(self) -> None:
        """Waits until all that is due is done, some seconds at most."""
        if not self._runs() or threading.current_thread() is self._thread:
            return
        done = threading.Event()
        self.later(done.set)
        done.wait(_WAIT_SECONDS)

    def _runs(self) -> bool:
        # A process that was forked has the object, and not its thread.
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        while True:
            work = self._next()
            if work is None:
                continue
            try:
                work()
            except Exception:
                logging.getLogger(__name__).warning("a transaction was not ended", exc_info=True)
            # What the work refers to is free before the next one comes.
            del work

    def _next(self) -> Callable[[], object] | None:
        """The next work that is due; ``None`` when something came that is not due yet."""
        now = time.monotonic()
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        try:
            due, work = self._queue.get(timeout=self._waiting[0][0] - now if self._waiting else None)
        except Empty:
            return None
        if due <= now:
            return work
        heapq.heappush(self._waiting, (due, next(self._order), work))
        return None


CLEANUP = Cleanup()
"""Of the process."""
