"""A store of answers with an age limit, a size limit, and one question at a time for each of them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from catalog.metastore.cache.policy import CachePolicy
from connector_spi.errors import ConnectorError

__all__ = ["LoadingCache"]

KeyT = TypeVar("KeyT", bound=Hashable)


class LoadingCache(Generic[KeyT]):
    """Answers by key. Thread-safe.

    What is invalidated while it is asked for reaches those who waited for it, whose questions are as old; it is not
    kept, and who asks after ``invalidate`` asks again.

    Args:
        policy: How long and how many.
        may_keep: Whether an answer that is there may be kept at all.
        clock: Seconds that only grow; tests put in their own.
    """

    def __init__(
        self,
        policy: CachePolicy,
        may_keep: Callable[[object], bool] = lambda _: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._policy = policy
        self._may_keep = may_keep
        self._clock = clock
        self._lock = Lock()
        self._answers: OrderedDict[KeyT, _Answer] = OrderedDict()
        self._loading: dict[KeyT, Future[Mapping[KeyT, object]]] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False
        self._hits = self._misses = self._evictions = 0

    def get(self, keys: Sequence[KeyT], load: Callable[[Sequence[KeyT]], Mapping[KeyT, object]]) -> dict[KeyT, object]:
        """Answers to several questions; those not kept are asked together, in one call of ``load``.

        Args:
            keys: The questions, each once.
            load: Gives an answer to each key, or raises.

        Returns:
            An answer for each key.
        """
        found: dict[KeyT, object] = {}
        waited: dict[KeyT, Future[Mapping[KeyT, object]]] = {}
        stale: list[KeyT] = []
        mine: Future[Mapping[KeyT, object]] = Future()
        with self._lock:
            now = self._clock()
            for key in keys:
                answer = self._fresh(key, now)
                if answer is not None:
                    self._hits += 1
                    found[key] = answer.value
                    if self._is_stale(answer, now) and key not in self._loading:
                        stale.append(key)
                else:
                    self._misses += 1
                    waited[key] = self._loading.setdefault(key, mine)
            refreshing = self._begin_refresh(stale)
        if refreshing is not None:
            self._refresh(stale, refreshing, load)
        missing = [key for key, future in waited.items() if future is mine]
        if missing:
            found.update(self._load(missing, mine, load))
        found.update((key, future.result()[key]) for key, future in waited.items() if future is not mine)
        return found

    def peek(self, key: KeyT) -> object | None:
        """An answer that is kept, without asking; ``None`` where there is none."""
        with self._lock:
            answer = self._fresh(key, self._clock())
            return None if answer is None else answer.value

    def invalidate(self, matches: Callable[[KeyT], bool]) -> int:
        """Forgets the answers whose key matches, and those that are being asked for; gives how many were kept."""
        with self._lock:
            for key in [key for key in self._loading if matches(key)]:
                del self._loading[key]
            gone = [key for key in self._answers if matches(key)]
            for key in gone:
                del self._answers[key]
            return len(gone)

    def counts(self) -> dict[str, int]:
        """Answers kept, and since the beginning: those that were there, those that were asked for, those evicted."""
        with self._lock:
            return {
                "entries": len(self._answers),
                "hits": self._hits,
                "misses": self._misses,
                "evictions": self._evictions,
            }

    def close(self) -> None:
        """Forgets all, and ends the threads that refresh."""
        with self._lock:
            self._closed = True
            self._answers.clear()
            self._loading.clear()
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _fresh(self, key: KeyT, now: float) -> _Answer | None:
        answer = self._answers.get(key)
        if answer is None:
            return None
        if now - answer.asked_at >= self._policy.ttl:
            del self._answers[key]
            return None
        self._answers.move_to_end(key)
        return answer

    def _is_stale(self, answer: _Answer, now: float) -> bool:
        return self._policy.refresh is not None and now - answer.asked_at >= self._policy.refresh

    def _begin_refresh(self, keys: Sequence[KeyT]) -> Future[Mapping[KeyT, object]] | None:
        if not keys or self._closed:
            return None
        future: Future[Mapping[KeyT, object]] = Future()
        for key in keys:
            self._loading[key] = future
        return future

    def _refresh(
        self,
        keys: Sequence[KeyT],
        future: Future[Mapping[KeyT, object]],
        load: Callable[[Sequence[KeyT]], Mapping[KeyT, object]],
    ) -> None:
        def run() -> None:
            try:
                self._load(keys, future, load)
            except ConnectorError:
                # The old answer serves until it is too old; then the next to ask gets the error.
                return

        try:
            with self._lock:
                if self._pool is None and not self._closed:
                    self._pool = ThreadPoolExecutor(
                        self._policy.refresh_threads, thread_name_prefix="metastore-refresh"
                    )
                pool = self._pool
            if pool is None:
                raise RuntimeError
            pool.submit(run)
        except RuntimeError:
            # Closed meanwhile: those who wait still get an answer.
            run()

    def _load(
        self,
        keys: Sequence[KeyT],
        future: Future[Mapping[KeyT, object]],
        load: Callable[[Sequence[KeyT]], Mapping[KeyT, object]],
    ) -> Mapping[KeyT, object]:
        asked_at = self._clock()
        try:
            values = load(keys)
        except BaseException as error:
            with self._lock:
                self._end_loading(keys, future)
            future.set_exception(error)
            raise
        with self._lock:
            for key in self._end_loading(keys, future):
                if self._keeps(values[key]):
                    self._answers[key] = _Answer(values[key], asked_at)
                    self._answers.move_to_end(key)
                else:
                    self._answers.pop(key, None)
            while len(self._answers) > self._policy.maximum_size:
                self._answers.popitem(last=False)
                self._evictions += 1
        future.set_result(values)
        return values

    def _end_loading(self, keys: Sequence[KeyT], future: Future[Mapping[KeyT, object]]) -> list[KeyT]:
        """The keys that were not invalidated since."""
        valid = [key for key in keys if self._loading.get(key) is future]
        for key in valid:
            del self._loading[key]
        return valid

    def _keeps(self, value: object) -> bool:
        if self._closed or self._policy.ttl <= 0:
            return False
        return self._policy.missing if value is None else self._may_keep(value)


@dataclass(frozen=True, slots=True)
class _Answer:
    value: object
    asked_at: float
