"""Row groups of base files that no log is about are given as they are, without their keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connector_spi.errors import CorruptFileError
from connector_spi.scan_counters import ScanCounts, counting
from connectors.hudi.read import key_stretches
from connectors.hudi.read.log_cache import APPLIED_CACHE, LOG_CACHE
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.merge.writer import Delete, SliceWriter, Upsert

SCHEMA = pa.schema([("key", pa.string()), ("ts", pa.int64()), ("v", pa.string())])
EVENT_TIME = {"hoodie.table.ordering.fields": "ts", "hoodie.record.merge.mode": "EVENT_TIME_ORDERING"}
UNTOUCHED = "rows of base files that no log is about"


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HudiCatalog]:
    monkeypatch.setattr(key_stretches, "LEAST_ROWS", 10)
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()
    made = make_catalog(tmp_path)
    yield made
    made.connector.shutdown()
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()


def row(number: int, v: str = "old", ts: int = 1) -> dict[str, object]:
    return {"key": f"k{number:04d}", "ts": ts, "v": v}


def read(catalog: HudiCatalog) -> tuple[dict[str, str], int]:
    """The rows by key, and how many were given without a look at their keys."""
    counts = ScanCounts()
    with counting(counts):
        rows = catalog.read(columns=["key", "v"]).to_pylist()
    met = {one["key"]: one["v"] for one in rows}
    assert len(met) == len(rows)
    return met, counts.as_mapping().get(UNTOUCHED, 0)


def test_only_row_groups_with_events_are_merged(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = SliceWriter(tmp_path / "t", 9, SCHEMA, EVENT_TIME)
    table.base([row(number) for number in range(100)], group_rows=10)
    table.log([Upsert([row(31, "new"), row(35, "late", ts=0), row(100, "added")]), Delete([("k0039", None)])])
    catalog.register(table.folder)
    met, untouched = read(catalog)
    expected = {f"k{number:04d}": "old" for number in range(100) if number != 39}
    assert met == {**expected, "k0031": "new", "k0100": "added"}
    assert untouched == 90


def test_short_stretches_are_merged_with_the_rest(
    catalog: HudiCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_stretches, "LEAST_ROWS", 20)
    table = SliceWriter(tmp_path / "t", 9, SCHEMA, EVENT_TIME)
    table.base([row(number) for number in range(100)], group_rows=10)
    table.log([Upsert([row(number, "new") for number in (5, 25, 75)])])
    catalog.register(table.folder)
    met, untouched = read(catalog)
    assert sorted(key for key, v in met.items() if v == "new") == ["k0005", "k0025", "k0075"]
    # 30 to 69 and 80 to 99; the group from 10 to 19 alone is too short.
    assert (len(met), untouched) == (100, 60)


def test_keys_in_no_order_are_all_merged(catalog: HudiCatalog, tmp_path: Path) -> None:
    table = SliceWriter(tmp_path / "t", 9, SCHEMA, EVENT_TIME)
    table.base([row(number * 37 % 100) for number in range(100)], group_rows=10)
    table.log([Upsert([row(50, "new")])])
    catalog.register(table.folder)
    met, untouched = read(catalog)
    assert (met["k0050"], len(met), untouched) == ("new", 100, 0)


def test_a_range_of_the_file_tells_its_own_row_groups(catalog: HudiCatalog, tmp_path: Path) -> None:
    """Several splits of one base file: each row comes once, and so does each row of the logs alone."""
    table = SliceWriter(tmp_path / "t", 9, SCHEMA, EVENT_TIME)
    table.base([row(number) for number in range(200)], group_rows=10)
    table.log([Upsert([row(number, "new") for number in (15, 155, 999)])])
    catalog.register(table.folder)
    whole, _ = read(catalog)
    parts, untouched = read(catalog.with_property("max_split_size", 1000))
    assert parts == whole
    assert 0 < untouched < 200
    assert sorted(key for key, v in whole.items() if v == "new") == ["k0015", "k0155", "k0999"]


def test_row_groups_of_positions_that_no_log_names_are_not_merged(catalog: HudiCatalog, tmp_path: Path) -> None:
    """Keys in no order, so that statistics of them say nothing; the logs name positions."""
    table = SliceWriter(tmp_path / "t", 9, SCHEMA, EVENT_TIME, positions=True)
    table.base([row(number * 37 % 100) for number in range(100)], group_rows=10)
    # k0037 is the second row, k0063 the last one.
    table.log([Upsert([row(37, "new"), row(63, "late", ts=0)])])
    catalog.register(table.folder)
    met, untouched = read(catalog)
    assert ([key for key, v in met.items() if v == "new"], len(met), untouched) == (["k0037"], 100, 80)


def test_a_position_behind_the_last_row_is_corrupt_where_no_row_group_is_met(
    catalog: HudiCatalog, tmp_path: Path
) -> None:
    table = SliceWriter(tmp_path / "t", 9, SCHEMA, EVENT_TIME, positions=True)
    table.base([row(number) for number in range(100)], group_rows=10)
    table.log([Upsert([row(99, "new")])])
    # A shorter file in the base's place, which the log's positions were not written for.
    [base] = (table.folder).rglob("*.parquet")
    pq.write_table(pq.read_table(base).slice(0, 50), base, row_group_size=10)
    catalog.register(table.folder)
    with pytest.raises(CorruptFileError, match="name its row 99 "):
        read(catalog)
