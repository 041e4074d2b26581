"""Ending what DuckDB does for others, at any time."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

import duckdb

from connector_spi.errors import UserError
from lakeport.engine import Work

__all__ = ["CallSet", "Calls", "LocalWork", "begin_work", "cancelled", "current_work"]

_LOOK_SECONDS = 0.02
_MOST_SECONDS = 2.0
"""DuckDB looks often; who is in a read of ours cannot."""


def cancelled() -> UserError:
    """The error of who reads what was cancelled."""
    return UserError("the statement was cancelled")


class CallSet:
    """Calls that end together."""

    def __init__(self) -> None:
        # DuckDB keeps what reads for it, which keeps this: a connection must not keep itself.
        self._calls: weakref.WeakSet[Calls] = weakref.WeakSet()
        self._lock = threading.Lock()

    def add(self, calls: Calls) -> None:
        """Has ``cancel`` end these, too, as long as someone else keeps them."""
        with self._lock:
            self._calls.add(calls)

    def cancel(self) -> None:
        """Ends those that run."""
        with self._lock:
            calls = list(self._calls)
        for one in calls:
            one.cancel()


class LocalWork(Work):
    """What a thread has the engine do: its plans and its calls of DuckDB."""

    def __init__(self) -> None:
        super().__init__()
        self._is_cancelled = False
        self._calls = CallSet()

    def check(self) -> None:
        """Ends the thread's work where it was cancelled.

        Raises:
            UserError: It was.
        """
        if self._is_cancelled:
            raise cancelled()

    def note(self, calls: Calls) -> None:
        """Has ``cancel`` end these calls, too."""
        self._calls.add(calls)

    def cancel(self) -> None:
        """Ends what runs, and what would follow."""
        self._is_cancelled = True
        self._calls.cancel()
        super().cancel()


_work: ContextVar[LocalWork | None] = ContextVar("lakeport_duckdb_work", default=None)


def begin_work() -> LocalWork:
    """The work of this thread from now on."""
    work = LocalWork()
    _work.set(work)
    return work


def current_work() -> LocalWork:
    """The work of this thread; one that no one can cancel where none was begun."""
    return _work.get() or LocalWork()


class Calls:
    """The calls of DuckDB for one query.

    Args:
        interrupt: Ends the call that runs; one that is about to begin does not notice.

    Attributes:
        work: What it is a part of.
    """

    def __init__(self, interrupt: Callable[[], object]) -> None:
        self._interrupt = interrupt
        self.work = current_work()
        self.work.note(self)
        self._running = 0
        self._lock = threading.Lock()

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call of DuckDB."""
        with self._lock:
            self._running += 1
        try:
            self.work.check()
            yield
        finally:
            with self._lock:
                self._running -= 1

    def cancel(self) -> None:
        """Ends the call that runs, also one that is about to begin; waits a moment until it has ended."""
        # A connection that was closed runs nothing any more.
        with suppress(duckdb.ConnectionException):
            self._interrupt()
            end = time.monotonic() + _MOST_SECONDS
            while self._running and time.monotonic() < end:
                self._interrupt()
                time.sleep(_LOOK_SECONDS)
