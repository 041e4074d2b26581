"""The transactions of a metastore that has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catalog.metastore import error_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.compactions import Compaction, CompactionJob, CompactionKind, RequestedCompaction
from catalog.metastore.transactions import (
    HeldLock,
    LockComponent,
    LockedObject,
    LockOperation,
    ValidTransactions,
    ValidWriteIds,
)
from connector_spi.errors import NotSupportedError

__all__ = ["NoTransactions"]


class NoTransactions(TransactionClient):
    """Refuses every call, as a metastore of Hive 2 does; only tables that are not transactional can be read.

    Args:
        metastore: The metastore, for messages.
    """

    def __init__(self, metastore: str) -> None:
        self._metastore = metastore

    def open_transaction(self, user: str, agent: str) -> int:
        raise self._refused()

    def commit(self, transaction: int) -> None:
        raise self._refused()

    def abort(self, transaction: int) -> None:
        raise self._refused()

    def get_valid_transactions(self, current: int = 0) -> ValidTransactions:
        raise self._refused()

    def get_valid_write_ids(
        self, tables: Sequence[tuple[str, str]], transactions: ValidTransactions
    ) -> list[ValidWriteIds]:
        raise self._refused()

    def allocate_write_ids(self, transactions: Sequence[int], database: str, table: str) -> Mapping[int, int]:
        raise self._refused()

    def add_dynamic_partitions(
        self,
        transaction: int,
        write_id: int,
        table: tuple[str, str],
        partitions: Sequence[str],
        operation: LockOperation = LockOperation.INSERT,
    ) -> None:
        raise self._refused()

    def lock(self, transaction: int, components: Sequence[LockComponent], user: str, agent: str) -> LockedObject:
        raise self._refused()

    def check_lock(self, lock: int, transaction: int) -> LockedObject:
        raise self._refused()

    def unlock(self, lock: int) -> None:
        raise self._refused()

    def heartbeat(self, transaction: int) -> None:
        raise self._refused()

    def show_locks(self, database: str, table: str) -> list[HeldLock]:
        raise self._refused()

    def request_compaction(
        self, database: str, table: str, partition: str | None, kind: CompactionKind, pool: str | None = None
    ) -> RequestedCompaction:
        raise self._refused()

    def take_compaction(self, worker: str, pool: str | None) -> CompactionJob | None:
        raise self._refused()

    def open_compaction(self, user: str, agent: str) -> int:
        raise self._refused()

    def begin_compaction(self, job: CompactionJob, transaction: int) -> None:
        raise self._refused()

    def mark_compacted(self, job: CompactionJob) -> None:
        raise self._refused()

    def mark_failed(self, job: CompactionJob, why: str) -> None:
        raise self._refused()

    def mark_refused(self, job: CompactionJob, why: str) -> None:
        raise self._refused()

    def mark_cleaned(self, job: CompactionJob) -> None:
        raise self._refused()

    def show_compactions(self, database: str, table: str) -> list[Compaction]:
        raise self._refused()

    def timeout_seconds(self) -> float:
        raise self._refused()

    def _refused(self) -> NotSupportedError:
        return NotSupportedError(
            f"the metastore ({self._metastore}) has no transactions and write ids; transactional tables need one of "
            "Hive 3 or later",
            error_codes.NO_WRITE_IDS,
        )
