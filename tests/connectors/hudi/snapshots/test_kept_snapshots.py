"""What planning keeps of Hudi tables: seen to be used, and never in place of something newer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import StorageError
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from connectors.hudi.snapshots.table_memory import PLANNING_CACHE
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.metadata_table.writer import MetadataWriter
from tests.connectors.hudi.writer import HudiWriter

VERSIONS = (6, 9)


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "p": pa.array([f"p{one % 2}" for one in ids], pa.string())})


def table(folder: Path, version: int) -> HudiWriter:
    writer = HudiWriter(folder, version=version, partition_fields=["p"]).create()
    writer.insert(rows(0, 1))
    settle(writer)
    return writer


def settle(writer: HudiWriter) -> None:
    """As if the properties had been written a while ago."""
    path = writer.folder / ".hoodie" / "hoodie.properties"
    times = path.stat()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns - 60_000_000_000))


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[HudiCatalog]:
    PLANNING_CACHE.drop()
    made = make_catalog(tmp_path)
    yield made
    made.connector.shutdown()
    PLANNING_CACHE.drop()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What storage is asked: ``list timeline`` for the listing of a folder of that name."""
    found: list[str] = []
    for name in ("list", "info", "open"):
        original = getattr(FileSystem, name)

        def counting(
            self: FileSystem, uri: str, *rest: object, name: str = name, original: object = original
        ) -> object:
            found.append(f"{name} {uri.rpartition('/')[2]}")
            return original(self, uri, *rest)  # type: ignore[operator]

        monkeypatch.setattr(FileSystem, name, counting)
    return found


def planned(catalog: HudiCatalog) -> int:
    with catalog.metadata() as (transaction, metadata):
        handle = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        return len(catalog.splits(transaction, handle, ()))


def ids(catalog: HudiCatalog) -> list[int]:
    return sorted(catalog.read(columns=["id"]).column("id").to_pylist())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("indexed", [False, True])
def test_the_next_plan_asks_for_the_timeline_alone(
    catalog: HudiCatalog, tmp_path: Path, version: int, indexed: bool, calls: list[str]
) -> None:
    writer = table(tmp_path / "t", version)
    if indexed and version >= 8:
        MetadataWriter(writer).create()
        settle(writer)
    catalog.register(writer.folder)
    catalog = catalog.with_property("ignore_absent_partitions", True)
    assert planned(catalog) == 2
    calls.clear()
    assert planned(catalog) == 2
    timeline = "list timeline" if version >= 8 else "list .hoodie"
    assert sorted(calls) == ([*(["info hoodie.properties"] if version >= 8 else []), timeline])


def test_another_catalog_of_the_process_uses_it(catalog: HudiCatalog, tmp_path: Path, calls: list[str]) -> None:
    writer = table(tmp_path / "t", 9)
    MetadataWriter(writer).create()
    settle(writer)
    catalog.register(writer.folder)
    assert ids(catalog) == [0, 1]
    catalog.connector.shutdown()
    other = make_catalog(tmp_path).with_property("ignore_absent_partitions", True)
    calls.clear()
    assert planned(other) == 2
    assert len(calls) == 2
    writer.insert(rows(2))
    assert ids(other) == [0, 1, 2]
    other.connector.shutdown()


def test_who_reaches_storage_otherwise_asks_for_himself(catalog: HudiCatalog, tmp_path: Path, calls: list[str]) -> None:
    writer = table(tmp_path / "t", 9)
    catalog.register(writer.folder)
    assert planned(catalog) == 2
    other = make_catalog(tmp_path, s3_aws__access__key="another", s3_aws__secret__key="x")
    calls.clear()
    assert planned(other) == 2
    assert "open hoodie.properties" in calls
    other.connector.shutdown()


def test_without_memory_nothing_is_kept(catalog: HudiCatalog, tmp_path: Path, calls: list[str]) -> None:
    catalog.register(table(tmp_path / "t", 9).folder)
    catalog = catalog.with_property("planning_cache", 0)
    assert planned(catalog) == 2
    calls.clear()
    assert planned(catalog) == 2
    assert "open hoodie.properties" in calls
    assert PLANNING_CACHE.state.entries == 0


def test_bytes_are_bounded(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = table(tmp_path / "t", 9)
    catalog.register(writer.folder)
    small = catalog.with_property("planning_cache", 6000)
    for _ in range(3):
        assert ids(small) == [0, 1]
        assert PLANNING_CACHE.state.bytes <= 6000
    assert PLANNING_CACHE.state.evictions > 0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_table_made_anew_in_its_folder_is_read_anew(catalog: HudiCatalog, tmp_path: Path, version: int) -> None:
    """Its instants have the same names."""
    writer = table(tmp_path / "t", version)
    catalog.register(writer.folder)
    assert ids(catalog) == [0, 1]
    shutil.rmtree(writer.folder)
    again = HudiWriter(writer.folder, version=version, partition_fields=["p"]).create()
    again.insert(rows(7, 8))
    assert ids(catalog) == [7, 8]


@pytest.mark.parametrize("version", VERSIONS)
def test_properties_that_change_without_an_instant_count_at_once(
    catalog: HudiCatalog, tmp_path: Path, version: int
) -> None:
    writer = table(tmp_path / "t", version)
    catalog.register(writer.folder)
    assert properties(catalog)["type"] == "copy_on_write"
    path = writer.folder / ".hoodie" / "hoodie.properties"
    path.write_text(path.read_text().replace("COPY_ON_WRITE", "MERGE_ON_READ"))
    assert properties(catalog)["type"] == "merge_on_read"
    # Of the same size, within the grain of the storage's clock.
    before = path.stat()
    path.write_text(path.read_text().replace("MERGE_ON_READ", "COPY_ON_WRITE"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert properties(catalog)["type"] == "copy_on_write"


def properties(catalog: HudiCatalog) -> dict[str, str]:
    with catalog.metadata() as (_, metadata):
        handle = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        return dict(metadata.get_table_metadata(catalog.session, handle).properties)


def test_an_index_that_could_not_be_read_for_once_is_tried_again(
    catalog: HudiCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = table(tmp_path / "t", 9)
    MetadataWriter(writer).create()
    settle(writer)
    catalog.register(writer.folder)
    original = FileSystem.list

    def failing(self: FileSystem, uri: str, recursive: bool = False) -> list[FileInfo]:
        if "/metadata" in uri:
            raise StorageError(f"cannot read {uri}: try later")
        return original(self, uri, recursive)

    with monkeypatch.context() as patched:
        patched.setattr(FileSystem, "list", failing)
        assert "metadata table not used" in notes(catalog)
    assert notes(catalog) == "files by the metadata table"


def notes(catalog: HudiCatalog) -> str:
    with catalog.metadata() as (transaction, metadata):
        handle = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        source = catalog.connector.split_manager.get_splits(transaction, catalog.session, handle, (), TupleDomain.all())
        assert sum(map(len, source)) == 2
        return "; ".join(source.summary().notes)


def test_a_transaction_keeps_its_snapshot(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = table(tmp_path / "t", 9)
    catalog.register(writer.folder)
    assert planned(catalog) == 2
    with catalog.metadata() as (transaction, metadata):
        handle = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        writer.insert(rows(2, 3))
        assert planned(catalog) == 4
        assert len(catalog.splits(transaction, handle, ())) == 2


STEPS = st.lists(st.sampled_from(["insert", "pending", "overwrite", "note", "index", "read"]), min_size=1, max_size=8)


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
@given(steps=STEPS)
def test_reads_are_those_without_a_cache(
    tmp_path_factory: pytest.TempPathFactory, version: int, steps: list[str]
) -> None:
    """After any writes, complete or not, with the metadata table noted, lagging behind or missing."""
    folder = tmp_path_factory.mktemp("kept")
    writer = table(folder / "t", version)
    catalog = make_catalog(folder)
    catalog.register(writer.folder)
    fresh = catalog.with_property("planning_cache", 0)
    metadata: MetadataWriter | None = None
    number, last = 2, ""
    for step in steps:
        number += 2
        if step in ("insert", "pending"):
            last = writer.insert(rows(number, number + 1), complete=step == "insert")
        elif step == "overwrite":
            groups = {path.name.partition("_")[0] for path in writer.folder.glob("p=p0/*.parquet")}
            files = {("p=p0", f"o{number}"): rows(number)}
            last = writer.commit(files, action="replacecommit", replaced={"p=p0": sorted(groups - {f"o{number}"})})
        elif step == "index" and metadata is None and version >= 8:
            metadata = MetadataWriter(writer).create()
        elif step == "note" and metadata is not None and last:
            metadata.note(last)
            last = ""
        for chosen in (catalog, catalog):
            assert ids(chosen) == ids(fresh)
            assert planned(chosen) == planned(fresh)
    catalog.connector.shutdown()


def test_flush_drops_what_is_kept_of_a_table(catalog: HudiCatalog, tmp_path: Path) -> None:
    catalog.register(table(tmp_path / "t", 9).folder)
    catalog.register(table(tmp_path / "u", 9).folder, "u")
    for name in ("t", "u"):
        assert sorted(catalog.read(name, columns=["id"]).column("id").to_pylist()) == [0, 1]
    before = PLANNING_CACHE.state.entries
    [flush] = [one for one in catalog.connector.procedures if one.name == "flush_metadata_cache"]
    [count] = flush.function(catalog.session, {"schema_name": "s", "table_name": "t"}).column(0).to_pylist()
    assert 0 < count < before
    assert PLANNING_CACHE.state.entries == before - count
    flush.function(replace(catalog.session, user="bob"), {})
    assert PLANNING_CACHE.state.entries == 0


def test_the_table_of_caches_shows_what_is_held_and_of_use(catalog: HudiCatalog, tmp_path: Path) -> None:
    catalog.register(table(tmp_path / "t", 9).folder)
    assert planned(catalog) == 2
    before = held(catalog)
    assert before["entries"] > 0
    assert before["bytes"] > 0
    assert planned(catalog) == 2
    after = held(catalog)
    assert after["hits"] > before["hits"]
    assert after["entries"] == before["entries"]


def held(catalog: HudiCatalog) -> dict[str, int]:
    """What ``system.caches`` says of planning."""
    [caches] = [one for one in catalog.connector.system_tables if one.metadata.name.table == "caches"]
    rows = pa.Table.from_batches(caches.read(catalog.session, TupleDomain.all())).to_pylist()
    assert {"metastore", "hudi-merged-logs"} <= {row["name"] for row in rows}
    [row] = [row for row in rows if row["name"] == "hudi-planning"]
    return {key: value for key, value in row.items() if key != "name"}
