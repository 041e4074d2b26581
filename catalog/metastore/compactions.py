"""Compactions of transactional tables: what is asked of a metastore, and what it tells of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum

from connector_spi.serializable import Serializable

__all__ = ["Compaction", "CompactionClient", "CompactionKind", "RequestedCompaction"]


class CompactionKind(Enum):
    """What a compaction makes; the number is that of the metastore's Thrift (``CompactionType``)."""

    MINOR = 1
    """One delta, and one delete delta, of all that are there."""
    MAJOR = 2
    """A base, with the deleted rows left out."""


@dataclass(frozen=True, slots=True)
class RequestedCompaction(Serializable):
    """The answer to a request.

    Attributes:
        compaction: Its id; where one was asked for before and has not begun or ended, that one's.
        state: As of ``Compaction``.
        accepted: It is a new one.
    """

    compaction: int
    state: str
    accepted: bool


@dataclass(frozen=True, slots=True)
class Compaction(Serializable):
    """One line of what ``SHOW COMPACTIONS`` shows.

    Attributes:
        compaction: Its id; 0 where the metastore does not tell.
        partition: Name of the partition; ``None`` where the table has none.
        kind: Hive's word in lower case, such as ``major``; of kinds that are not known their number.
        state: Hive's word, such as ``initiated``, ``working``, ``ready for cleaning``, ``succeeded``, ``failed``.
        worker: Who does it; ``None`` where no one does yet.
        start: When it began, in milliseconds since 1970; ``None`` where it has not.
        end: When it ended, as ``start``.
        error: Why it failed; ``None`` where it has not, or the metastore does not tell.
    """

    compaction: int
    partition: str | None
    kind: str
    state: str
    worker: str | None = None
    start: int | None = None
    end: int | None = None
    error: str | None = None


class CompactionClient(ABC):
    """Compactions, which workers of Hive make; a metastore alone only keeps the list of them."""

    @abstractmethod
    def request_compaction(
        self, database: str, table: str, partition: str | None, kind: CompactionKind
    ) -> RequestedCompaction:
        """Puts a compaction on the list, if none of the same table or partition waits or is made.

        Args:
            database: Name of the database.
            table: A transactional table.
            partition: Name of the partition, where the table has some.
            kind: What is made.

        Raises:
            NotSupportedError: No one would make it.
            MetastoreError: The metastore refuses.
        """

    @abstractmethod
    def show_compactions(self, database: str, table: str) -> list[Compaction]:
        """The compactions of a table that wait, are made, or have ended not long ago; the newest first."""
