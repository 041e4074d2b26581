"""Compactions of transactional tables: what is asked of a metastore, and what it tells of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from connector_spi.serializable import Serializable

if TYPE_CHECKING:
    from catalog.metastore.transactions import ValidTransactions

__all__ = ["Compaction", "CompactionClient", "CompactionJob", "CompactionKind", "RequestedCompaction"]


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
        pool: Whose workers make it; ``None`` for all.
        transaction: The metastore's transaction that it is made in; ``None`` before, and where it is not told.
        next_transaction: The first transaction that has begun after it was committed; ``None`` as ``transaction``.
        committed: When that was, in milliseconds since 1970; ``None`` as ``transaction``.
        highest_write_id: The highest write id that was looked at; ``None`` as ``transaction``.
    """

    compaction: int
    partition: str | None
    kind: str
    state: str
    worker: str | None = None
    start: int | None = None
    end: int | None = None
    error: str | None = None
    pool: str | None = None
    transaction: int | None = None
    next_transaction: int | None = None
    committed: int | None = None
    highest_write_id: int | None = None


@dataclass(frozen=True, slots=True)
class CompactionJob(Serializable):
    """A compaction as its worker has it.

    Attributes:
        compaction: Its id.
        database: Name of the database.
        table: Name of the table.
        partition: Name of the partition; ``None`` where the table has none.
        kind: What is made; ``None`` of kinds that are not known.
        user: In whose name; ``None`` where it is not said.
        highest_write_id: The highest write id that is looked at; 0 where it is not known yet.
    """

    compaction: int
    database: str
    table: str
    partition: str | None
    kind: CompactionKind | None
    user: str | None = None
    highest_write_id: int = 0


class CompactionClient(ABC):
    """Compactions: a metastore only keeps the list of them, workers make them, cleaners delete what they replace.

    The calls of workers and cleaners are those of Hive 4 (``Worker``, ``Cleaner``); a metastore of Hive 3 has them for
    threads of its own alone, and refuses them (code ``NO_SUCH_CALL``).
    """

    @abstractmethod
    def request_compaction(
        self, database: str, table: str, partition: str | None, kind: CompactionKind, pool: str | None = None
    ) -> RequestedCompaction:
        """Puts a compaction on the list, if none of the same table or partition waits or is made.

        Args:
            database: Name of the database.
            table: A transactional table.
            partition: Name of the partition, where the table has some.
            kind: What is made.
            pool: Whose workers make it; ``None`` for all. Hive 3 passes over it.

        Raises:
            MetastoreError: The metastore refuses.
        """

    @abstractmethod
    def show_compactions(self, database: str, table: str) -> list[Compaction]:
        """The compactions of a table that wait, are made, or have ended not long ago; the newest first."""

    @abstractmethod
    def take_compaction(self, worker: str, pool: str | None) -> CompactionJob | None:
        """Takes the one that waits longest, which is from then on the worker's; ``None`` where none waits.

        Args:
            worker: What ``show_compactions`` shows.
            pool: Only those of a pool; ``None`` for those of none.
        """

    @abstractmethod
    def open_compaction(self, user: str, agent: str) -> int:
        """Opens the transaction that a compaction is made in; its files are visible when it is committed.

        Args:
            user: Who asks.
            agent: What asks.
        """

    @abstractmethod
    def begin_compaction(self, job: CompactionJob, transaction: int) -> None:
        """Says which transaction and highest write id a compaction has, before a file is written.

        So the metastore remembers the transaction, where it is aborted, until its files are deleted.
        """

    @abstractmethod
    def mark_compacted(self, job: CompactionJob) -> None:
        """The files are written: what they replace is ready for cleaning once the transaction is committed."""

    @abstractmethod
    def mark_failed(self, job: CompactionJob, why: str) -> None:
        """The compaction has failed, and is no longer on the list of those that wait."""

    @abstractmethod
    def mark_refused(self, job: CompactionJob, why: str) -> None:
        """There is nothing to do, or it cannot be done."""

    @abstractmethod
    def mark_cleaned(self, job: CompactionJob) -> None:
        """What was replaced is deleted; the metastore may forget aborted transactions up to the highest write id.

        No file of those must be left: its rows would be taken as committed.
        """

    def known_compactions(self, transactions: ValidTransactions) -> ValidTransactions:
        """The transactions by which names of compacted directories (``base_5_v17``) are looked at.

        Args:
            transactions: Those of a snapshot.
        """
        return transactions
