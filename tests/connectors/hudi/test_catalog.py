"""Tables in a metastore: registering, listing, statistics, system tables, what hive sync leaves."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.factory import Metastore
from catalog.metastore.model import (
    Database,
    FieldSchema,
    Parameters,
    Partition,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from catalog.metastore.table_access import TableAccess
from connector_spi.errors import FileMissingError, InvalidArgumentError, InvalidPropertyError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import Constraint, Domain, TupleDomain
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.metadata import HudiMetadata
from connectors.hudi.schema.table_schema import META_COLUMNS
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.corpus import expected, opened
from tests.connectors.hudi.writer import HudiWriter
from tests.paths import CORPUS, PROJECT

NAME = SchemaTableName("s", "t")
SYNCED = PROJECT.parent / "shared" / "recipes" / "hudi" / "hive_sync"


def rows(ids: list[int], part: str = "a") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array([part] * len(ids), pa.string())})


@pytest.fixture
def writer(tmp_path: Path) -> HudiWriter:
    writer = HudiWriter(tmp_path / "table", 9, ("part",)).create()
    writer.commit({("part=a", "g1"): rows([1, 2]), ("part=b", "g2"): rows([3], "b")})
    return writer


@pytest.fixture
def catalog(tmp_path: Path, writer: HudiWriter) -> HudiCatalog:
    catalog = make_catalog(tmp_path)
    catalog.register(writer.folder)
    return catalog


def system_table(catalog: HudiCatalog, kind: str, name: SchemaTableName = NAME) -> list[dict[str, object]]:
    with catalog.metadata() as (_, metadata):
        table = metadata.get_system_table(catalog.session, SystemTableName(name, kind))
        assert table is not None
        batches = list(table.read(catalog.session, TupleDomain.all()))
    return [row for batch in batches for row in batch.to_pylist()]


def metastore(tmp_path: Path) -> Metastore:
    return open_embedded(tmp_path / "metastore.db")


def test_register_writes_what_hive_sync_writes(catalog: HudiCatalog, tmp_path: Path) -> None:
    found = metastore(tmp_path).reads.get_table("s", "t")
    assert found is not None
    assert found.storage.input_format == "org.apache.hudi.hadoop.HoodieParquetInputFormat"
    assert found.storage.serde.serialization_lib.endswith("ParquetHiveSerDe")
    assert found.parameters["spark.sql.sources.provider"] == "hudi"
    assert found.parameters["EXTERNAL"] == "TRUE"
    assert [column.name for column in found.storage.columns] == [*META_COLUMNS, "id"]
    assert found.partition_keys == (FieldSchema("part", "string"),)


@pytest.mark.parametrize(
    ("location", "error", "text"),
    [
        ("relative/path", InvalidArgumentError, "absolute path"),
        ("/no/such/folder", NotSupportedError, "no Hudi table"),
    ],
)
def test_register_refuses_wrong_locations(
    catalog: HudiCatalog, location: str, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        catalog.register(location, "other", "new_schema")
    with catalog.metadata() as (_, metadata):
        assert not metadata.schema_exists(catalog.session, "new_schema")


def test_register_refuses_a_name_that_is_taken(catalog: HudiCatalog, writer: HudiWriter) -> None:
    with pytest.raises(InvalidArgumentError, match=r"s\.t is there already"):
        catalog.register(writer.folder)


def test_a_table_of_another_kind_is_listed_and_refused(catalog: HudiCatalog, tmp_path: Path) -> None:
    storage = StorageDescriptor(
        (FieldSchema("a", "int"),), str(tmp_path), "org.apache.hadoop.mapred.TextInputFormat", "x", serde=SerDeInfo("y")
    )
    metastore(tmp_path).writes.create_table(Table("s", "text", storage, table_type="EXTERNAL_TABLE"))
    with catalog.metadata() as (_, metadata):
        assert [name.table for name in metadata.list_tables(catalog.session, "s")] == ["t", "text"]
        with pytest.raises(NotSupportedError, match="hive connector") as caught:
            metadata.get_table_handle(catalog.session, SchemaTableName("s", "text"))
    assert caught.value.code.name == "HUDI_NOT_A_HUDI_TABLE"


def test_meta_columns_are_first_and_can_be_hidden(tmp_path: Path, writer: HudiWriter) -> None:
    catalog = make_catalog(tmp_path, hudi_columns__to__hide="_HOODIE_COMMIT_SEQNO,_hoodie_file_name")
    catalog.register(writer.folder)
    shown = ["_hoodie_commit_time", "_hoodie_record_key", "_hoodie_partition_path", "id", "part"]
    assert catalog.read().column_names == shown
    assert catalog.read(columns=["_hoodie_file_name"]).num_rows == 3


def test_hidden_columns(catalog: HudiCatalog, writer: HudiWriter) -> None:
    met = catalog.read(columns=["id", "$path", "$partition", "$file_size", "$file_modified_time"]).to_pylist()
    for row in met:
        path = Path(str(row["$path"]))
        assert path.parent.name == row["$partition"] == ("part=b" if row["id"] == 3 else "part=a")
        assert path.stat().st_size == row["$file_size"]
        assert abs(path.stat().st_mtime - row["$file_modified_time"].timestamp()) < 0.01


def test_a_filter_on_a_hidden_column_leaves_out_files(catalog: HudiCatalog) -> None:
    domain = Domain.single_value(pa.string(), "part=b")
    constraint = TupleDomain.with_column_domains({ColumnHandle("$partition", pa.string()): domain})
    assert catalog.read(columns=["id"], constraint=constraint).to_pylist() == [{"id": 3}]


def test_a_filter_is_taken_once_and_given_back(catalog: HudiCatalog) -> None:
    domain = Domain.single_value(pa.string(), "b")
    constraint = Constraint(TupleDomain.with_column_domains({ColumnHandle("part", pa.string()): domain}))
    with catalog.metadata() as (_, metadata):
        table = metadata.get_table_handle(catalog.session, NAME)
        assert table is not None
        applied = metadata.apply_filter(catalog.session, table, constraint)
        assert applied is not None
        assert applied.remaining == constraint.summary
        assert metadata.apply_filter(catalog.session, applied.table, constraint) is None


def statistics(catalog: HudiCatalog) -> tuple[float | None, int | None]:
    with catalog.metadata() as (_, metadata):
        assert isinstance(metadata, HudiMetadata)
        table = metadata.get_table_handle(catalog.session, NAME)
        assert table is not None
        met = metadata.get_table_statistics(catalog.session, table)
    return met.row_count, met.size_bytes


def test_statistics_are_of_the_newest_files(catalog: HudiCatalog, writer: HudiWriter) -> None:
    instant = writer.commit({("part=a", "g1"): rows([1, 2, 4, 5])})
    size = (writer.folder / "part=a" / f"g1_0-1-1_{instant}.parquet").stat().st_size
    other = sum(path.stat().st_size for path in (writer.folder / "part=b").glob("*.parquet"))
    assert statistics(catalog) == (5, size + other)


def test_row_counts_of_archived_writes_come_from_footers(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = next(path.name[:17] for path in writer.timeline.glob("*.commit"))
    writer.commit({("part=a", "g1"): rows([1])})
    for path in writer.timeline.glob(f"{first}*"):
        path.unlink()
    # One row in each of the two groups.
    assert statistics(catalog)[0] == 2


def partitions(catalog: HudiCatalog, metadata: ConnectorMetadata, constraint: TupleDomain[str]) -> object:
    assert isinstance(metadata, HudiMetadata)
    table = metadata.get_table_handle(catalog.session, NAME)
    assert table is not None
    return metadata.list_partitions(catalog.session, table, constraint)


def test_partitions_are_those_with_files(catalog: HudiCatalog, writer: HudiWriter) -> None:
    domain = Domain.single_value(pa.string(), "b")
    with catalog.metadata() as (_, metadata):
        assert partitions(catalog, metadata, TupleDomain.all()) == [("a",), ("b",)]
        assert partitions(catalog, metadata, TupleDomain.with_column_domains({"part": domain})) == [("b",)]
    writer.commit({}, action="replacecommit", operation="DELETE_PARTITION", replaced={"part=b": ["g2"]})
    with catalog.metadata() as (_, metadata):
        assert partitions(catalog, metadata, TupleDomain.all()) == [("a",)]


def test_system_tables(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([9])}, complete=False)
    timeline = system_table(catalog, "timeline")
    assert [(row["action"], row["state"]) for row in timeline] == [("commit", "COMPLETED"), ("commit", "INFLIGHT")]
    assert [row["completion_time"] is not None for row in timeline] == [True, False]
    files = system_table(catalog, "files")
    assert [(row["partition"], row["file_id"]) for row in files] == [("part=a", "g1"), ("part=b", "g2")]
    assert all(Path(str(row["path"])).stat().st_size == row["size"] for row in files)
    found = [(row["partition"], row["file_count"]) for row in system_table(catalog, "partitions")]
    assert found == [("part=a", 1), ("part=b", 1)]
    properties = {row["key"]: row["value"] for row in system_table(catalog, "properties")}
    assert properties["hoodie.table.version"] == "9"
    assert "metastore.access-type" not in properties


def test_what_the_metastore_lets_us_do_with_a_table_is_shown(catalog: HudiCatalog, tmp_path: Path) -> None:
    shared = metastore(tmp_path)
    entry = shared.reads.get_table("s", "t")
    assert entry is not None
    shared.writes.alter_table("s", "t", replace(entry, access=TableAccess(2)))
    properties = {row["key"]: row["value"] for row in system_table(catalog, "properties")}
    assert properties["metastore.access-type"] == "read only"


def add_partition(tmp_path: Path, value: str, location: str) -> None:
    partition = Partition("s", "t", (value,), StorageDescriptor(location=location))
    metastore(tmp_path).writes.add_partitions("s", "t", [partition])


def test_a_partition_that_only_the_metastore_has_is_an_error(
    catalog: HudiCatalog, writer: HudiWriter, tmp_path: Path
) -> None:
    add_partition(tmp_path, "a", f"{writer.folder}/part=a")
    assert catalog.read().num_rows == 3
    add_partition(tmp_path, "gone", f"{writer.folder}/part=gone")
    with pytest.raises(FileMissingError, match="part=gone is not on storage") as caught:
        catalog.read()
    assert caught.value.code.name == "HUDI_MISSING_PARTITION"
    assert catalog.with_property("ignore_absent_partitions", True).read().num_rows == 3
    domain = Domain.single_value(pa.string(), "b")
    constraint = TupleDomain.with_column_domains({ColumnHandle("part", pa.string()): domain})
    assert catalog.read(constraint=constraint).num_rows == 1


def test_a_partition_that_the_metastore_lacks_is_read(catalog: HudiCatalog, writer: HudiWriter, tmp_path: Path) -> None:
    """Hive sync can lag behind."""
    add_partition(tmp_path, "a", f"{writer.folder}/part=a")
    assert sorted(catalog.read(columns=["id"]).column("id").to_pylist()) == [1, 2, 3]


def test_properties_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidPropertyError, match=r"hive\.metastore\.uri"):
        make_catalog(tmp_path, hive_metastore="thrift")
    with pytest.raises(InvalidPropertyError, match=r"did you mean 'hudi\.max-split-size'"):
        make_catalog(tmp_path, hudi_max__split__sizes="1MB")


def synced_table(kind: str, tmp_path: Path) -> HudiCatalog:
    """A catalog with a table as hive sync described it, at its place here."""
    with zipfile.ZipFile(SYNCED / "sync_v9_tables.zip") as packed:
        packed.extractall(tmp_path / "WORK")
    text = (SYNCED / f"sync_v9.{kind}.json").read_text().replace("/WORK/", f"{tmp_path}/WORK/")
    objects = json.loads(text)
    clients = metastore(tmp_path)
    clients.writes.create_database(Database("s"))
    clients.writes.create_table(_table(objects["table"]))
    clients.writes.add_partitions(
        "s", "t", [Partition("s", "t", tuple(item["values"]), _storage(item["sd"])) for item in objects["partitions"]]
    )
    return make_catalog(tmp_path)


def _table(thrift: dict[str, object]) -> Table:
    keys = thrift["partitionKeys"]
    assert isinstance(keys, list)
    parameters = thrift["parameters"]
    assert isinstance(parameters, dict)
    return Table(
        "s",
        "t",
        _storage(thrift["sd"]),
        tuple(FieldSchema(key["name"], key["type"]) for key in keys),
        Parameters.of(parameters),
        "EXTERNAL_TABLE",
    )


def _storage(thrift: object) -> StorageDescriptor:
    assert isinstance(thrift, dict)
    serde = thrift["serdeInfo"]
    return StorageDescriptor(
        tuple(FieldSchema(column["name"], column["type"]) for column in thrift["cols"]),
        thrift["location"],
        thrift["inputFormat"],
        thrift["outputFormat"],
        serde=SerDeInfo(serde["serializationLib"], Parameters.of(serde["parameters"])),
    )


needs_synced = pytest.mark.skipif(
    not (SYNCED / "sync_v9_tables.zip").exists(), reason=f"no hive-synced tables in {SYNCED}"
)


@needs_synced
@pytest.mark.parametrize(("kind", "partitioned_by"), [("cow", ("part",)), ("cow_nonpart", ())])
def test_tables_that_hive_sync_described(kind: str, partitioned_by: tuple[str, ...], tmp_path: Path) -> None:
    catalog = synced_table(kind, tmp_path)
    met = catalog.read()
    assert met.num_rows > 0
    assert met.column_names == [*META_COLUMNS, "id", "name", "price", "ts", "part"]
    with catalog.metadata() as (_, metadata):
        table = metadata.get_table_handle(catalog.session, NAME)
        assert table is not None
        assert metadata.get_table_metadata(catalog.session, table).partitioned_by == partitioned_by


@needs_synced
@pytest.mark.parametrize("kind", ["mor_ro", "sql_mor_ro"])
def test_the_read_optimized_view_of_a_merge_on_read_table(kind: str, tmp_path: Path) -> None:
    catalog = synced_table(kind, tmp_path)
    with catalog.metadata() as (_, metadata):
        table = metadata.get_table_handle(catalog.session, NAME)
    assert isinstance(table, HudiTableHandle)
    newest: dict[str, Path] = {}
    found = Path(table.location.removeprefix("file:")).rglob("*.parquet")
    for path in sorted(found, key=lambda item: item.stem.rpartition("_")[2]):
        if ".hoodie" not in path.parts:
            newest[path.name.partition("_")[0]] = path
    expected = sum(pq.read_metadata(path).num_rows for path in newest.values())
    assert catalog.read().num_rows == expected > 0


@needs_synced
@pytest.mark.parametrize("kind", ["mor", "mor_rt"])
def test_other_views_of_a_merge_on_read_table_have_the_rows_of_its_logs(kind: str, tmp_path: Path) -> None:
    catalog = synced_table(kind, tmp_path)
    met = catalog.read(columns=["id", "name", "price", "ts", "part"])
    read_optimized = synced_table("mor_ro", tmp_path / "ro").read(columns=["id", "name", "price", "ts", "part"])
    newer = {row["id"]: row["ts"] for row in met.to_pylist()}
    older = {row["id"]: row["ts"] for row in read_optimized.to_pylist()}
    assert newer != older
    assert all(newer[key] >= older[key] for key in newer.keys() & older.keys())
    assert system_table(catalog, "timeline")


@needs_synced
@pytest.mark.skipif(not (CORPUS / "hudi").exists(), reason=f"no tables in {CORPUS}")
def test_partition_keys_of_a_synced_table_come_last(tmp_path: Path) -> None:
    """By its path a table keeps its order, as Hudi shows it; hive sync has the keys behind a column added later."""
    catalog = opened("v9_addcol_cow", tmp_path)
    by_path = expected("v9_addcol_cow", "snapshot").column_names
    assert by_path[-2:] == ["part", "c"]
    assert catalog.read().column_names == by_path
    clients = metastore(tmp_path)
    entry = clients.reads.get_table("s", "t")
    assert entry is not None
    parameters = json.loads((SYNCED / "sync_v9.cow.json").read_text())["table"]["parameters"]
    assert "spark.sql.sources.schema.part.0" in parameters
    clients.writes.create_table(replace(entry, name="synced", parameters=Parameters.of(parameters)))
    met = catalog.read("synced")
    assert met.column_names == [*by_path[:-2], "c", "part"]
    assert met.select(by_path).sort_by("id").equals(catalog.read().sort_by("id"))


@pytest.mark.skipif(not (CORPUS / "hudi").exists(), reason=f"no tables in {CORPUS}")
def test_an_orc_table_is_known_by_its_folder(tmp_path: Path) -> None:
    """Its input format is Hive's own."""
    with zipfile.ZipFile(CORPUS / "hudi" / "v9_orc_insert_cow.zip") as packed:
        packed.extractall(tmp_path)
    catalog = make_catalog(tmp_path)
    catalog.register(tmp_path / "v9_orc_insert_cow")
    found = metastore(tmp_path).reads.get_table("s", "t")
    assert found is not None
    assert found.storage.input_format == "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"
    assert catalog.read().num_rows == 9
    shutil.rmtree(tmp_path / "v9_orc_insert_cow" / ".hoodie")
    with pytest.raises(NotSupportedError, match="no Hudi table"):
        catalog.read()
