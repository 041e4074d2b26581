"""Remembers what the metastore said, for as long as one transaction lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import TYPE_CHECKING, TypeVar, cast

from catalog.metastore.cache import keys
from catalog.metastore.calls.statistics import CallCount, CallStatistics
from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Partition, Table
from catalog.metastore.partitions.names import partition_values

if TYPE_CHECKING:
    from connector_spi.predicate import TupleDomain

__all__ = ["CachingMetastore", "CallCount", "CallStatistics"]

ResultT = TypeVar("ResultT")


class CachingMetastore(MetastoreClient):
    """Reads, each asked once: what was said first holds, "there is none" included. Errors are not remembered.

    Made for one transaction and thrown away with it, so that a query sees one state and the next query sees news.
    Threads that ask the same at once wait for one answer.

    Args:
        delegate: The client to ask. It outlives this cache: ``close`` only forgets.
        statistics: Counts the calls that the questions to ``delegate`` cost; one of its own if left out.
    """

    def __init__(self, delegate: MetastoreClient, statistics: CallStatistics | None = None) -> None:
        self.statistics = statistics or CallStatistics()
        self._delegate = delegate
        self._lock = Lock()
        self._answers: dict[keys.CallKey, Future[object]] = {}
        self._partitions: dict[tuple[str, str], dict[str, Partition | None]] = {}

    def get_databases(self) -> list[str]:
        return list(self._once(keys.databases_key(), self._delegate.get_databases))

    def get_database(self, name: str) -> Database | None:
        return self._once(keys.database_key(name), lambda: self._delegate.get_database(name))

    def get_table_names(self, database: str) -> list[str]:
        return list(self._once(keys.tables_key(database), lambda: self._delegate.get_table_names(database)))

    def get_table(self, database: str, name: str) -> Table | None:
        return self._once(keys.table_key(database, name), lambda: self._delegate.get_table(database, name))

    def get_tables(self, database: str, names: Sequence[str]) -> list[Table]:
        # Not kept: who lists a schema reads none of its tables, and there may be very many.
        with self.statistics.charged():
            return self._delegate.get_tables(database, names)

    def get_partition_names(self, database: str, table: str) -> list[str]:
        key = keys.partition_names_key(database, table)
        return list(self._once(key, lambda: self._delegate.get_partition_names(database, table)))

    def filters_partitions(self, predicate: TupleDomain[str], partition_keys: Sequence[FieldSchema]) -> bool:
        return self._delegate.filters_partitions(predicate, partition_keys)

    def get_partition_names_by_filter(
        self,
        database: str,
        table: str,
        predicate: TupleDomain[str],
        partition_keys: Sequence[FieldSchema] = (),
    ) -> list[str]:
        names = self._once(
            keys.filtered_names_key(database, table, predicate, partition_keys),
            lambda: self._delegate.get_partition_names_by_filter(database, table, predicate, partition_keys),
        )
        return list(names)

    def get_partitions_by_names(self, database: str, table: str, names: Iterable[str]) -> list[Partition]:
        wanted = list(names)
        with self._lock:
            known = self._partitions.setdefault((database.lower(), table.lower()), {})
            missing = [name for name in dict.fromkeys(wanted) if name not in known]
        if missing or not wanted:
            with self.statistics.charged():
                fetched = self._delegate.get_partitions_by_names(database, table, missing)
            self._remember(known, missing, fetched)
        found = (known[name] for name in wanted)
        return [partition for partition in found if partition is not None]

    def get_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> list[ColumnStatistics]:
        found = self._once(
            keys.table_statistics_key(database, table, columns),
            lambda: self._delegate.get_table_statistics(database, table, columns),
        )
        return list(found)

    def get_partition_statistics(
        self, database: str, table: str, partitions: Sequence[str], columns: Sequence[str]
    ) -> Mapping[str, list[ColumnStatistics]]:
        return self._once(
            keys.partition_statistics_key(database, table, partitions, columns),
            lambda: self._delegate.get_partition_statistics(database, table, partitions, columns),
        )

    def close(self) -> None:
        with self._lock:
            self._answers.clear()
            self._partitions.clear()

    def _once(self, key: keys.CallKey, ask: Callable[[], ResultT]) -> ResultT:
        with self._lock:
            answer = self._answers.get(key)
            mine = answer is None
            if answer is None:
                answer = self._answers[key] = Future()
        if mine:
            try:
                with self.statistics.charged():
                    result = ask()
            except BaseException as error:
                with self._lock:
                    self._answers.pop(key, None)
                answer.set_exception(error)
                raise
            answer.set_result(result)
        return cast(ResultT, answer.result())

    def _remember(self, known: dict[str, Partition | None], asked: list[str], fetched: list[Partition]) -> None:
        # They come in the order asked for; one that is gone leaves a gap, seen by its values.
        remaining = iter(fetched)
        following = next(remaining, None)
        with self._lock:
            for name in asked:
                if following is not None and partition_values(name) == following.values:
                    known.setdefault(name, following)
                    following = next(remaining, None)
                else:
                    known.setdefault(name, None)
