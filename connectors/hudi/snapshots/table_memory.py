"""What is kept of a table across queries, while its timeline does not change. Driver side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from connectors.hudi.transaction import MemoKey
from connectors.toolkit.caching.cache_state import registered
from connectors.toolkit.caching.process_cache import ProcessCache

__all__ = ["KEEPS_NOTHING", "PLANNING_CACHE", "TableMemory"]

T = TypeVar("T")

_SMALL = 1 << 10
"""About the bytes of an answer that does not know its own."""


def _size_of(answer: object) -> int:
    size = len(answer) if isinstance(answer, bytes) else getattr(answer, "nbytes", None)
    return _SMALL if size is None else _SMALL + int(size)


PLANNING_CACHE: ProcessCache[tuple[object, MemoKey[object]], object] = registered(
    ProcessCache("hudi-planning", _size_of)
)
"""The cache of this process: by what an answer is about, and the question."""


class TableMemory:
    """Answers about one state of a table's timeline, kept across transactions as long as memory lasts.

    A table whose timeline has changed gets another one. Two are never equal.

    Args:
        memory: Most bytes that the process keeps for all tables; 0 keeps nothing.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory

    def get(self, key: MemoKey[T], make: Callable[[], T], keeps: Callable[[T], bool] = lambda _: True) -> T:
        """The answer to a key.

        Args:
            key: Names the answer, which is not ``None``.
            make: Makes it, where it is not kept; what it raises is not kept.
            keeps: Whether the answer may be kept.
        """
        return self._get(self, key, make, keeps)

    def of_any_table(self, key: MemoKey[T], make: Callable[[], T]) -> T:
        """The answer to a key that says for itself what it is about; it outlasts changes of the timeline."""
        return self._get(None, key, make, lambda _: True)

    def find(self, key: MemoKey[T]) -> T | None:
        """The answer to a key of this state, where it is kept."""
        found = PLANNING_CACHE.find((self, cast("MemoKey[object]", key)), self._memory) if self._memory > 0 else None
        return cast("T | None", found)

    def put(self, key: MemoKey[T], answer: T) -> None:
        """Keeps the answer to a key of this state."""
        if self._memory > 0:
            PLANNING_CACHE.put((self, cast("MemoKey[object]", key)), answer, self._memory)

    def drop(self) -> int:
        """Drops all that is kept; returns how many answers."""
        return PLANNING_CACHE.drop(lambda key: key[0] is self)

    def _get(self, about: object, key: MemoKey[T], make: Callable[[], T], keeps: Callable[[T], bool]) -> T:
        if self._memory <= 0:
            return make()
        known = cast("MemoKey[object]", key)
        answer = PLANNING_CACHE.get((about, known), make, self._memory, cast("Callable[[object], bool]", keeps))
        return cast("T", answer)


KEEPS_NOTHING = TableMemory(0)
"""For tables whose timeline was not listed, or whose storage does not say when files were written."""
