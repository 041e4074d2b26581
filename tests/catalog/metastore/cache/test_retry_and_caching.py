"""The cache, around an embedded metastore that a test lets fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore import error_codes
from catalog.metastore.cache.metastore import CachingMetastore
from catalog.metastore.embedded.metastore import EmbeddedMetastore, open_store
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Database, Partition, Table
from catalog.metastore.testing.objects import STORAGE, add_partitions, new_table
from connector_spi.errors import MetastoreError, TableNotFoundError
from connector_spi.predicate import Domain, TupleDomain


class Unsteady(EmbeddedMetastore):
    """Fails as often as told before it answers."""

    failures = 0
    code = error_codes.CONNECTION_FAILED
    calls = 0

    def get_table(self, database: str, name: str) -> Table | None:
        self.calls += 1
        if self.failures:
            self.failures -= 1
            raise MetastoreError("lost", self.code)
        return super().get_table(database, name)

    def get_partitions_by_names(self, database: str, table: str, names: Iterable[str]) -> list[Partition]:
        self.calls += 1
        return super().get_partitions_by_names(database, table, names)


@pytest.fixture
def unsteady(tmp_path: Path) -> Iterator[Unsteady]:
    metastore = Unsteady(open_store(tmp_path / "metastore.db"))
    yield metastore
    metastore.close()


def test_one_transaction_sees_one_state(embedded_metastore: Metastore) -> None:
    table = new_table(embedded_metastore, ("p", "int"))
    add_partitions(embedded_metastore, table, ("1",))
    cache = CachingMetastore(embedded_metastore.reads)
    predicate = TupleDomain.with_column_domains({"p": Domain.multiple_values(pa.int32(), [1, 2])})

    def look() -> list[object]:
        return [
            cache.get_databases(),
            cache.get_database("new"),
            cache.get_table_names(table.database),
            cache.get_table(table.database, "new"),
            cache.get_partition_names(table.database, "t"),
            cache.get_partition_names_by_filter(table.database, "T", predicate),
            cache.get_partitions_by_names(table.database, "t", ["p=1", "p=2"]),
        ]

    before = look()
    calls = embedded_metastore.calls.total().count
    embedded_metastore.writes.create_database(Database("new"))
    embedded_metastore.writes.create_table(Table(table.database, "new", STORAGE))
    add_partitions(embedded_metastore, table, ("2",))
    assert look() == before
    assert embedded_metastore.calls.total().count == calls + 3
    assert cache.statistics.total().count == 7
    fresh = CachingMetastore(embedded_metastore.reads)
    assert fresh.get_partition_names(table.database, "t") == ["p=1", "p=2"]


def test_only_partitions_not_seen_yet_are_asked_for(unsteady: Unsteady, tmp_path: Path) -> None:
    owner = Metastore(
        unsteady,
        unsteady,
        EmbeddedTransactions(open_store(tmp_path / "t.db")),
        open_store(tmp_path / "u.db").statistics,
    )
    table = new_table(owner, ("p", "string"))
    add_partitions(owner, table, *[(f"v/{n}",) for n in range(6)])
    names = unsteady.get_partition_names(table.database, "t")
    cache = CachingMetastore(unsteady)
    unsteady.calls = 0
    assert len(cache.get_partitions_by_names(table.database, "t", [names[0], "p=gone", names[1]])) == 2
    found = cache.get_partitions_by_names(table.database, "t", names)
    assert [one.values for one in found] == [(f"v/{n}",) for n in range(6)]
    cache.get_partitions_by_names(table.database, "t", ["p=gone", *names])
    assert unsteady.calls == 2


def test_an_error_is_not_remembered(unsteady: Unsteady) -> None:
    cache = CachingMetastore(unsteady)
    unsteady.failures = 1
    with pytest.raises(MetastoreError):
        cache.get_table("default", "t")
    assert cache.get_table("default", "t") is None
    with pytest.raises(TableNotFoundError):
        cache.get_partition_names("default", "t")


def test_threads_that_ask_the_same_wait_for_one_answer(unsteady: Unsteady) -> None:
    begun = threading.Event()

    class Slow(Unsteady):
        def get_databases(self) -> list[str]:
            begun.set()
            time.sleep(0.1)
            self.calls += 1
            return super().get_databases()

    slow = Slow(unsteady._store)
    cache = CachingMetastore(slow)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: cache.get_databases(), range(10)))
    assert begun.is_set()
    assert answers == [["default"]] * 10
    assert slow.calls == 1
