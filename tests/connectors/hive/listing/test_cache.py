"""Listings that are kept: how long, how many, of which tables, and how they are forgotten."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from connectors.hive.listing.cache import ListingCache, ListingPolicy
from connectors.toolkit.storage.filesystem import FileInfo
from tests.connectors.hive.reading import make_connector, make_session, scan_table
from tests.connectors.hive.table_writer import create_table, write_file

TABLE = SchemaTableName("s", "t")


class Storage:
    """Counts how often a folder of some files is listed."""

    def __init__(self, files: int) -> None:
        self.infos = [FileInfo(f"/f/{n}", 1, 0, False) for n in range(files)]
        self.listed = 0

    def read(self) -> list[FileInfo]:
        self.listed += 1
        return self.infos


def cache(now: list[float], **policy: int) -> ListingCache:
    return ListingCache(ListingPolicy(frozenset({"s.*"}), 60.0, policy.get("max_files", 100)), lambda: now[0])


def test_a_listing_is_kept_until_it_is_old() -> None:
    now, storage = [0.0], Storage(3)
    kept = cache(now)
    for moment, listed in ((0.0, 1), (59.0, 1), (60.0, 2), (61.0, 2)):
        now[0] = moment
        assert kept.list(TABLE, "/f", True, storage.read) == storage.infos
        assert storage.listed == listed
    assert kept.list(TABLE, "/f", False, storage.read) == storage.infos
    assert storage.listed == 3


def test_no_more_files_than_the_limit_are_kept() -> None:
    now, storages = [0.0], {name: Storage(4) for name in ("/a", "/b", "/c")}
    kept = cache(now, max_files=8)
    for name in ("/a", "/b", "/a", "/c", "/a", "/b"):
        kept.list(TABLE, name, True, storages[name].read)
    assert {name: storage.listed for name, storage in storages.items()} == {"/a": 1, "/b": 2, "/c": 1}
    large = Storage(9)
    for _ in range(2):
        kept.list(TABLE, "/large", True, large.read)
    assert large.listed == 2


def test_other_tables_are_listed_each_time() -> None:
    kept, storage = cache([0.0]), Storage(1)
    for _ in range(2):
        kept.list(SchemaTableName("other", "t"), "/f", True, storage.read)
    assert storage.listed == 2


def test_flushing() -> None:
    kept, storage = cache([0.0]), Storage(1)
    names = [SchemaTableName("s", "a"), SchemaTableName("s", "b")]
    for name in names:
        kept.list(name, f"/{name.table}", True, storage.read)
    assert kept.flush("s", "A") == 1
    assert kept.flush("other") == 0
    assert kept.flush() == 1


def test_a_listing_that_was_under_way_when_it_was_to_be_forgotten_is_not_kept() -> None:
    kept, storage = cache([0.0]), Storage(2)

    def read() -> list[FileInfo]:
        before = storage.read()
        kept.flush("s", "t")
        return before

    assert kept.list(TABLE, "/f", True, read) == storage.infos
    storage.infos = storage.infos[:1]
    assert kept.list(TABLE, "/f", True, storage.read) == storage.infos


def test_two_tables_over_one_folder_are_forgotten_each_for_itself() -> None:
    kept, storage = cache([0.0]), Storage(1)
    other = SchemaTableName("s", "view_of_t")
    for name in (TABLE, other):
        kept.list(name, "/f", True, storage.read)
    assert kept.flush("s", "t") == 1
    assert kept.flush("s", "view_of_t") == 1


def test_a_catalog_keeps_listings_until_they_are_flushed(tmp_path: Path) -> None:
    connector = make_connector(tmp_path, hive_file__status__cache__tables="s.t")
    create_table(connector.metastore, tmp_path, "s", "t", pa.table({"id": [1, 2]}))
    assert rows(connector) == 2
    write_file(tmp_path / "s" / "t" / "000001_0", pa.table({"id": [3]}), "parquet")
    assert rows(connector) == 2
    [flush] = [one for one in connector.procedures if one.name == "flush_metadata_cache"]
    assert flush.function(make_session(connector), {})["flushed"][0].as_py() >= 1
    assert rows(connector) == 3
    connector.shutdown()


def rows(connector: HiveConnector) -> int:
    return int(scan_table(connector, "s", "t").rows.num_rows)
