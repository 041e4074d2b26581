"""Repeats calls that lost their connection, where doing them twice does no harm."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from catalog.metastore import error_codes
from catalog.metastore.client import MetastoreClient, TransactionClient
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Partition, Table
from catalog.metastore.transactions import HeldLock, LockComponent, LockedObject, ValidTransactions, ValidWriteIds
from connector_spi.errors import MetastoreError

if TYPE_CHECKING:
    from connector_spi.predicate import TupleDomain

__all__ = ["RetryPolicy", "RetryingMetastore", "RetryingTransactions"]

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after what wait a call is repeated.

    Only a lost or refused connection is worth another try: a call that timed out has used up its time, and one
    that was answered with an error would be again.

    Attributes:
        max_retries: Most repetitions of one call; 0 never repeats.
        first_wait: Seconds before the first repetition, at most; each later wait may be twice as long.
        max_wait: Seconds of the longest wait.
        sleep: Waits; tests put in their own.
    """

    max_retries: int = 3
    first_wait: float = 0.2
    max_wait: float = 5.0
    sleep: Callable[[float], None] = time.sleep

    def run(self, call: Callable[[], ResultT]) -> ResultT:
        """Makes the call, again where that helps; the last error is raised as it came."""
        for attempt in range(self.max_retries):
            try:
                return call()
            except MetastoreError as error:
                if error.code != error_codes.CONNECTION_FAILED:
                    raise
            # Waits of chance length keep clients that lost one server apart.
            longest = min(self.max_wait, self.first_wait * 2**attempt)
            self.sleep(random.uniform(longest / 2, longest))
        return call()


class RetryingMetastore(MetastoreClient):
    """Reads with repetition; every read is safe to repeat.

    Args:
        delegate: Whom to ask; closed with this client.
        policy: When to ask again.
    """

    def __init__(self, delegate: MetastoreClient, policy: RetryPolicy) -> None:
        self._delegate = delegate
        self._policy = policy

    def get_databases(self) -> list[str]:
        return self._policy.run(self._delegate.get_databases)

    def get_database(self, name: str) -> Database | None:
        return self._policy.run(lambda: self._delegate.get_database(name))

    def get_table_names(self, database: str) -> list[str]:
        return self._policy.run(lambda: self._delegate.get_table_names(database))

    def get_table(self, database: str, name: str) -> Table | None:
        return self._policy.run(lambda: self._delegate.get_table(database, name))

    def get_partition_names(self, database: str, table: str) -> list[str]:
        return self._policy.run(lambda: self._delegate.get_partition_names(database, table))

    def get_partition_names_by_filter(
        self,
        database: str,
        table: str,
        predicate: TupleDomain[str],
        partition_keys: Sequence[FieldSchema] = (),
    ) -> list[str]:
        return self._policy.run(
            lambda: self._delegate.get_partition_names_by_filter(database, table, predicate, partition_keys)
        )

    def get_partitions_by_names(self, database: str, table: str, names: Iterable[str]) -> list[Partition]:
        wanted = list(names)
        return self._policy.run(lambda: self._delegate.get_partitions_by_names(database, table, wanted))

    def get_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> list[ColumnStatistics]:
        return self._policy.run(lambda: self._delegate.get_table_statistics(database, table, columns))

    def get_partition_statistics(
        self, database: str, table: str, partitions: Sequence[str], columns: Sequence[str]
    ) -> Mapping[str, list[ColumnStatistics]]:
        return self._policy.run(lambda: self._delegate.get_partition_statistics(database, table, partitions, columns))

    def close(self) -> None:
        self._delegate.close()


class RetryingTransactions(TransactionClient):
    """Transactions with repetition of the calls that may be done twice.

    Opening, committing, aborting, locking and unlocking are done once: when the connection breaks, nobody knows
    whether they were done.
    """

    def __init__(self, delegate: TransactionClient, policy: RetryPolicy) -> None:
        self._delegate = delegate
        self._policy = policy

    def open_transaction(self, user: str, agent: str) -> int:
        return self._delegate.open_transaction(user, agent)

    def commit(self, transaction: int) -> None:
        self._delegate.commit(transaction)

    def abort(self, transaction: int) -> None:
        self._delegate.abort(transaction)

    def get_valid_transactions(self, current: int = 0) -> ValidTransactions:
        return self._policy.run(lambda: self._delegate.get_valid_transactions(current))

    def get_valid_write_ids(
        self, tables: Sequence[tuple[str, str]], transactions: ValidTransactions
    ) -> list[ValidWriteIds]:
        return self._policy.run(lambda: self._delegate.get_valid_write_ids(tables, transactions))

    def allocate_write_ids(self, transactions: Sequence[int], database: str, table: str) -> Mapping[int, int]:
        return self._policy.run(lambda: self._delegate.allocate_write_ids(transactions, database, table))

    def lock(self, transaction: int, components: Sequence[LockComponent], user: str, agent: str) -> LockedObject:
        return self._delegate.lock(transaction, components, user, agent)

    def check_lock(self, lock: int, transaction: int) -> LockedObject:
        return self._policy.run(lambda: self._delegate.check_lock(lock, transaction))

    def unlock(self, lock: int) -> None:
        self._delegate.unlock(lock)

    def heartbeat(self, transaction: int) -> None:
        self._policy.run(lambda: self._delegate.heartbeat(transaction))

    def show_locks(self, database: str, table: str) -> list[HeldLock]:
        return self._policy.run(lambda: self._delegate.show_locks(database, table))

    def timeout_seconds(self) -> float:
        return self._policy.run(self._delegate.timeout_seconds)

    @property
    def numbers_compactions(self) -> bool:
        return self._delegate.numbers_compactions
