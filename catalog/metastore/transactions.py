"""The values that the calls about transactions take and give (Hive's metastore Thrift, ``TxnHandler``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from connector_spi.serializable import Serializable

__all__ = [
    "NO_MINIMUM",
    "HeldLock",
    "LockComponent",
    "LockLevel",
    "LockOperation",
    "LockState",
    "LockType",
    "LockedObject",
    "ValidTransactions",
    "ValidWriteIds",
]

NO_MINIMUM = 2**63 - 1
"""The lowest open id of a list in which none is open (Java's Long.MAX_VALUE)."""


@dataclass(frozen=True, slots=True)
class ValidTransactions(Serializable):
    """Which transactions a reader may see: all up to the high watermark, but the open and the aborted ones.

    Attributes:
        high_watermark: Highest transaction id given out.
        open: Open transactions, ascending.
        aborted: Aborted transactions whose traces are not yet cleaned up, ascending.
        minimum_open: Lowest open transaction; ``NO_MINIMUM`` when none is open.
    """

    high_watermark: int
    open: tuple[int, ...] = ()
    aborted: tuple[int, ...] = ()
    minimum_open: int = NO_MINIMUM

    def is_valid(self, transaction: int) -> bool:
        """Whether ``transaction`` is committed as this list sees it."""
        return transaction <= self.high_watermark and transaction not in self.open and transaction not in self.aborted

    def to_text(self) -> str:
        """Hive's own text, ``highWatermark:minOpen:open,...:aborted,...`` (``ValidReadTxnList.writeToString``).

        Runs of ids are never shortened to ``a-b``: Hive 3 cannot read that.
        """
        return f"{self.high_watermark}:{self.minimum_open}:{_joined(self.open)}:{_joined(self.aborted)}"


@dataclass(frozen=True, slots=True)
class ValidWriteIds(Serializable):
    """Which write ids of one table a reader may see: all up to the high watermark, but the open and aborted ones.

    Attributes:
        table: ``database.table``, lower case.
        high_watermark: Highest write id that the reader's transactions know.
        open: Write ids of open transactions, ascending.
        aborted: Write ids of aborted transactions, ascending.
        minimum_open: Lowest open write id; ``NO_MINIMUM`` when none is open.
    """

    table: str
    high_watermark: int
    open: tuple[int, ...] = ()
    aborted: tuple[int, ...] = ()
    minimum_open: int = NO_MINIMUM

    def to_text(self) -> str:
        """Hive's text, ``table:highWatermark:minOpen:open,...:aborted,...`` (``ValidReaderWriteIdList``)."""
        ids = f"{_joined(self.open)}:{_joined(self.aborted)}"
        return f"{self.table}:{self.high_watermark}:{self.minimum_open}:{ids}"


class LockType(Enum):
    """How a lock excludes others; the values are Thrift's."""

    SHARED_READ = 1
    SHARED_WRITE = 2
    EXCLUSIVE = 3
    EXCL_WRITE = 4


class LockLevel(Enum):
    """What a lock covers; the values are Thrift's."""

    DB = 1
    TABLE = 2
    PARTITION = 3


class LockOperation(Enum):
    """Why a lock is taken (``DataOperationType``); the values are Thrift's."""

    SELECT = 1
    INSERT = 2
    UPDATE = 3
    DELETE = 4
    UNSET = 5
    NO_TXN = 6


class LockState(Enum):
    """What became of a request for locks; the values are Thrift's."""

    ACQUIRED = 1
    WAITING = 2
    ABORT = 3
    NOT_ACQUIRED = 4


@dataclass(frozen=True, slots=True)
class LockComponent(Serializable):
    """One thing to lock.

    Attributes:
        database: Lower-case name of the database.
        table: Lower-case name of the table; ``None`` locks the database.
        partition: Name of the partition, such as ``ds=2024-01-01``; ``None`` locks the whole table.
        type: How it excludes others.
        operation: Why it is taken.
        transactional: Whether the table is transactional.
        dynamic_partitions: What is written is not known yet: ``add_dynamic_partitions`` will say it.
    """

    database: str
    table: str | None = None
    partition: str | None = None
    type: LockType = LockType.SHARED_READ
    operation: LockOperation = LockOperation.SELECT
    transactional: bool = True
    dynamic_partitions: bool = False

    @property
    def level(self) -> LockLevel:
        """What it covers."""
        if self.table is None:
            return LockLevel.DB
        return LockLevel.TABLE if self.partition is None else LockLevel.PARTITION


@dataclass(frozen=True, slots=True)
class LockedObject(Serializable):
    """The answer to a request for locks.

    Attributes:
        lock: Id of the lock, for ``check_lock`` and ``unlock``.
        state: Whether all its components are held.
    """

    lock: int
    state: LockState


@dataclass(frozen=True, slots=True)
class HeldLock(Serializable):
    """One line of what ``SHOW LOCKS`` shows: a lock on one thing, held or waited for.

    Attributes:
        lock: Id of the lock.
        transaction: Whose it is; 0 where it belongs to no transaction.
        database: Lower-case name of the database.
        table: Lower-case name of the table; ``None`` where the database is locked.
        partition: Name of the partition; ``None`` where all of the table is locked.
        type: How it excludes others.
        state: Whether it is held.
        user: Who asked for it.
        host: The machine it was asked from; empty where not known.
        agent: What asked, such as a query id; empty where not recorded.
    """

    lock: int
    transaction: int
    database: str
    table: str | None
    partition: str | None
    type: LockType
    state: LockState
    user: str
    host: str
    agent: str


def _joined(ids: tuple[int, ...]) -> str:
    return ",".join(map(str, ids))
