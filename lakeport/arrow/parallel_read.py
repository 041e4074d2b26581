"""Reads several splits at a time in threads, in bounded memory, in the order of the splits or as rows come."""

from __future__ import annotations

import atexit
import os
import threading
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
        ordered: Whether the rows come in the order of the splits.
        waiting_bytes: Threads that read ahead wait while the batches that no one has taken are this much.
    """

    def __init__(
        self,
        splits: Sequence[S],
        open_split: Callable[[S], Batches],
        threads: int,
        *,
        ordered: bool = True,
        waiting_bytes: int | None = None,
    ) -> None:
        limit = threads * _WAITING_BYTES_OF_A_THREAD if waiting_bytes is None else waiting_bytes
        # The threads have the state only: when no one has this object any more, it is closed and they end.
        self._state = _State(splits, open_split, ordered, limit)
        self._count = min(threads, len(splits))
        self._threads: list[threading.Thread] = []

    def __next__(self) -> pa.RecordBatch:
        try:
            if not self._threads and self._count:
                self._start()
            return self._state.take()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends all threads, and waits until they have closed what they had open."""
        self._state.stop()
        # The garbage collector may call this in any thread, which cannot wait for itself.
        if threading.current_thread() not in self._threads:
            for thread in self._threads:
                thread.join()
        _open.discard(self)

    def __del__(self) -> None:
        self._state.stop()

    def _start(self) -> None:
        _open.add(self)
        for number in range(self._count):
            # What counts in this thread counts in those, too.
            thread = threading.Thread(
                target=copy_context().run, args=(_work, self._state), name=f"lakeport-read-{number}", daemon=True
            )
            thread.start()
            self._threads.append(thread)


class _State(Generic[S]):
    """What the threads and the reader share; guarded by ``changed``."""

    def __init__(
        self, splits: Sequence[S], open_split: Callable[[S], Batches], ordered: bool, waiting_bytes: int
    ) -> None:
        self.open_split = open_split
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


def _work(state: _State[S]) -> None:
    while (begun := state.begin()) is not None:
        number, split = begun
        failed: BaseException | None = None
        try:
            with closing(state.open_split(split)) as batches:
                for batch in batches:
                    if batch.num_rows and not state.put(number, batch):
                        break
        except BaseException as error:
            failed = error
        state.end(number, failed)


def _close_all() -> None:
    """Threads must not read while Python is taken apart."""
    for read in list(_open):
        read.close()


_open: weakref.WeakSet[ParallelRead[Any]] = weakref.WeakSet()
atexit.register(_close_all)
