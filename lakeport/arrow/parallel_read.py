"""Reads several splits at a time in threads, in bounded memory, in the order of the splits or as rows come."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from contextvars import copy_context
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from connector_spi.errors import InternalError

__all__ = ["Batches", "ParallelRead", "default_threads"]

S = TypeVar("S")

_WAITING_BYTES_OF_A_THREAD = 16 << 20
"""What threads have read ahead may be this much for each of them, and one batch of the split that is due."""
_LEAST_WAITING_SECONDS = 0.005
_MOSTLY_WAITING = 4


class Batches(Protocol):
    """What is read: a page source, or a generator."""

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The batches; once."""

    def close(self) -> object:
        """Ends the read."""


def default_threads() -> int:
    """The cores that this process may use."""
    with suppress(AttributeError):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ParallelRead(Iterator[pa.RecordBatch], Generic[S]):
    """The batches of all splits, read by some threads of their own.

    An error of a split is raised where its rows would have come, so that what is read before it does not depend on
    which thread was faster; unordered, it is raised as soon as it is known. Threads begin with the first ``next``, and
    end with the last row, an error, or ``close``.

    Args:
        splits: What to read.
        open_split: Opens a split; called by several threads at once.
        threads: How many read at a time, at least 1.
        most_threads: How many there may be where they wait for storage most of the time; ``None`` for no more. Each
            split that was waited for brings one.
        ordered: Whether the rows come in the order of the splits.
        waiting_bytes: Threads that read ahead wait while the batches that no one has taken are this much.
    """

    def __init__(
        self,
        splits: Sequence[S],
        open_split: Callable[[S], Batches],
        threads: int,
        *,
        most_threads: int | None = None,
        ordered: bool = True,
        waiting_bytes: int | None = None,
    ) -> None:
        limit = threads * _WAITING_BYTES_OF_A_THREAD if waiting_bytes is None else waiting_bytes
        # The threads have the state only: when no one has this object any more, it is closed and they end.
        self._state = _State(splits, open_split, ordered, limit, max(threads, most_threads or 0))
        self._count = min(threads, len(splits))

    def __next__(self) -> pa.RecordBatch:
        try:
            if not self._state.threads and self._count:
                _open.add(self)
                for _ in range(self._count):
                    self._state.start_thread()
            return self._state.take()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends all threads, and waits until they have closed what they had open."""
        self._state.stop()
        # The garbage collector may call this in any thread, which cannot wait for itself.
        if threading.current_thread() not in self._state.threads:
            for thread in self._state.threads:
                thread.join()
        _open.discard(self)

    def __del__(self) -> None:
        self._state.stop()


class _State(Generic[S]):
    """What the threads and the reader share; guarded by ``changed``."""

    def __init__(
        self,
        splits: Sequence[S],
        open_split: Callable[[S], Batches],
        ordered: bool,
        waiting_bytes: int,
        most_threads: int,
    ) -> None:
        self.open_split = open_split
        self.threads: list[threading.Thread] = []
        self._most_threads = most_threads
        self._splits = splits
        self._ordered = ordered
        self._waiting_bytes = waiting_bytes
        self._changed = threading.Condition()
        self._begun = 0
        self._ended: set[int] = set()
        self._due = 0
        """The split whose rows come next; unordered, all rows wait in place 0."""
        self._waiting: dict[int, deque[pa.RecordBatch]] = {}
        self._bytes = 0
        self._errors: dict[int, BaseException] = {}
        self.stopped = False

    def begin(self) -> tuple[int, S] | None:
        """The next split that no thread reads, and its number; ``None`` where there is none."""
        with self._changed:
            if self.stopped or self._begun == len(self._splits):
                return None
            self._begun += 1
            return self._begun - 1, self._splits[self._begun - 1]

    def grow(self) -> None:
        """Has one more thread read, if there may be one and it has something to do."""
        with self._changed:
            if len(self.threads) < self._most_threads and self._begun < len(self._splits) and not self.stopped:
                self.start_thread()

    def start_thread(self) -> None:
        """Has one more thread read."""
        with self._changed:
            number = len(self.threads)
            # What counts in this thread counts in that one, too.
            run = copy_context().run
            thread = threading.Thread(target=run, args=(_work, self), name=f"lakeport-read-{number}", daemon=True)
            thread.start()
            self.threads.append(thread)

    def put(self, split: int, batch: pa.RecordBatch) -> bool:
        """Hands over a batch, as soon as there is room; whether to read on."""
        place = split if self._ordered else 0
        with self._changed:
            # The split that is due always has room for one batch, or room would never be made.
            self._changed.wait_for(
                lambda: (
                    self.stopped
                    or self._bytes < self._waiting_bytes
                    or (place == self._due and not self._waiting.get(place))
                )
            )
            if not self.stopped:
                self._waiting.setdefault(place, deque()).append(batch)
                self._bytes += batch.nbytes
                self._changed.notify_all()
            return not self.stopped

    def end(self, split: int, error: BaseException | None) -> None:
        """The split was read to its end, or failed."""
        with self._changed:
            self._ended.add(split)
            if error is not None:
                self._errors[split] = error
            self._changed.notify_all()

    def take(self) -> pa.RecordBatch:
        """The next batch.

        Raises:
            StopIteration: There is none.
            BaseException: What a split failed with.
        """
        with self._changed:
            while True:
                if not self._ordered and self._errors:
                    raise next(iter(self._errors.values()))
                waiting = self._waiting.get(self._due)
                if waiting:
                    batch = waiting.popleft()
                    self._bytes -= batch.nbytes
                    self._changed.notify_all()
                    return batch
                if self._is_over():
                    raise StopIteration
                if self.stopped:
                    raise InternalError("the read was closed")  # never as if the rows ended here
                if self._ordered and self._due in self._ended:
                    if self._due in self._errors:
                        raise self._errors[self._due]
                    self._waiting.pop(self._due, None)
                    self._due += 1
                    self._changed.notify_all()
                    continue
                self._changed.wait()

    def stop(self) -> None:
        """Has all threads end; what waits is dropped."""
        with self._changed:
            self.stopped = True
            self._waiting.clear()
            self._changed.notify_all()

    def _is_over(self) -> bool:
        return self._due == len(self._splits) if self._ordered else len(self._ended) == len(self._splits)


class _Spent:
    """Where the time of a thread goes that reads a split."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._cpu = 0.0

    def __enter__(self) -> None:
        self._seconds -= time.monotonic()
        self._cpu -= time.thread_time()

    def __exit__(self, *_: object) -> None:
        self._seconds += time.monotonic()
        self._cpu += time.thread_time()

    @property
    def is_waiting(self) -> bool:
        """Whether most of it was waiting: for storage, since two threads in Python wait for each other half of it."""
        return self._seconds > max(_LEAST_WAITING_SECONDS, _MOSTLY_WAITING * self._cpu)


def _work(state: _State[S]) -> None:
    while (begun := state.begin()) is not None:
        number, split = begun
        failed: BaseException | None = None
        spent = _Spent()
        try:
            with spent:
                batches = state.open_split(split)
            with closing(batches):
                rows = iter(batches)
                while True:
                    with spent:
                        batch = next(rows, None)
                    if batch is None or (batch.num_rows and not state.put(number, batch)):
                        break
        except BaseException as error:
            failed = error
        state.end(number, failed)
        if failed is None and spent.is_waiting:
            with suppress(RuntimeError):  # the system has no more threads: those that are there go on
                state.grow()


def _close_all() -> None:
    """Threads must not read while Python is taken apart."""
    for read in list(_open):
        read.close()


_open: weakref.WeakSet[ParallelRead[Any]] = weakref.WeakSet()
atexit.register(_close_all)
