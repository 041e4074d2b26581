"""When the metadata table is used, and when storage is listed instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import FileMissingError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.splits import ScanSummary
from connectors.hudi.metadata import HudiMetadata
from connectors.hudi.metadata_table.keys import column_stats_key
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.metadata_table.writer import MetadataWriter, file_stats, whole_stats
from tests.connectors.hudi.writer import HudiWriter

USED = "files by the metadata table"
NO_FILTER = TupleDomain[ColumnHandle].all()


def rows(first: int, count: int, parts: int = 3) -> pa.Table:
    ids = range(first, first + count)
    return pa.table(
        {"id": pa.array(ids, pa.int64()), "p": pa.array([f"p{number % parts}" for number in ids], pa.string())}
    )


def table(folder: Path) -> HudiWriter:
    """A table of two writes, ids 0 to 8 and 100 to 108 in three partitions."""
    writer = HudiWriter(folder / "t", version=8, partition_fields=["p"]).create()
    writer.insert(rows(0, 9))
    writer.insert(rows(100, 9))
    return writer


def opened(folder: Path, writer: HudiWriter) -> HudiCatalog:
    catalog = make_catalog(folder)
    catalog.register(writer.folder)
    return catalog


def equal_to(column: str, value: object, arrow: pa.DataType) -> TupleDomain[ColumnHandle]:
    domain = Domain.multiple_values(arrow, [value])  # type: ignore[list-item]
    return TupleDomain.with_column_domains({ColumnHandle(column, arrow): domain})


def scan_summary(catalog: HudiCatalog, constraint: TupleDomain[ColumnHandle] = NO_FILTER) -> ScanSummary:
    with catalog.metadata() as (transaction, metadata):
        handle = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        manager = catalog.connector.split_manager
        source = manager.get_splits(transaction, catalog.session, handle, (), constraint)
        list(source)
        return source.summary()


def ids(catalog: HudiCatalog, constraint: TupleDomain[ColumnHandle] = NO_FILTER) -> list[int]:
    return sorted(catalog.read(columns=["id"], constraint=constraint).column("id").to_pylist())


EVERYTHING = [*range(9), *range(100, 109)]


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Folders that are listed, below ``t``."""
    found: list[str] = []
    original: Callable[..., list[FileInfo]] = FileSystem.list

    def listing(self: FileSystem, uri: str, recursive: bool = False) -> list[FileInfo]:
        found.append(uri.rpartition("/t/")[2] if "/t/" in uri else "")
        return original(self, uri, recursive)

    monkeypatch.setattr(FileSystem, "list", listing)
    return found


def test_no_folder_of_data_is_listed(tmp_path: Path, listed: list[str]) -> None:
    writer = table(tmp_path)
    MetadataWriter(writer).create()
    catalog = opened(tmp_path, writer)
    listed.clear()
    assert ids(catalog) == EVERYTHING
    assert [path for path in listed if not path.startswith(".hoodie")] == []
    assert scan_summary(catalog).notes == (USED,)


def test_partitions_are_pruned_by_their_paths(tmp_path: Path) -> None:
    writer = table(tmp_path)
    MetadataWriter(writer).create()
    catalog = opened(tmp_path, writer)
    wanted = equal_to("p", "p1", pa.string())
    assert ids(catalog, wanted) == [1, 4, 7, 100, 103, 106]
    planned = scan_summary(catalog, wanted)
    assert (planned.partitions_kept, planned.partitions_total, planned.files_kept) == (1, 3, 2)


@pytest.mark.parametrize("off", ["catalog", "session"])
def test_it_can_be_turned_off(off: str, tmp_path: Path, listed: list[str]) -> None:
    writer = table(tmp_path)
    MetadataWriter(writer).create()
    catalog = make_catalog(tmp_path, **({"hudi_metadata__enabled": "false"} if off == "catalog" else {}))
    catalog.register(writer.folder)
    if off == "session":
        catalog = catalog.with_property("metadata_enabled", False)
    listed.clear()
    assert ids(catalog) == EVERYTHING
    assert {"p=p0", "p=p1", "p=p2"} <= set(listed)
    assert scan_summary(catalog).notes == ()


def test_writes_after_it_was_made_are_found(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    metadata.note(writer.insert(rows(200, 9)))
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == [*EVERYTHING, *range(200, 209)]
    assert scan_summary(catalog).notes == (USED,)


def test_it_is_left_aside_when_it_lags_behind(tmp_path: Path) -> None:
    """A writer that knows no metadata table has added files."""
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    instant = writer.insert(rows(200, 9))
    metadata.note(writer.insert(rows(300, 9)))
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == [*EVERYTHING, *range(200, 209), *range(300, 309)]
    assert scan_summary(catalog).notes == (f"metadata table not used: it does not know the write {instant}",)


def test_a_write_that_is_noted_and_not_complete_is_not_seen(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    metadata.note(writer.insert(rows(200, 9), complete=False))
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == EVERYTHING
    assert scan_summary(catalog).notes == (USED,)


def test_a_pending_clean_deletes_nothing_yet(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    clean = writer.next_instant()
    (writer.timeline / f"{clean}.clean.requested").touch()
    names = {"p=p0": [path.name for path in (writer.folder / "p=p0").glob("*.parquet")]}
    metadata.forget(clean, names)
    assert ids(opened(tmp_path, writer)) == EVERYTHING


def test_a_noted_write_that_is_not_complete_for_itself_does_not_count(tmp_path: Path) -> None:
    """The writer stopped before it completed the instant of the metadata table."""
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    metadata.note(writer.insert(rows(200, 9)), complete=False)
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == [*EVERYTHING, *range(200, 209)]
    assert "does not know the write" in scan_summary(catalog).notes[0]


def test_what_was_deleted_after_the_query_began_is_not_taken_away(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    catalog = opened(tmp_path, writer)
    with catalog.metadata() as (transaction, connector_metadata):
        handle = connector_metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        gone = sorted((writer.folder / "p=p0").glob("*.parquet"))
        metadata.forget(writer.next_instant(), {"p=p0": [path.name for path in gone]})
        for path in gone:
            path.unlink()
        # Not fewer rows.
        with pytest.raises(FileMissingError, match="p=p0"):
            catalog.scan(transaction, connector_metadata, handle)


def test_deleted_partitions_are_gone(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    replaced = [path.name.partition("_")[0] for path in (writer.folder / "p=p2").glob("*.parquet")]
    instant = writer.commit({}, action="replacecommit", operation="DELETE_PARTITION", replaced={"p=p2": replaced})
    metadata.forget(instant, {"p=p2": []}, ["p=p2"])
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == [number for number in EVERYTHING if number % 3 != 2]
    planned = scan_summary(catalog)
    assert (planned.partitions_total, planned.notes) == (2, (USED,))


def test_files_of_archived_writes_are_seen(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    metadata.note(writer.insert(rows(200, 9)))
    first = min(path.name.partition(".")[0].partition("_")[0] for path in writer.timeline.iterdir())
    for path in writer.timeline.glob(f"{first}*"):
        path.unlink()
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == [*EVERYTHING, *range(200, 209)]
    assert scan_summary(catalog).notes == (USED,)


def test_a_compacted_one_is_read_from_its_base_file(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    metadata.note(writer.insert(rows(200, 9)))
    metadata.compact()
    metadata.note(writer.insert(rows(300, 9)))
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == [*EVERYTHING, *range(200, 209), *range(300, 309)]
    assert scan_summary(catalog).notes == (USED,)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-5] ^= 0xFF
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: _cut(next((folder / "files").glob("*.hfile"))),
        lambda folder: _cut(next((folder / "files").glob(".*log*"))),
        lambda folder: _flip(next((folder / "files").glob(".*log*"))),
        lambda folder: next((folder / "files").glob("*.hfile")).unlink(),
        lambda folder: next((folder / "files").glob(".*log*")).unlink(),
        lambda folder: (folder / ".hoodie" / "hoodie.properties").unlink(),
        lambda folder: (folder / ".hoodie" / "hoodie.properties").write_text("hoodie.table.version=99\n"),
        lambda folder: (folder / ".hoodie" / "timeline" / "20240101000000099_20240101000000100.merge").touch(),
    ],
)
def test_a_damaged_one_is_left_aside(damage: Callable[[Path], object], tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer).create()
    metadata.note(writer.insert(rows(200, 9)))
    damage(metadata.folder)
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == [*EVERYTHING, *range(200, 209)]
    assert scan_summary(catalog).notes[0].startswith("metadata table not used: ")


def test_an_index_that_is_being_built_is_not_used(tmp_path: Path) -> None:
    writer = table(tmp_path)
    MetadataWriter(writer).create()
    with (writer.folder / ".hoodie" / "hoodie.properties").open("a") as properties:
        properties.write("hoodie.table.metadata.partitions.inflight=files\n")
    catalog = opened(tmp_path, writer)
    assert ids(catalog) == EVERYTHING
    assert scan_summary(catalog).notes == ()


def test_a_file_that_it_names_and_storage_lacks_is_an_error(tmp_path: Path) -> None:
    writer = table(tmp_path)
    MetadataWriter(writer).create()
    lost = next((writer.folder / "p=p0").glob("*.parquet"))
    lost.unlink()
    with pytest.raises(FileMissingError, match=lost.name):
        ids(opened(tmp_path, writer))


def test_modification_times_are_those_of_storage(tmp_path: Path) -> None:
    writer = table(tmp_path)
    MetadataWriter(writer).create()
    catalog = opened(tmp_path, writer)
    columns = ["$path", "$file_modified_time", "$file_size"]
    planned = catalog.read(columns=columns)
    listed = catalog.with_property("metadata_enabled", False).read(columns=columns)
    assert planned.sort_by("$path").equals(listed.sort_by("$path"))


def test_files_are_skipped_by_column_statistics(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer, ("files", "column_stats")).create()
    noted: dict[bytes, object] = {}
    instant = writer.insert(rows(200, 9))
    for path in sorted(writer.folder.glob("p=*/*.parquet")):
        found = pa.parquet.read_table(path).column("id").to_pylist()
        noted |= file_stats("id", path.parent.name, path.name, min(found), max(found), len(found))
    metadata.note(instant, column_stats=noted)  # type: ignore[arg-type]
    catalog = opened(tmp_path, writer)
    wanted = equal_to("id", 100, pa.int64())
    planned = scan_summary(catalog, wanted)
    assert (planned.files_kept, planned.files_total) == (1, 9)
    assert (planned.partitions_kept, planned.partitions_total) == (1, 3)
    assert ids(catalog, wanted) == [100, 103, 106]
    off = catalog.with_property("column_stats_index_enabled", False)
    assert scan_summary(off, wanted).files_kept == 9


def test_files_without_statistics_are_kept(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer, ("files", "column_stats")).create()
    path = next((writer.folder / "p=p0").glob("*.parquet"))
    metadata.note(writer.insert(rows(200, 3)), column_stats=file_stats("id", "p=p0", path.name, 5000, 6000, 3))
    planned = scan_summary(opened(tmp_path, writer), equal_to("id", 104, pa.int64()))
    assert (planned.files_kept, planned.files_total) == (8, 9)


def test_a_damaged_index_skips_nothing(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer, ("files", "column_stats")).create()
    path = next((writer.folder / "p=p0").glob("*.parquet"))
    metadata.note(writer.insert(rows(200, 3)), column_stats=file_stats("id", "p=p0", path.name, 5000, 6000, 3))
    _flip(next((metadata.folder / "column_stats").glob(".*log*")))
    planned = scan_summary(opened(tmp_path, writer), equal_to("id", 104, pa.int64()))
    assert (planned.files_kept, planned.files_total) == (9, 9)
    assert planned.notes[0] == USED
    assert planned.notes[1].startswith("column_stats not used: ")


def with_partition_stats(folder: Path, keys: int = 6, nulls: int = 0) -> HudiWriter:
    """Statistics of the partitions are narrower than the rows, to see when they are believed."""
    writer = table(folder)
    metadata = MetadataWriter(writer, ("files", "column_stats", "partition_stats")).create()
    noted: dict[bytes, object] = {}
    for number in range(3):
        noted |= whole_stats("id", f"p=p{number}", 1000 * number, 1000 * number + 5, 6, nulls=nulls)
        noted |= whole_stats("_hoodie_record_key", f"p=p{number}", "a", "z", keys, "String")
    metadata.note(writer.commit({}), partition_stats=noted)  # type: ignore[arg-type]
    return writer


def test_partitions_are_skipped_by_their_statistics(tmp_path: Path) -> None:
    writer = with_partition_stats(tmp_path)
    catalog = opened(tmp_path, writer)
    planned = scan_summary(catalog, equal_to("id", 1003, pa.int64()))
    assert (planned.partitions_kept, planned.partitions_total, planned.files_kept) == (1, 3, 2)
    off = catalog.with_property("partition_stats_index_enabled", False)
    assert scan_summary(off, equal_to("id", 1003, pa.int64())).partitions_kept == 3


def test_statistics_that_are_not_of_all_rows_skip_no_partition(tmp_path: Path) -> None:
    writer = with_partition_stats(tmp_path, keys=7)
    assert scan_summary(opened(tmp_path, writer), equal_to("id", 1003, pa.int64())).partitions_kept == 3


def test_statistics_that_count_nulls_skip_no_partition(tmp_path: Path) -> None:
    """Hudi counts values without bounds as NULL, and leaves them out of those of the partition."""
    writer = with_partition_stats(tmp_path, nulls=1)
    assert scan_summary(opened(tmp_path, writer), equal_to("id", 1003, pa.int64())).partitions_kept == 3


def test_statistics_of_partitions_are_not_believed_without_their_log(tmp_path: Path) -> None:
    writer = with_partition_stats(tmp_path)
    for path in (writer.folder / ".hoodie" / "metadata" / "partition_stats").glob(".*log*"):
        path.unlink()
    planned = scan_summary(opened(tmp_path, writer), equal_to("id", 1003, pa.int64()))
    assert planned.partitions_kept == 3
    assert "is missing" in planned.notes[1]


@pytest.mark.parametrize("action", ["rollback", "restore", "pending"])
def test_statistics_of_partitions_are_not_believed_after(action: str, tmp_path: Path) -> None:
    writer = with_partition_stats(tmp_path)
    instant = writer.next_instant()
    name = f"{instant}.commit.requested" if action == "pending" else f"{instant}_{writer.next_instant()}.{action}"
    (writer.timeline / name).touch()
    planned = scan_summary(opened(tmp_path, writer), equal_to("id", 1003, pa.int64()))
    assert (planned.partitions_kept, planned.notes) == (3, (USED,))


def test_row_counts_of_archived_writes_come_from_column_statistics(tmp_path: Path) -> None:
    writer = table(tmp_path)
    metadata = MetadataWriter(writer, ("files", "column_stats")).create()
    noted: dict[bytes, object] = {}
    for path in sorted(writer.folder.glob("p=*/*.parquet")):
        record = whole_stats("_hoodie_record_key", path.parent.name, "a", "z", 1000, "String")
        [planned] = record.values()
        stats = {**planned["ColumnStatsMetadata"], "fileName": path.name}  # type: ignore[dict-item]
        key = column_stats_key("_hoodie_record_key", path.parent.name, path.name)
        noted[key] = {**planned, "ColumnStatsMetadata": stats}
    metadata.note(writer.insert(rows(200, 9)), column_stats=noted)  # type: ignore[arg-type]
    first = min(path.name.partition(".")[0].partition("_")[0] for path in writer.timeline.iterdir())
    for path in writer.timeline.glob(f"{first}*"):
        path.unlink()
    catalog = opened(tmp_path, writer)
    with catalog.metadata() as (_, connector_metadata):
        handle = connector_metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert handle is not None
        assert isinstance(connector_metadata, HudiMetadata)
        # The first write is archived; three of its files have a thousand rows each, by what was noted.
        assert connector_metadata.get_table_statistics(catalog.session, handle).row_count == 3000 + 9 + 9
