"""What the driver remembers during one transaction: answers by key, each made once. Driver side."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar, cast

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.metadata import ConnectorMetadata
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HudiTransaction", "Memo", "MemoKey"]

T = TypeVar("T")


class MemoKey(Generic[T]):
    """Names an answer of the type ``T``. Subclasses are frozen, slotted dataclasses."""

    __slots__ = ()


class Memo:
    """Answers by key. Two threads that ask for one key get the same answer; different keys do not wait."""

    def __init__(self) -> None:
        self._entries: dict[MemoKey[object], _Entry] = {}
        self._guard = threading.Lock()

    def get(self, key: MemoKey[T], make: Callable[[], T]) -> T:
        """The answer to a key.

        Args:
            key: Names the answer.
            make: Makes it, where it is not there; what it raises is not kept.
        """
        with self._guard:
            entry = self._entries.setdefault(cast("MemoKey[object]", key), _Entry())
        with entry.lock:
            if not entry.is_made:
                entry.answer = make()
                entry.is_made = True
            return cast("T", entry.answer)

    def find(self, key: MemoKey[T]) -> T | None:
        """The answer to a key, where it was made."""
        with self._guard:
            entry = self._entries.get(cast("MemoKey[object]", key))
        return cast("T", entry.answer) if entry is not None and entry.is_made else None


class HudiTransaction(ConnectorTransaction):
    """One transaction: each question about a table is answered once in it, so all uses see one instant.

    Args:
        files: Storage.
        pool: Directories are listed in it.
        kept_memory: Most bytes that the process keeps of tables for its next transactions; 0 keeps nothing.

    Attributes:
        files: Storage.
        pool: Directories are listed in it.
        kept_memory: Most bytes that the process keeps of tables for its next transactions.
        memo: The snapshots, metadata tables and plans so far.
        metadata: The connector's answers within the transaction, set by it.
    """

    def __init__(self, files: FileSystem, pool: ThreadPoolExecutor, kept_memory: int = 0) -> None:
        super().__init__()
        self.files = files
        self.pool = pool
        self.kept_memory = kept_memory
        self.memo = Memo()
        self.metadata: ConnectorMetadata | None = None


class _Entry:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_made = False
        self.answer: object = None
