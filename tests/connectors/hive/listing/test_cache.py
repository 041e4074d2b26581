"""Listings that are kept: how long, how many, of which tables, and how they are forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from connectors.hive.listing.cache import ListingCache, ListingPolicy
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem
from tests.connectors.hive.reading import make_connector, make_session, scan_table
from tests.connectors.hive.table_writer import create_table, write_file

TABLE = SchemaTableName("s", "t")


@dataclass(frozen=True)
class Storage(FileSystem):
    """Counts how often a folder of some files is listed."""

    infos: list[FileInfo] = field(default_factory=list, compare=False)
    calls: list[str] = field(default_factory=list, compare=False)
    meanwhile: list[Callable[[], object]] = field(default_factory=list, compare=False)

    def list(self, uri: str, recursive: bool = False) -> list[FileInfo]:
        self.calls.append(uri)
        found = [*self.infos]
        for call in self.meanwhile:
            call()
        return found

    @property
    def listed(self) -> int:
        return len(self.calls)


def storage_of(files: int, options: tuple[tuple[str, str], ...] = ()) -> Storage:
    return Storage(options, [FileInfo(f"/f/{n}", 1, 0, False) for n in range(files)])


def cache(now: list[float], **policy: int) -> ListingCache:
    return ListingCache(ListingPolicy(frozenset({"s.*"}), 60.0, policy.get("max_files", 100)), lambda: now[0])


def test_a_listing_is_kept_until_it_is_old() -> None:
    now, storage = [0.0], storage_of(3)
    kept = cache(now)
    for moment, listed in ((0.0, 1), (59.0, 1), (60.0, 2), (61.0, 2)):
        now[0] = moment
        assert kept.list(storage, TABLE, "/f", True) == storage.infos
        assert storage.listed == listed
    assert kept.list(storage, TABLE, "/f", False) == storage.infos
    assert storage.listed == 3


def test_no_more_files_than_the_limit_are_kept() -> None:
    now, storages = [0.0], {name: storage_of(4) for name in ("/a", "/b", "/c")}
    kept = cache(now, max_files=8)
    for name in ("/a", "/b", "/a", "/c", "/a", "/b"):
        kept.list(storages[name], TABLE, name, True)
    assert {name: storage.listed for name, storage in storages.items()} == {"/a": 1, "/b": 2, "/c": 1}
    large = storage_of(9)
    for _ in range(2):
        kept.list(large, TABLE, "/large", True)
    assert large.listed == 2


def test_other_tables_are_listed_each_time() -> None:
    kept, storage = cache([0.0]), storage_of(1)
    for _ in range(2):
        kept.list(storage, SchemaTableName("other", "t"), "/f", True)
    assert storage.listed == 2


def test_flushing() -> None:
    kept, storage = cache([0.0]), storage_of(1)
    names = [SchemaTableName("s", "a"), SchemaTableName("s", "b")]
    for name in names:
        kept.list(storage, name, f"/{name.table}", True)
    assert kept.flush("s", "A") == 1
    assert kept.flush("other") == 0
    assert kept.flush() == 1


def test_a_listing_that_was_under_way_when_it_was_to_be_forgotten_is_not_kept() -> None:
    kept, storage = cache([0.0]), storage_of(2)

    storage.meanwhile.append(lambda: kept.flush("s", "t"))
    assert kept.list(storage, TABLE, "/f", True) == storage.infos
    storage.meanwhile.clear()
    del storage.infos[1:]
    assert kept.list(storage, TABLE, "/f", True) == storage.infos


def test_two_tables_over_one_folder_are_forgotten_each_for_itself() -> None:
    kept, storage = cache([0.0]), storage_of(1)
    other = SchemaTableName("s", "view_of_t")
    for name in (TABLE, other):
        kept.list(storage, name, "/f", True)
    assert kept.flush("s", "t") == 1
    assert kept.flush("s", "view_of_t") == 1


def test_who_reaches_storage_otherwise_gets_a_listing_of_their_own() -> None:
    kept = cache([0.0])
    ours, theirs = (storage_of(1, (("s3.aws-access-key", key),)) for key in ("a", "b"))
    for _ in range(2):
        kept.list(ours, TABLE, "/f", True)
        kept.list(theirs, TABLE, "/f", True)
    assert (ours.listed, theirs.listed) == (1, 1)
    assert kept.flush("s", "t") == 2


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
