"""Tables in states that real writers do not leave on demand; written by ``writer.py``."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import ConnectorError, CorruptFileError, FileMissingError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, TupleDomain
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.writer import HudiWriter, avro_schema
from tests.rows import assert_same_table

COLUMNS = ["id", "part"]


def rows(ids: range | list[int], part: str = "a") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array([part] * len(ids), pa.string())})


@pytest.fixture(params=[6, 9], ids=["layout1", "layout2"])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> HudiWriter:
    return HudiWriter(tmp_path / "table", request.param, ("part",)).create()


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    return make_catalog(tmp_path)


def read(catalog: HudiCatalog, writer: HudiWriter, constraint: TupleDomain[ColumnHandle] | None = None) -> pa.Table:
    """Registers the table and reads ``id`` and ``part``."""
    catalog.register(writer.folder)
    return catalog.read(columns=COLUMNS, constraint=constraint)


def part_is(value: str) -> TupleDomain[ColumnHandle]:
    return TupleDomain.with_column_domains({ColumnHandle("part", pa.string()): Domain.single_value(pa.string(), value)})


def ids(table: pa.Table) -> list[int]:
    found: list[int] = sorted(table.column("id").to_pylist())
    return found


def test_only_the_newest_base_file_of_each_group_is_read(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1, 2]), ("part=b", "g2"): rows([3], "b")})
    writer.commit({("part=a", "g1"): rows([2, 4])})
    assert_same_table(read(catalog, writer), pa.concat_tables([rows([2, 4]), rows([3], "b")]))


def test_unfinished_writes_are_not_seen(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g0"): rows([9])}, complete=False)
    writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g1"): rows([2]), ("part=c", "g3"): rows([3], "c")}, complete=False)
    assert ids(read(catalog, writer)) == [1]


def test_replaced_groups_are_not_read(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1]), ("part=b", "g1b"): rows([2], "b")})
    writer.commit({("part=a", "g2"): rows([3])}, action="replacecommit", replaced={"part=a": ["g1"]})
    assert ids(read(catalog, writer)) == [2, 3]
    writer.commit({}, action="replacecommit", operation="DELETE_PARTITION", replaced={"part=b": ["g1b"]})
    assert ids(catalog.read(columns=COLUMNS)) == [3]


def test_the_handle_holds_its_instant(catalog: HudiCatalog, writer: HudiWriter) -> None:
    """Later commits, overwrites and an older write that completes late: none is seen by a handle made before (I1)."""
    writer.commit({("part=a", "g1"): rows([1])})
    late = writer.commit({("part=a", "g2"): rows([2])}, complete=False)
    writer.commit({("part=a", "g3"): rows([3])})
    catalog.register(writer.folder)
    with catalog.metadata() as (_, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
    assert table is not None
    stat = {"fileId": "g2", "path": f"part=a/g2_0-1-1_{late}.parquet", "numWrites": 1}
    extra = {"schema": avro_schema(rows([1]).schema)}
    writer.complete(late, "commit", {"partitionToWriteStats": {"part=a": [stat]}, "extraMetadata": extra})
    writer.commit({("part=a", "g4"): rows([4])}, action="replacecommit", replaced={"part=a": ["g1", "g3"]})
    with catalog.metadata() as (transaction, metadata):
        assert ids(catalog.scan(transaction, metadata, table, COLUMNS)) == [1, 3]
    assert ids(catalog.read(columns=COLUMNS)) == [2, 4]


def test_one_transaction_sees_one_instant(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    catalog.register(writer.folder)
    with catalog.metadata() as (_, metadata):
        first = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        writer.commit({("part=a", "g1"): rows([2])})
        assert metadata.get_table_handle(catalog.session, SchemaTableName("s", "t")) == first


def test_files_of_archived_writes_are_read(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g2"): rows([2])})
    for path in writer.timeline.glob(f"{first}*"):
        path.unlink()
    assert ids(read(catalog, writer)) == [1, 2]


def test_pruned_partitions_are_not_even_listed(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1]), ("part=b", "g2"): rows([2], "b")})
    writer.commit({("part=a", "g1"): rows([1])})
    (writer.folder / "part=b" / "strange.parquet").touch()
    assert ids(read(catalog, writer, part_is("a"))) == [1]
    with pytest.raises(CorruptFileError, match=r"strange\.parquet"):
        catalog.read(columns=COLUMNS)


def test_explain_says_what_was_pruned(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({(f"part={part}", f"g{part}"): rows([1], part) for part in "abcde"})
    catalog.register(writer.folder)
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert isinstance(table, HudiTableHandle)
        manager = catalog.connector.split_manager
        with manager.get_splits(transaction, catalog.session, table, (), part_is("b")) as source:
            assert sum(len(batch) for batch in source) == 1
            summary = source.summary()
    assert (summary.partitions_kept, summary.partitions_total) == (1, 5)
    assert (summary.files_kept, summary.files_total) == (1, 1)
    assert summary.snapshot == f"instant {table.view.instants[-1].requested}"


@pytest.mark.parametrize("is_explained", [False, True])
def test_explain_counts_partitions_of_folders_that_are_not_listed(
    catalog: HudiCatalog, tmp_path: Path, is_explained: bool
) -> None:
    writer = HudiWriter(tmp_path / "table", partition_fields=("part", "hour")).create()
    hours = pa.array(["0"], pa.string())
    writer.commit(
        {(f"part={part}/hour={hour}", f"g{part}{hour}"): rows([1], part).append_column("hour", hours)
         for part in "ab" for hour in range(3 if part == "b" else 1)}
    )  # fmt: skip
    catalog.register(writer.folder)
    session = replace(catalog.session, is_explained=is_explained)
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(session, SchemaTableName("s", "t"))
        assert table is not None
        with catalog.connector.split_manager.get_splits(transaction, session, table, (), part_is("a")) as source:
            assert sum(len(batch) for batch in source) == 1
            summary = source.summary()
    assert (summary.partitions_kept, summary.partitions_total) == (1, 4 if is_explained else None)


def test_a_base_file_of_the_latest_write_that_is_missing_is_named(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    instant = writer.commit({("part=b", "g2"): rows([2], "b"), ("part=c", "g3"): rows([3], "c")})
    shutil.rmtree(writer.folder / "part=b")
    with pytest.raises(FileMissingError, match=f"part=b/g2_0-1-1_{instant}.parquet") as caught:
        read(catalog, writer)
    assert caught.value.code.name == "HUDI_MISSING_BASE_FILE"
    assert ids(catalog.read(columns=COLUMNS, constraint=part_is("c"))) == [3]


def test_a_file_that_vanishes_after_planning_is_an_error(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1]), ("part=b", "g2"): rows([2], "b")})
    catalog.register(writer.folder)
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        column = metadata.get_column_handles(catalog.session, table)["id"]
        splits = catalog.splits(transaction, table, (column,))
    shutil.rmtree(writer.folder / "part=b")
    provider = catalog.connector.page_source_provider
    [gone] = (split for split in splits if isinstance(split, HudiSplit) and split.partition == "part=b")
    source = provider.create_page_source(catalog.session, gone, table, (column,), TupleDomain.all())
    with pytest.raises(FileMissingError, match="part=b/g2"):
        list(source)


def test_a_truncated_file_is_named(catalog: HudiCatalog, writer: HudiWriter) -> None:
    instant = writer.commit({("part=a", "g1"): rows([1])})
    path = writer.folder / "part=a" / f"g1_0-1-1_{instant}.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CorruptFileError, match=path.name):
        read(catalog, writer)


def test_a_partition_that_lost_its_marker_keeps_its_rows(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    (writer.folder / "part=a" / ".hoodie_partition_metadata").unlink()
    assert ids(read(catalog, writer)) == [1]


def test_the_marker_may_be_a_data_file(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    marker = writer.folder / "part=a" / ".hoodie_partition_metadata"
    marker.rename(marker.with_name(".hoodie_partition_metadata.parquet"))
    assert ids(read(catalog, writer)) == [1]


def test_checksum_files_and_other_folders_are_passed_over(catalog: HudiCatalog, writer: HudiWriter) -> None:
    instant = writer.commit({("part=a", "g1"): rows([1])})
    (writer.folder / "part=a" / f".g1_0-1-1_{instant}.parquet.crc").touch()
    (writer.timeline / f".{instant}.commit.crc").touch()
    (writer.folder / "notes").mkdir()
    assert ids(read(catalog, writer)) == [1]


def test_of_two_attempts_of_a_task_the_committed_one_is_read(catalog: HudiCatalog, writer: HudiWriter) -> None:
    instant = writer.commit({("part=a", "g1"): rows([1])})
    writer.write_base_file("part=a", "g1", instant, rows([1, 7]), token="0-2-9")
    assert ids(read(catalog, writer)) == [1]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("g9_0-1-1_20200101000000000.lance", "HUDI_UNSUPPORTED_BASE_FILE"),
        ("g9_0-1-1_20200101000000000.hfile", "HUDI_UNSUPPORTED_BASE_FILE"),
        ("g9_0-1-1_00000000000001.parquet", "HUDI_BOOTSTRAP"),
        (".g9_20200101000000000.log.1_0-1-1", "HUDI_MERGE_ON_READ"),
        ("part-0_20200101000000000_hudiext", "HUDI_UNKNOWN_FILE_NAME"),
    ],
)
def test_files_that_cannot_be_read_are_refused(catalog: HudiCatalog, writer: HudiWriter, name: str, code: str) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    (writer.folder / "part=a" / name).touch()
    with pytest.raises(ConnectorError) as caught:
        read(catalog, writer)
    assert caught.value.code.name == code


def test_logs_of_older_slices_do_not_matter(catalog: HudiCatalog, writer: HudiWriter) -> None:
    """A table that was merge on read, and was compacted for good."""
    first = writer.commit({("part=a", "g1"): rows([1])})
    (writer.folder / "part=a" / f".g1_{first}.log.1_0-1-1").touch()
    with pytest.raises(NotSupportedError, match="log files"):
        read(catalog, writer)
    writer.commit({("part=a", "g1"): rows([1, 2])})
    assert ids(catalog.read(columns=COLUMNS)) == [1, 2]


def test_a_missing_timeline_is_named(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", 9).create()
    shutil.rmtree(writer.timeline)
    with pytest.raises(CorruptFileError, match=r"timeline layout 2"):
        read(catalog, writer)


def test_an_unknown_action_is_refused(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    (writer.timeline / f"{writer.next_instant()}.mergecommit").touch()
    with pytest.raises(NotSupportedError, match="mergecommit"):
        read(catalog, writer)


def test_a_cut_off_replacecommit_is_an_error(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g2"): rows([2])}, action="replacecommit", replaced={"part=a": ["g1"]})
    [path] = (path for path in writer.timeline.glob("*.replacecommit"))
    path.write_bytes(path.read_bytes()[:25])
    with pytest.raises(CorruptFileError, match=path.name):
        read(catalog, writer)


def test_clustering_does_not_change_the_schema(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1]).append_column("more", pa.array([5], pa.int32()))})
    kept = {"part=a": ["g1"]}
    writer.commit({("part=a", "g2"): rows([1])}, action="replacecommit", operation="CLUSTER", replaced=kept)
    catalog.register(writer.folder)
    met = catalog.read(columns=["id", "more"])
    assert met.to_pylist() == [{"id": 1, "more": None}]


def test_without_any_schema_in_the_commits_a_footer_tells_it(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])}, extra={"schema": ""})
    assert_same_table(read(catalog, writer), rows([1]))


def test_no_schema_at_all_is_an_error(catalog: HudiCatalog, writer: HudiWriter) -> None:
    with pytest.raises(CorruptFileError, match="no schema"):
        read(catalog, writer)


@pytest.mark.slow
def test_large_files_are_cut_and_every_row_comes_once(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows(range(999)), ("part=b", "g2"): rows([5000], "b")})
    catalog.register(writer.folder)
    small = catalog.with_property("max_split_size", 3000)
    with small.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(small.session, SchemaTableName("s", "t"))
        assert table is not None
        column = metadata.get_column_handles(small.session, table)["id"]
        splits = small.splits(transaction, table, (column,))
        assert len(splits) > 20
        assert ids(small.scan(transaction, metadata, table, ["id"])) == [*range(999), 5000]
    first = splits[0]
    assert isinstance(first, HudiSplit)
    assert sum(split.size_bytes for split in splits if isinstance(split, HudiSplit) and split.path == first.path) == (
        first.file_size
    )


def test_milliseconds_labelled_as_microseconds_are_refused(catalog: HudiCatalog, writer: HudiWriter) -> None:
    micros = rows([1]).append_column("at", pa.array([1700000000000], pa.timestamp("us", "UTC")))
    schema = avro_schema(micros.schema).replace("timestamp-micros", "timestamp-millis")
    writer.commit({("part=a", "g1"): micros}, extra={"schema": schema})
    catalog.register(writer.folder)
    with pytest.raises(NotSupportedError, match="'at'") as caught:
        catalog.read(columns=["at"])
    assert caught.value.code.name == "HUDI_TIMESTAMP_UNIT"
    assert ids(catalog.read(columns=["id"])) == [1]


def test_a_column_that_old_files_lack_is_null(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=b", "g2"): rows([2], "b").append_column("more", pa.array([5], pa.int32()))})
    catalog.register(writer.folder)
    assert sorted(catalog.read(columns=["id", "more"]).to_pylist(), key=lambda row: int(row["id"])) == [
        {"id": 1, "more": None},
        {"id": 2, "more": 5},
    ]


def test_dropped_partition_columns_come_from_the_path(catalog: HudiCatalog, tmp_path: Path) -> None:
    properties = {
        "hoodie.datasource.write.drop.partition.columns": "true",
        "hoodie.table.create.schema": avro_schema(pa.schema([("id", pa.int64()), ("day", pa.date32())])),
    }
    writer = HudiWriter(tmp_path / "table", 6, ("day",), properties=properties).create()
    only_id = rows([1]).select(["id"])
    writer.commit({("day=2024-02-29", "g1"): only_id, ("day=__HIVE_DEFAULT_PARTITION__", "g2"): only_id})
    catalog.register(writer.folder)
    met = catalog.read(columns=["day"])
    assert met.schema.field("day").type == pa.date32()
    assert sorted(str(value) for value in met.column("day").to_pylist()) == ["2024-02-29", "None"]


def test_dropped_partition_columns_of_a_timestamp_key_generator_are_refused(
    catalog: HudiCatalog, tmp_path: Path
) -> None:
    properties = {
        "hoodie.datasource.write.drop.partition.columns": "true",
        "hoodie.table.keygenerator.type": "TIMESTAMP",
    }
    writer = HudiWriter(tmp_path / "table", 9, ("part",), properties=properties).create()
    writer.commit({("part=20240101", "g1"): rows([1]).select(["id"])})
    catalog.register(writer.folder)
    with pytest.raises(NotSupportedError, match="'part'") as caught:
        catalog.read(columns=["part"])
    assert caught.value.code.name == "HUDI_PARTITION_VALUE"
    assert ids(catalog.read(columns=["id"])) == [1]


@pytest.mark.parametrize(("part", "native"), [("a", True), ("a b", False), ("ä", False)])
def test_files_with_odd_paths_are_left_to_our_reader(
    catalog: HudiCatalog, writer: HudiWriter, part: str, native: bool
) -> None:
    """A path and its percent-encoded form could be taken for each other."""
    writer.commit({(f"part={part}", "g1"): rows([1], part)})
    catalog.register(writer.folder)
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        column = metadata.get_column_handles(catalog.session, table)["id"]
        [split] = catalog.splits(transaction, table, (column,))
    assert (split.native_file is not None) is native
    assert_same_table(catalog.read(columns=COLUMNS), rows([1], part))
