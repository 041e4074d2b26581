"""The metastore as three small contracts: reads, writes, transactions.

Every method may raise ``MetastoreError`` when the metastore is down, slow beyond the configured timeout, or answers
with an error of its own; no call hangs. Names are matched without regard to case, as Hive does, and come back in
lower case. All implementations may be used by many threads at once. Only the driver holds one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from catalog.metastore.compactions import CompactionClient
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Parameters, Partition, Table
from catalog.metastore.partitions.names import prune_partition_names
from catalog.metastore.transactions import (
    HeldLock,
    LockComponent,
    LockedObject,
    LockOperation,
    ValidTransactions,
    ValidWriteIds,
)
from connector_spi.errors import NotSupportedError

if TYPE_CHECKING:
    from connector_spi.predicate import TupleDomain

__all__ = ["MetastoreClient", "MetastoreWriter", "TransactionClient"]


class MetastoreClient(ABC):
    """Reads of databases, tables, partitions and statistics. Every call is safe to repeat."""

    @abstractmethod
    def get_databases(self) -> list[str]:
        """Names of all databases, sorted."""

    @abstractmethod
    def get_database(self, name: str) -> Database | None:
        """The database, or ``None`` when there is none of this name."""

    @abstractmethod
    def get_table_names(self, database: str) -> list[str]:
        """Names of all tables and views of a database, sorted.

        Raises:
            SchemaNotFoundError: There is no such database.
        """

    @abstractmethod
    def get_table(self, database: str, name: str) -> Table | None:
        """The table or view, or ``None`` when it or its database is missing.

        Raises:
            NotSupportedError: The metastore keeps the table from clients with our abilities.
        """

    def get_tables(self, database: str, names: Sequence[str]) -> list[Table]:
        """The tables and views of these names, in no order; by default one call for each.

        What is missing is left out, and so is what the metastore keeps from clients with our abilities. ``access`` may
        be unknown: Hive 4 tells it of single tables only.
        """
        found = []
        for name in names:
            # Only the table itself is kept from us: others are still told.
            with suppress(NotSupportedError):
                found.append(self.get_table(database, name))
        return [table for table in found if table is not None]

    @abstractmethod
    def get_partition_names(self, database: str, table: str) -> list[str]:
        """Names of all partitions, such as ``ds=2024-01-01/region=a%2Fb``, sorted as text.

        ``partition_names.parse_partition_name`` reads them. A table that is not partitioned has none.

        Raises:
            TableNotFoundError: There is no such table.
        """

    def filters_partitions(self, predicate: TupleDomain[str], partition_keys: Sequence[FieldSchema]) -> bool:
        """Whether the metastore itself would find the partitions of a predicate, instead of naming all of them."""
        return False

    def get_partition_names_by_filter(
        self,
        database: str,
        table: str,
        predicate: TupleDomain[str],
        partition_keys: Sequence[FieldSchema] = (),
    ) -> list[str]:
        """Names of the partitions that may hold rows of which ``predicate`` is true, sorted as text.

        Names too many may come back, never too few: a value that cannot be read as the domain's type is kept. By
        default all names are fetched and pruned here.

        Args:
            database: Name of the database.
            table: Name of the table.
            predicate: Domains of partition keys by lower-case name; domains of other names are not looked at.
                Each domain's type is the Arrow type of the key.
            partition_keys: The table's keys in order, if the caller has them: they let the metastore do some of
                the work.

        Raises:
            TableNotFoundError: There is no such table.
        """
        return prune_partition_names(self.get_partition_names(database, table), predicate)

    @abstractmethod
    def get_partitions_by_names(self, database: str, table: str, names: Iterable[str]) -> list[Partition]:
        """The partitions of these names, in the order of the names.

        Names that are not there (dropped since they were listed) are left out; the caller decides what that means.
        The metastore is asked in batches, so the list may be long.

        Raises:
            TableNotFoundError: There is no such table.
        """

    def get_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> list[ColumnStatistics]:
        """Statistics of a table's columns, in the order of ``columns``; a column without any is left out.

        Raises:
            TableNotFoundError: There is no such table.
        """
        return []

    def get_partition_statistics(
        self, database: str, table: str, partitions: Sequence[str], columns: Sequence[str]
    ) -> Mapping[str, list[ColumnStatistics]]:
        """Statistics of columns by partition name; a partition or column without any is left out.

        Raises:
            TableNotFoundError: There is no such table.
        """
        return {}

    def close(self) -> None:
        """Releases the connections. May be called more than once; no other call may follow."""


class MetastoreWriter(ABC):
    """Writes of what describes tables. No call is repeated by itself: it may have been done."""

    deletes_files: bool = True
    """Whether the metastore deletes the files of what is dropped, where it is asked to."""

    def check_allowed(self, what: str) -> None:
        """Refuses what would end in writes where there may be none; else nothing.

        Args:
            what: Is done, as in "cannot ...".

        Raises:
            NotSupportedError: With code ``READ_ONLY_CATALOG``.
        """

    @abstractmethod
    def create_database(self, database: Database) -> None:
        """Makes a database.

        Raises:
            MetastoreError: With code ``METASTORE_ALREADY_EXISTS`` when there is one of this name.
        """

    @abstractmethod
    def alter_database(self, database: Database) -> None:
        """Replaces comment, location and properties of the database of this name.

        Raises:
            SchemaNotFoundError: There is no such database.
        """

    @abstractmethod
    def create_table(self, table: Table) -> None:
        """Makes a table. One of type ``EXTERNAL_TABLE`` also gets the property ``EXTERNAL=TRUE``.

        Raises:
            SchemaNotFoundError: There is no such database.
            MetastoreError: With code ``METASTORE_ALREADY_EXISTS`` when there is one of this name.
        """

    @abstractmethod
    def planned_location(self, table: Table) -> str:
        """The directory that ``create_table`` would give a table that names none; nothing is made.

        Raises:
            SchemaNotFoundError: There is no such database.
        """

    @abstractmethod
    def alter_table(self, database: str, name: str, table: Table) -> None:
        """Replaces the entry of a table, which keeps its partitions, statistics and files.

        Args:
            database: Name of its database.
            name: Name of the table.
            table: The new entry; another name in it renames the table. Its location has to be the old one.

        Raises:
            TableNotFoundError: There is no such table.
            MetastoreError: The new name is taken, or the metastore refuses.
        """

    @abstractmethod
    def drop_table(self, database: str, name: str, delete_data: bool = False, purge: bool = False) -> None:
        """Drops a table with its partitions and statistics.

        Args:
            database: Name of the database.
            name: Name of the table.
            delete_data: Whether the metastore deletes a managed table's files.
            purge: Whether it deletes them for good, past a trash.

        Raises:
            TableNotFoundError: There is no such table.
        """

    @abstractmethod
    def drop_database(self, name: str, cascade: bool = False) -> None:
        """Drops a database.

        Args:
            name: Name of the database.
            cascade: Whether its tables go too. No files are deleted.

        Raises:
            SchemaNotFoundError: There is no such database.
            MetastoreError: It has tables and ``cascade`` is false.
        """

    @abstractmethod
    def add_partitions(self, database: str, table: str, partitions: Sequence[Partition]) -> None:
        """Adds partitions to a table: all of them, or none.

        Raises:
            TableNotFoundError: There is no such table.
            MetastoreError: With code ``METASTORE_ALREADY_EXISTS`` when one of them is there.
        """

    @abstractmethod
    def drop_partitions(self, database: str, table: str, names: Sequence[str]) -> None:
        """Drops partitions by their names, in one call; no files are deleted.

        Raises:
            TableNotFoundError: There is no such table.
            MetastoreError: One of them is not there; then none is dropped.
        """

    @abstractmethod
    def set_partition_parameters(self, database: str, table: str, parameters: Mapping[str, Parameters]) -> None:
        """Replaces the properties of partitions, by their names, in one call; of nothing else, statistics included.

        Raises:
            TableNotFoundError: There is no such table.
            MetastoreError: One of them is not there; then none is changed.
        """

    @abstractmethod
    def set_table_statistics(self, database: str, table: str, statistics: Sequence[ColumnStatistics]) -> None:
        """Sets or replaces statistics of a table's columns.

        Raises:
            TableNotFoundError: There is no such table.
        """

    @abstractmethod
    def set_partition_statistics(
        self, database: str, table: str, statistics: Mapping[str, Sequence[ColumnStatistics]]
    ) -> None:
        """Sets or replaces statistics of columns by partition name.

        Raises:
            TableNotFoundError: There is no such table.
            MetastoreError: A partition is not there.
        """

    @abstractmethod
    def drop_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> None:
        """Drops the statistics of all columns of a table, if there are any; those of its partitions stay.

        Args:
            database: Name of the database.
            table: Name of the table.
            columns: The table's columns: a metastore may have to be asked which of them have statistics.

        Raises:
            MetastoreError: The table is transactional, and the metastore, of Hive 4, drops none of it.
        """

    @abstractmethod
    def drop_partition_statistics(
        self, database: str, table: str, columns: Sequence[str], partitions: Sequence[str]
    ) -> None:
        """As ``drop_table_statistics``, of partitions by their names; one that is not there has no statistics."""


class TransactionClient(CompactionClient):
    """Transactions, write ids, locks and compactions of Hive 3 and later.

    A transaction that ended or timed out makes a call about it raise ``MetastoreError`` with the code
    ``METASTORE_TRANSACTION_ENDED``; only committing what is committed already may pass in silence (Hive 3 and 4).
    """

    @abstractmethod
    def open_transaction(self, user: str, agent: str) -> int:
        """Opens a transaction and gives its id, which is higher than all before it.

        Args:
            user: Who asks.
            agent: What asks, such as a query id; shown by SHOW TRANSACTIONS.
        """

    @abstractmethod
    def commit(self, transaction: int) -> None:
        """Commits; the transaction's locks are released.

        Where another transaction has updated rows of the same table or partition, or deleted some that this one has
        updated, and was committed since this one was opened, this one is aborted. An embedded metastore compares
        nothing: there a writer that changes rows locks others out.
        """

    @abstractmethod
    def abort(self, transaction: int) -> None:
        """Rolls back; the transaction's locks are released."""

    @abstractmethod
    def get_valid_transactions(self, current: int = 0) -> ValidTransactions:
        """The transactions that a reader may see now.

        Args:
            current: The reader's own transaction, which is not among the open ones and bounds the high watermark
                (``TxnCommonUtils.createValidReadTxnList``); 0 for a reader without one.
        """

    @abstractmethod
    def get_valid_write_ids(
        self, tables: Sequence[tuple[str, str]], transactions: ValidTransactions
    ) -> list[ValidWriteIds]:
        """The write ids of each table that ``transactions`` lets a reader see, in the order of ``tables``.

        Args:
            tables: Database and table of each.
            transactions: What ``get_valid_transactions`` gave, after the locks were taken.
        """

    @abstractmethod
    def allocate_write_ids(self, transactions: Sequence[int], database: str, table: str) -> Mapping[int, int]:
        """Gives each open transaction its write id of the table; asked again, the same id."""

    @abstractmethod
    def add_dynamic_partitions(
        self,
        transaction: int,
        write_id: int,
        table: tuple[str, str],
        partitions: Sequence[str],
        operation: LockOperation = LockOperation.INSERT,
    ) -> None:
        """Says which partitions were written to under a lock with ``dynamic_partitions``, before the commit.

        Args:
            transaction: An open transaction.
            write_id: Its write id of the table.
            table: Database and table.
            partitions: Names such as ``ds=2024-01-01``.
            operation: What was done there; of updates and deletes, two at once are a conflict.
        """

    @abstractmethod
    def lock(self, transaction: int, components: Sequence[LockComponent], user: str, agent: str) -> LockedObject:
        """Asks for locks within a transaction. Gives at once, held or waiting; ``check_lock`` asks again."""

    @abstractmethod
    def check_lock(self, lock: int, transaction: int) -> LockedObject:
        """Tries again to get a waiting lock; also counts as a heartbeat."""

    @abstractmethod
    def unlock(self, lock: int) -> None:
        """Releases a lock that belongs to no transaction; a transaction's locks end with it.

        Raises:
            MetastoreError: The lock belongs to a transaction. That it is released already may pass in silence.
        """

    @abstractmethod
    def heartbeat(self, transaction: int) -> None:
        """Says that the transaction is alive; without it the metastore aborts it after its timeout."""

    @abstractmethod
    def show_locks(self, database: str, table: str) -> list[HeldLock]:
        """The locks on a table, its partitions and its database, held and waited for, oldest first."""

    @abstractmethod
    def timeout_seconds(self) -> float:
        """After how many seconds without a heartbeat the metastore aborts a transaction."""
