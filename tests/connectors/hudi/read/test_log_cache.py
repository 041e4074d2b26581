"""Merged logs that a process keeps: used again while nothing changed, and bounded."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import FileMissingError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.scan_counters import ScanCounts, counting
from connectors.hudi.handles import HudiSplit
from connectors.hudi.read.kept_log import KeptLog
from connectors.hudi.read.log_cache import APPLIED_CACHE, LOG_CACHE, LogCache
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.merge.writer import Delete, SliceWriter, Upsert

SCHEMA = pa.schema([("key", pa.string()), ("ts", pa.int64()), ("v", pa.string()), ("w", pa.string())])
EVENT_TIME = {"hoodie.table.ordering.fields": "ts", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}
KEPT = "file slices whose merged logs were kept"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[HudiCatalog]:
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()
    made = make_catalog(tmp_path)
    yield made
    made.connector.shutdown()
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()


def row(key: str, v: str, ts: int = 1) -> dict[str, object]:
    return {"key": key, "ts": ts, "v": v, "w": v.upper()}


def write(folder: Path, update: str) -> SliceWriter:
    """A table whose log updates one of three rows and deletes another one."""
    table = SliceWriter(folder, 9, SCHEMA, EVENT_TIME)
    table.base([row("a", "old"), row("b", "stays"), row("c", "gone")])
    table.log([Upsert([row("a", update)]), Delete([("c", None)])])
    return table


def values(catalog: HudiCatalog, column: str = "v") -> tuple[list[str], bool]:
    """The values of a column, sorted, and whether the logs had been kept."""
    counts = ScanCounts()
    with counting(counts):
        met = catalog.read(columns=[column]).column(column).to_pylist()
    return sorted(met), counts.as_mapping().get(KEPT, 0) > 0


def test_logs_are_decoded_once(catalog: HudiCatalog, tmp_path: Path) -> None:
    catalog.register(write(tmp_path / "t", "new").folder)
    assert [values(catalog), values(catalog)] == [(["new", "stays"], False), (["new", "stays"], True)]
    # Another column is decoded beside the first one.
    assert [values(catalog, "w"), values(catalog, "v")] == [(["NEW", "STAYS"], False), (["new", "stays"], True)]


def test_another_column_is_added_to_what_was_merged(catalog: HudiCatalog, tmp_path: Path) -> None:
    """Its values of updates, of updates that lost, of deletes and of rows of the logs alone."""
    table = SliceWriter(tmp_path / "t", 9, SCHEMA, EVENT_TIME)
    table.base([row(key, "old", ts=5) for key in "abcde"])
    table.log([Upsert([row("a", "late", ts=1), row("b", "first", ts=6), row("f", "added")]), Delete([("c", None)])])
    table.log([Upsert([row("b", "between", ts=5), row("d", "new", ts=7), row("c", "again", ts=6)])])
    catalog.register(table.folder)
    expected = ["added", "again", "first", "new", "old", "old"]
    assert values(catalog, "v") == (expected, False)
    before = LOG_CACHE.nbytes
    assert values(catalog, "w") == ([v.upper() for v in expected], False)
    assert LOG_CACHE.nbytes > before
    rows = catalog.read(columns=["key", "w", "v"]).to_pylist()
    assert sorted((one["key"], one["v"]) for one in rows if one["w"] != one["v"].upper()) == []
    assert {one["key"]: one["v"] for one in rows} == {
        "a": "old",
        "b": "first",
        "c": "again",
        "d": "new",
        "e": "old",
        "f": "added",
    }


def test_columns_that_are_not_asked_give_way_where_the_cache_is_full(catalog: HudiCatalog, tmp_path: Path) -> None:
    catalog.register(write(tmp_path / "t", "n" * 10_000).folder)
    small = catalog.with_property("merge_cache", 15_000)
    assert [values(small, column)[1] for column in ("v", "v", "w", "w", "v", "v")] == [False, True] * 3
    assert LOG_CACHE.nbytes <= 15_000


def test_other_slices_are_not_dropped_for_another_column(catalog: HudiCatalog, tmp_path: Path) -> None:
    for name in ("t", "u"):
        catalog.register(write(tmp_path / name, "n" * 10_000).folder, name)
    small = catalog.with_property("merge_cache", 40_000)
    small.read("u", columns=["v"])
    small.read("t", columns=["v"])
    assert LOG_CACHE.nbytes <= 30_000
    # Both columns of "t" and the one of "u" do not fit.
    small = catalog.with_property("merge_cache", LOG_CACHE.nbytes + 5_000)
    small.read("t", columns=["w"])
    counts = ScanCounts()
    with counting(counts):
        small.read("u", columns=["v"])
    assert counts.as_mapping().get(KEPT) == 1


def test_what_is_counted_is_the_same(catalog: HudiCatalog, tmp_path: Path) -> None:
    catalog.register(write(tmp_path / "t", "new").folder)
    found = []
    for _ in range(2):
        counts = ScanCounts()
        with counting(counts):
            catalog.read(columns=["v"])
        found.append({name: number for name, number in counts.as_mapping().items() if name.startswith("log ")})
    assert found == [{"log blocks merged": 2, "log records merged": 2}] * 2


def test_a_table_made_again_in_the_same_place_is_read_anew(catalog: HudiCatalog, tmp_path: Path) -> None:
    """Of the same names and sizes."""
    first = write(tmp_path / "t", "new")
    sizes = {path.name: path.stat().st_size for path in first.folder.glob(".*.log.*")}
    times = {path.name: path.stat().st_mtime_ns for path in first.folder.glob(".*.log.*")}
    catalog.register(first.folder)
    assert values(catalog) == (["new", "stays"], False)
    shutil.rmtree(first.folder)
    write(tmp_path / "t", "eva")
    again = {path.name: path.stat().st_size for path in first.folder.glob(".*.log.*")}
    assert again == sizes
    for path in first.folder.glob(".*.log.*"):
        os.utime(path, ns=(times[path.name] + 1_000_000,) * 2)
    assert values(catalog) == (["eva", "stays"], False)


def test_a_new_write_is_seen(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = write(tmp_path / "t", "new")
    catalog.register(table.folder)
    values(catalog)
    table.log([Upsert([row("b", "newer")])])
    assert values(catalog) == (["new", "newer"], False)


def test_a_log_that_is_gone_is_missed(catalog: HudiCatalog, tmp_path: Path) -> None:
    catalog.register(write(tmp_path / "t", "new").folder)
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        columns = (metadata.get_column_handles(catalog.session, table)["v"],)
        [split] = catalog.splits(transaction, table, columns)
        assert isinstance(split, HudiSplit)
        provider = catalog.connector.page_source_provider
        everything: TupleDomain[ColumnHandle] = TupleDomain.all()
        with provider.create_page_source(catalog.session, split, table, columns, everything) as source:
            assert sum(batch.num_rows for batch in source) == 2
        assert LOG_CACHE.nbytes
        Path(split.logs[0].path.removeprefix("file:")).unlink()
        with (
            provider.create_page_source(catalog.session, split, table, columns, everything) as source,
            pytest.raises(FileMissingError),
        ):
            list(source)


def test_the_bound_holds(catalog: HudiCatalog, tmp_path: Path) -> None:
    none = catalog.with_property("merge_cache", 0)
    catalog.register(write(tmp_path / "t", "new").folder)
    assert [values(none), values(none)] == [(["new", "stays"], False)] * 2
    assert LOG_CACHE.nbytes == 0
    for number in range(20):
        catalog.register(write(tmp_path / f"t{number}", "new").folder, f"t{number}")
        catalog.with_property("merge_cache", 1000).read(f"t{number}")
        assert 0 < LOG_CACHE.nbytes <= 1000


@pytest.mark.slow
def test_logs_that_go_through_disk_are_not_kept(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = SliceWriter(tmp_path / "t", 9, SCHEMA, EVENT_TIME)
    table.base([row(f"k{number}", "old") for number in range(2000)])
    table.log([Upsert([row(f"k{number}", "new" * 20) for number in range(2000)])])
    catalog.register(table.folder)
    small = catalog.with_property("merge_memory", 50_000)
    assert small.read(columns=["v"]).num_rows == 2000
    assert LOG_CACHE.nbytes == 0


def test_the_cache_names_no_secret(tmp_path: Path) -> None:
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()
    catalog = make_catalog(tmp_path, s3_aws__access__key="me", s3_aws__secret__key="hidden")
    catalog.register(write(tmp_path / "t", "new").folder)
    values(catalog)
    assert values(catalog) == (["new", "stays"], True)
    assert b"hidden" not in repr(vars(LOG_CACHE)).encode()
    # Who reaches storage otherwise finds nothing.
    other = make_catalog(tmp_path, s3_aws__access__key="me", s3_aws__secret__key="another")
    assert values(other) == (["new", "stays"], False)
    for one in (catalog, other):
        one.connector.shutdown()
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()


def test_threads_share_it(catalog: HudiCatalog, tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(6)]
    for name in names:
        catalog.register(write(tmp_path / name, name).folder, name)

    def read(number: int) -> bool:
        name, column = names[number % len(names)], ("v", "w")[number % 2]
        met = catalog.with_property("merge_cache", 3000).read(name, columns=[column]).column(column).to_pylist()
        expected = [name, "stays"] if column == "v" else [name.upper(), "STAYS"]
        return sorted(met) == sorted(expected)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(24)))
    assert LOG_CACHE.nbytes <= 3000


def test_threads_that_come_together_decode_logs_once(catalog: HudiCatalog, tmp_path: Path) -> None:
    catalog.register(write(tmp_path / "t", "new").folder)
    together = threading.Barrier(4)

    def read() -> tuple[list[str], bool]:
        together.wait()
        return values(catalog)

    with ThreadPoolExecutor(4) as threads:
        met = [future.result() for future in [threads.submit(read) for _ in range(4)]]
    assert sorted(kept for _, kept in met) == [False, True, True, True]
    assert [rows for rows, _ in met] == [["new", "stays"]] * 4


def test_who_waits_for_logs_goes_on_when_their_merge_fails() -> None:
    cache: LogCache[KeptLog] = LogCache("of this test")
    begun = threading.Event()

    def merge() -> None:
        with cache.merging(b"slice"):
            begun.set()

    def fail(threads: ThreadPoolExecutor) -> None:
        with cache.merging(b"slice"):
            waiting.append(threads.submit(merge))
            assert not begun.wait(0.05)
            raise FileMissingError("gone")

    waiting: list[Future[None]] = []
    with ThreadPoolExecutor(1) as threads:
        with pytest.raises(FileMissingError):
            fail(threads)
        waiting[0].result()
    assert begun.is_set()


@dataclass(frozen=True)
class _Entry:
    nbytes: int


def test_slices_that_are_read_in_turns_are_found_though_not_all_fit() -> None:
    cache: LogCache[_Entry] = LogCache("of this test")
    for _ in range(10):
        for number in range(80):
            identity = str(number).encode()
            if cache.get(identity) is None:
                cache.put(identity, _Entry(10), 600)
            assert cache.nbytes <= 600
    # By lot it is about every other one; dropping what was used longest ago finds none.
    assert cache.state.hits > 100
