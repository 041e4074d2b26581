"""Answers kept across transactions, against the same metastore asked anew."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from catalog.metastore.cache.policy import CACHE_PROPERTIES, CachePolicy, cache_policy
from catalog.metastore.cache.shared_cache import SharedMetastoreCache
from catalog.metastore.client import MetastoreClient
from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.embedded.metastore import EmbeddedMetastore, open_store
from catalog.metastore.factory import Metastore
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Parameters, Partition, Table
from catalog.metastore.partitions.names import make_partition_name
from catalog.metastore.shared_metastore import SharedMetastore
from catalog.metastore.testing.objects import STORAGE, add_partitions, new_table
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.errors import ConnectorError, MetastoreError
from connector_spi.predicate import TupleDomain
from connector_spi.properties import parse_properties
from connector_spi.session import ConnectorSession
from tests.catalog.metastore.thrift.loopback import serving, speak_thrift
from tests.catalog.metastore.thrift.test_failures import SmallMetastore

FOREVER = CachePolicy(ttl=1e9)


class Clock:
    """Stands still until it is set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def look(client: MetastoreClient, database: str, tables: list[str], names: list[str]) -> list[object]:
    """All that can be read of a database; what is refused by its error."""

    def told(ask: Callable[[], object]) -> object:
        try:
            return ask()
        except MetastoreError as error:
            return str(error.code)
        except LookupError as error:
            return type(error)

    found: list[object] = [client.get_databases(), client.get_database(database)]
    found.append(told(lambda: client.get_table_names(database)))
    for table in tables:
        found.append(client.get_table(database, table))
        if found[-1] is not None:
            found.append(client.get_partition_names(database, table))
            found.append(client.get_partition_names_by_filter(database, table, TupleDomain.all()))
            found.append(client.get_partitions_by_names(database, table, names))
            found.append(client.get_table_statistics(database, table, ["id"]))
            found.append(client.get_partition_statistics(database, table, names, ["id"]))
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("policy", [FOREVER, replace(FOREVER, maximum_size=3, missing=True)])
def test_own_writes_are_seen_at_once(embedded_metastore: Metastore, seed: int, policy: CachePolicy) -> None:
    shared = SharedMetastore(embedded_metastore, policy)
    writes, chance = shared.metastore.writes, random.Random(seed)
    keys = (FieldSchema("p", "int"),)
    tables, names = ["a", "b"], [f"p={n}" for n in range(5)]

    def values(name: str) -> Partition:
        return Partition("d", chance.choice(tables), (name.removeprefix("p="),), STORAGE)

    operations: list[Callable[[], object]] = [
        lambda: writes.create_database(Database("d")),
        lambda: writes.drop_database("d", cascade=True),
        lambda: writes.create_table(Table("d", chance.choice(tables), STORAGE, keys)),
        lambda: writes.drop_table("d", chance.choice(tables)),
        lambda: writes.add_partitions("d", (one := values(chance.choice(names))).table, [one]),
        lambda: writes.add_partitions("d", (one := values(chance.choice(names))).table, [one]),
        lambda: writes.set_table_statistics("d", chance.choice(tables), [ColumnStatistics("id", "bigint", 1, 2, 3, 4)]),
    ]
    for _ in range(60):
        # What cannot be done is refused.
        with suppress(ConnectorError):
            chance.choice(operations)()
        fresh = look(embedded_metastore.reads, "d", tables, names)
        assert look(shared.reads, "d", tables, names) == fresh
        assert look(shared.reads, "d", tables, names) == fresh
    shared.reads.close()


def test_what_was_written_before_a_read_began_is_in_it(embedded_metastore: Metastore) -> None:
    """Whatever threads read, write and flush at once: nobody is given what was asked before a write ended."""
    shared = SharedMetastore(embedded_metastore, replace(FOREVER, refresh=0.001, maximum_size=50))
    table = new_table(shared.metastore, ("p", "int"))
    written: list[str] = []
    failures: list[str] = []

    def write(start: int) -> None:
        for number in range(start, start + 25):
            add_partitions(shared.metastore, table, (str(number),))
            written.append(f"p={number}")

    def read(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(60):
            before = list(written)
            shared.reads.get_table(table.database, "t")
            if chance.random() < 0.5:
                found = set(shared.reads.get_partition_names(table.database, "t"))
            else:
                entries = shared.reads.get_partitions_by_names(table.database, "t", before)
                found = {make_partition_name(["p"], entry.values) for entry in entries}
            if not found.issuperset(before):
                failures.append(f"{sorted(set(before) - found)} missing")
            if chance.random() < 0.1:
                shared.reads.flush(table.database, "t", chance.choice(before) if before else None)

    with ThreadPoolExecutor(8) as pool:
        work = [pool.submit(write, n * 100) for n in range(2)] + [pool.submit(read, n) for n in range(6)]
        for one in work:
            one.result()
    assert failures == []
    shared.reads.close()


def test_an_answer_that_a_write_overtook_is_not_kept(tmp_path: Path) -> None:
    has_read, may_answer = threading.Event(), threading.Event()

    class Late(EmbeddedMetastore):
        def get_databases(self) -> list[str]:
            found = super().get_databases()
            if not has_read.is_set():
                has_read.set()
                may_answer.wait(30)
            return found

    late = Late(open_store(tmp_path / "m.db"))
    cache = SharedMetastoreCache(late, FOREVER)
    with ThreadPoolExecutor(1) as pool:
        overtaken = pool.submit(cache.get_databases)
        has_read.wait(30)
        late.create_database(Database("new"))
        cache.flush()
        assert cache.get_databases() == ["default", "new"]
        may_answer.set()
        assert overtaken.result() == ["default"]
    assert cache.get_databases() == ["default", "new"]
    late.close()


def test_answers_are_as_old_as_allowed_and_no_older(embedded_metastore: Metastore) -> None:
    clock = Clock()
    cache = SharedMetastoreCache(embedded_metastore.reads, CachePolicy(ttl=10), clock)
    table = new_table(embedded_metastore, ("p", "int"))
    cache.get_table(table.database, "t")
    assert cache.get_partition_names(table.database, "t") == []
    add_partitions(embedded_metastore, table, ("1",))
    clock.now += 9.9
    assert cache.get_partition_names(table.database, "T") == []
    clock.now += 0.1
    cache.get_table(table.database, "t")
    assert cache.get_partition_names(table.database, "t") == ["p=1"]


def test_what_is_not_there_is_asked_for_again_unless_it_is_kept(embedded_metastore: Metastore) -> None:
    table = new_table(embedded_metastore, ("p", "int"))
    for missing, seen in ((False, 1), (True, 0)):
        cache = SharedMetastoreCache(embedded_metastore.reads, replace(FOREVER, missing=missing))
        cache.get_table(table.database, "t")
        name, added = f"new{missing}".lower(), f"p={int(missing)}"
        assert cache.get_table(table.database, name) is None
        assert cache.get_partitions_by_names(table.database, "t", [added]) == []
        embedded_metastore.writes.create_table(Table(table.database, name, STORAGE))
        add_partitions(embedded_metastore, table, (str(int(missing)),))
        assert (cache.get_table(table.database, name) is not None) == seen
        assert len(cache.get_partitions_by_names(table.database, "t", [added])) == seen
        cache.close()


def test_an_old_answer_serves_while_a_new_one_is_fetched(tmp_path: Path) -> None:
    may_answer = threading.Event()

    class Slow(EmbeddedMetastore):
        calls = 0

        def get_databases(self) -> list[str]:
            self.calls += 1
            if self.calls > 1:
                may_answer.wait(30)
            return super().get_databases()

    slow, clock = Slow(open_store(tmp_path / "m.db")), Clock()
    cache = SharedMetastoreCache(slow, CachePolicy(ttl=100, refresh=10), clock)
    assert cache.get_databases() == ["default"]
    slow.create_database(Database("new"))
    clock.now += 11
    for _ in range(5):
        assert cache.get_databases() == ["default"]
    may_answer.set()
    for _ in range(500):
        if cache.get_databases() == ["default", "new"]:
            break
        time.sleep(0.01)
    assert cache.get_databases() == ["default", "new"]
    assert slow.calls == 2
    cache.close()
    slow.close()


def test_a_failure_is_not_kept_and_reaches_all_who_waited(tmp_path: Path) -> None:
    class Failing(EmbeddedMetastore):
        failures = 1

        def get_databases(self) -> list[str]:
            time.sleep(0.05)
            if self.failures:
                self.failures -= 1
                raise MetastoreError("lost")
            return super().get_databases()

    failing = Failing(open_store(tmp_path / "m.db"))
    cache = SharedMetastoreCache(failing, FOREVER)

    def ask(_: int) -> str:
        try:
            return cache.get_databases()[0]
        except MetastoreError:
            return "lost"

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(4))) <= {"lost", "default"}
    assert cache.get_databases() == ["default"]
    failing.close()


def test_nothing_of_transactional_tables_is_kept(embedded_metastore: Metastore) -> None:
    new = new_table(embedded_metastore, ("p", "int"))
    acid = Table(new.database, "acid", STORAGE, new.partition_keys, Parameters.of({"TRANSACTIONAL": "True"}))
    embedded_metastore.writes.create_table(acid)
    cache = SharedMetastoreCache(embedded_metastore.reads, FOREVER)
    assert cache.get_table(new.database, "acid") is not None
    assert cache.get_partition_names(new.database, "acid") == []
    add_partitions(embedded_metastore, acid, ("1",))
    assert cache.get_partition_names(new.database, "acid") == ["p=1"]
    assert len(cache.get_partitions_by_names(new.database, "acid", ["p=1"])) == 1
    before = embedded_metastore.calls.total().count
    cache.get_table(new.database, "acid")
    assert embedded_metastore.calls.total().count == before + 1


def test_flush_forgets_what_it_names(embedded_metastore: Metastore) -> None:
    one, other = new_table(embedded_metastore, ("p", "int")), new_table(embedded_metastore, ("p", "int"))
    cache = SharedMetastoreCache(embedded_metastore.reads, FOREVER)
    for table in (one, other):
        add_partitions(embedded_metastore, table, ("1",), ("2",))

    def read() -> int:
        before = embedded_metastore.calls.total().count
        for table in (one, other):
            cache.get_table(table.database, "t")
            cache.get_partition_names(table.database, "t")
            cache.get_partitions_by_names(table.database, "t", ["p=1", "p=2"])
        return embedded_metastore.calls.total().count - before

    assert (read(), read()) == (6, 0)
    # A partition, and the names of all of the table's.
    assert cache.flush(one.database, "T", "p=2") == 2
    assert read() == 2
    assert cache.flush(one.database, "t") == 4
    assert read() == 3
    assert cache.flush(one.database.upper()) == 4
    assert read() == 3
    assert cache.flush() == 8
    assert read() == 6


def test_nothing_is_kept_by_default(embedded_metastore: Metastore) -> None:
    cache = SharedMetastoreCache(embedded_metastore.reads, CachePolicy())
    assert cache.get_databases() == ["default"]
    embedded_metastore.writes.create_database(Database("new"))
    assert cache.get_databases() == ["default", "new"]


def test_the_policy_of_properties() -> None:
    given = {
        "hive.metastore-cache-ttl": "30s",
        "hive.metastore-refresh-interval": "7.5s",
        "hive.metastore-cache-maximum-size": "100",
        "hive.metastore-refresh-max-threads": "3",
        "hive.metastore-cache.cache-missing": "true",
        "hive.metastore-cache.cache-partitions": "false",
    }
    policy = CachePolicy(30.0, 7.5, 100, 3, True, False)
    assert cache_policy(parse_properties(CACHE_PROPERTIES, given, lambda name: name)) == policy
    assert cache_policy(parse_properties(CACHE_PROPERTIES, {}, lambda name: name)) == CachePolicy()


def test_a_write_is_seen_by_other_catalogs_over_the_same_metastore(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    here, also, there = (
        SharedMetastore(open_embedded(tmp_path / path), FOREVER) for path in ("m.db", "link/m.db", "other.db")
    )
    for one in (here, also, there):
        assert one.reads.get_databases() == ["default"]
    here.metastore.writes.create_database(Database("new"))
    assert [one.reads.get_databases() for one in (here, also)] == [["default", "new"]] * 2
    assert there.reads.flush() == 1
    for one in (here, also, there):
        one.close()


@pytest.mark.parametrize(("uri", "seen"), [("thrift://127.0.0.1:1,{}", True), ("thrift://127.0.0.1:1", False)])
def test_catalogs_with_an_address_in_common_are_over_the_same_metastore(uri: str, seen: bool) -> None:
    class Growing(SmallMetastore):
        databases: tuple[str, ...] = ("one",)

        def get_all_databases(self) -> list[str]:
            return list(self.databases)

    small = Growing()
    with serving(speak_thrift(small)) as address:
        cached = SharedMetastore(connect_thrift(ThriftConfig(uri=address)), FOREVER)
        assert cached.reads.get_databases() == ["one"]
        small.databases = ("one", "two")
        other = connect_thrift(ThriftConfig(uri=uri.format(address), max_retries=0))
        # What failed may have been done.
        with suppress(ConnectorError):
            other.writes.drop_table("one", "t")
        assert cached.reads.get_databases() == (["one", "two"] if seen else ["one"])
        other.close()
        cached.close()


def test_a_flush_reaches_other_catalogs_over_the_same_metastore(tmp_path: Path) -> None:
    here, there = (
        SharedMetastore(open_embedded(tmp_path / f"{name}.db"), CachePolicy(3600)) for name in ("m", "other")
    )
    also = SharedMetastore(open_embedded(tmp_path / "m.db"), CachePolicy(3600))
    for one in (here, also, there):
        assert one.reads.get_databases() == ["default"]
    [flush] = here.procedures()
    session = ConnectorSession("q", "ann", "UTC", datetime(2024, 1, 1, tzinfo=UTC))
    assert flush.function(session, {})["flushed"].to_pylist() == [2]
    assert [one.reads.flush() for one in (here, also, there)] == [0, 0, 1]
    for one in (here, also, there):
        one.close()
