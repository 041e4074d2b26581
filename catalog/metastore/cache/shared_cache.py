"""Remembers what the metastore said across transactions, for a limited time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from catalog.metastore.cache import keys
from catalog.metastore.cache.caches_table import CacheRow
from catalog.metastore.cache.loading_cache import LoadingCache
from catalog.metastore.cache.policy import CachePolicy
from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Partition, Table
from catalog.metastore.partitions.names import partition_values

if TYPE_CHECKING:
    from connector_spi.predicate import TupleDomain

__all__ = ["SharedMetastoreCache"]

ResultT = TypeVar("ResultT")


class SharedMetastoreCache(MetastoreClient):
    """Reads that may be as old as the policy allows; calls pass through where it keeps nothing.

    Of transactional tables nothing is kept: what a transaction sees of them follows from locks and write ids, which are
    of now, and so must the partitions be. Errors are not kept.

    Args:
        delegate: The client to ask; closed by its owner.
        policy: How long and how many.
        clock: Seconds that only grow; tests put in their own.
    """

    def __init__(
        self, delegate: MetastoreClient, policy: CachePolicy, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._delegate = delegate
        self._policy = policy
        self._cache = LoadingCache[keys.CallKey](policy, _may_keep, clock)

    def get_databases(self) -> list[str]:
        return list(self._ask(keys.databases_key(), self._delegate.get_databases))

    def get_database(self, name: str) -> Database | None:
        return self._ask(keys.database_key(name), lambda: self._delegate.get_database(name))

    def get_table_names(self, database: str) -> list[str]:
        return list(self._ask(keys.tables_key(database), lambda: self._delegate.get_table_names(database)))

    def get_table(self, database: str, name: str) -> Table | None:
        return self._ask(keys.table_key(database, name), lambda: self._delegate.get_table(database, name))

    def get_tables(self, database: str, names: Sequence[str]) -> list[Table]:
        return self._delegate.get_tables(database, names)

    def get_partition_names(self, database: str, table: str) -> list[str]:
        def ask() -> list[str]:
            return self._delegate.get_partition_names(database, table)

        if not self._keeps_partitions(database, table):
            return ask()
        return list(self._ask(keys.partition_names_key(database, table), ask))

    def filters_partitions(self, predicate: TupleDomain[str], partition_keys: Sequence[FieldSchema]) -> bool:
        return self._delegate.filters_partitions(predicate, partition_keys)

    def get_partition_names_by_filter(
        self,
        database: str,
        table: str,
        predicate: TupleDomain[str],
        partition_keys: Sequence[FieldSchema] = (),
    ) -> list[str]:
        def ask() -> list[str]:
            return self._delegate.get_partition_names_by_filter(database, table, predicate, partition_keys)

        if not self._keeps_partitions(database, table):
            return ask()
        return list(self._ask(keys.filtered_names_key(database, table, predicate, partition_keys), ask))

    def get_partitions_by_names(self, database: str, table: str, names: Iterable[str]) -> list[Partition]:
        wanted = list(names)
        if not wanted or not self._keeps_partitions(database, table):
            return self._delegate.get_partitions_by_names(database, table, wanted)
        asked = [keys.partition_key(database, table, name) for name in dict.fromkeys(wanted)]

        def load(missing: Sequence[keys.CallKey]) -> dict[keys.CallKey, object]:
            found = self._delegate.get_partitions_by_names(database, table, [key.partition for key in missing])
            by_values = {partition.values: partition for partition in found}
            return {key: by_values.get(partition_values(key.partition)) for key in missing}

        answers = self._cache.get(asked, load)
        by_name = {key.partition: cast("Partition | None", answer) for key, answer in answers.items()}
        ordered = (by_name[name] for name in wanted)
        return [partition for partition in ordered if partition is not None]

    def get_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> list[ColumnStatistics]:
        def ask() -> list[ColumnStatistics]:
            return self._delegate.get_table_statistics(database, table, columns)

        if not self._keeps_table(database, table):
            return ask()
        return list(self._ask(keys.table_statistics_key(database, table, columns), ask))

    def get_partition_statistics(
        self, database: str, table: str, partitions: Sequence[str], columns: Sequence[str]
    ) -> Mapping[str, list[ColumnStatistics]]:
        def ask() -> Mapping[str, list[ColumnStatistics]]:
            return self._delegate.get_partition_statistics(database, table, partitions, columns)

        if not self._keeps_partitions(database, table):
            return ask()
        return self._ask(keys.partition_statistics_key(database, table, partitions, columns), ask)

    def flush(self, database: str | None = None, table: str | None = None, partition: str | None = None) -> int:
        """Forgets what is kept of all, of a database, of a table, or of a partition.

        See ``CallKey.is_about`` for what goes with it.

        Args:
            database: Name; ``None`` for all.
            table: Name of a table of the database; ``None`` for all of them.
            partition: Name of a partition of the table, such as ``ds=2024-01-01``; ``None`` for all of them.

        Returns:
            How many answers were kept.
        """
        return self._cache.invalidate(lambda key: key.is_about(database, table, partition))

    def cache_row(self) -> CacheRow:
        """Of ``system.caches``; bytes are not measured."""
        return {"name": "metastore", **self._cache.counts()}

    def close(self) -> None:
        self._cache.close()

    def _keeps_table(self, database: str, table: str) -> bool:
        """Whether the table is known not to be transactional; who reads a table has asked for its entry."""
        return self._cache.peek(keys.table_key(database, table)) is not None

    def _keeps_partitions(self, database: str, table: str) -> bool:
        return self._policy.partitions and self._keeps_table(database, table)

    def _ask(self, key: keys.CallKey, ask: Callable[[], ResultT]) -> ResultT:
        if self._policy.ttl <= 0:
            return ask()
        return cast(ResultT, self._cache.get([key], lambda _: {key: ask()})[key])


def _may_keep(answer: object) -> bool:
    if not isinstance(answer, Table):
        return True
    parameters = answer.parameters.items()
    return not any(key.lower() == "transactional" and value.lower() == "true" for key, value in parameters)
