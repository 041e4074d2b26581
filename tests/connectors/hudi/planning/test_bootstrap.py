"""Bootstrapped tables whose base files hold the meta columns alone: states that real Hudi does not leave on demand.

The answers of real Hudi are in ``test_corpus``, ``test_merge_on_read``, ``test_read_optimized``, ``test_time_travel``
and ``test_incremental``.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from connector_spi.errors import ConnectorError, CorruptFileError, FileMissingError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import ChangeRange
from connector_spi.predicate import Domain, TupleDomain
from connectors.hudi.handles import HudiSplit
from connectors.hudi.schema.table_schema import META_COLUMNS
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.corpus import CASES, expected, opened
from tests.connectors.hudi.hfile.writer import hfile
from tests.connectors.hudi.metadata_table.writer import MetadataWriter, file_stats
from tests.connectors.hudi.writer import HudiWriter, avro_schema
from tests.rows import bag

INSTANT = "00000000000001"
INDEX = f".hoodie/.aux/.bootstrap/.partitions/00000000-0000-0000-0000-000000000000-0_1-0-1_{INSTANT}.hfile"
_TEXT = ["null", "string"]
_PATH = {"type": "record", "name": "HoodiePath", "fields": [{"name": "uri", "type": _TEXT}]}
_STATUS_FIELDS = [{"name": "path", "type": ["null", _PATH]}, {"name": "length", "type": ["null", "long"]}]
_STATUS = {"type": "record", "name": "HoodieFileStatus", "fields": _STATUS_FIELDS}
_FILES = {"name": "fileIdToBootstrapFile", "type": ["null", {"type": "map", "values": _STATUS}]}
_PARTITION = {"type": "record", "name": "HoodieBootstrapPartitionMetadata", "fields": [_FILES]}
_BASE = {"name": "bootstrapBasePath", "type": _TEXT}
_INFO = {"type": "record", "name": "HoodieBootstrapIndexInfo", "fields": [_BASE]}


@dataclass
class Bootstrap:
    """A table over the Parquet files of another writer.

    Attributes:
        folder: Holds the original files in ``src`` and the table in ``t``.
        version: Table version.
        properties: More lines of ``hoodie.properties``, or others.
    """

    folder: Path
    version: int = 9
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> Path:
        return self.folder / "src"

    @property
    def skeleton(self) -> Path:
        """The first skeleton file."""
        return sorted(self.writer.folder.glob(f"*/*_{INSTANT}.parquet"))[0]

    @property
    def original(self) -> Path:
        """The first original file."""
        return sorted(self.source.glob("*/*"))[0]

    def create(self, parts: Mapping[str, pa.Table], row_group_size: int = 1000) -> Bootstrap:
        """Makes both, of rows by partition path; keys are the ids with a ``k`` in front."""
        properties = {
            "hoodie.bootstrap.base.path": str(self.source),
            "hoodie.datasource.write.partitionpath.urlencode": "false",
            **self.properties,
        }
        self.writer = HudiWriter(self.folder / "t", self.version, ("p",), properties=properties).create()
        written: dict[str, list[dict[str, object]]] = {}
        for number, (partition, rows) in enumerate(parts.items()):
            (self.source / partition).mkdir(parents=True)
            pq.write_table(rows, self.source / partition / "000000_0", row_group_size=row_group_size)
            path = self.write_skeleton(partition, f"g{number}", rows.column("id").to_pylist())
            stat = {"fileId": f"g{number}", "path": f"{partition}/{path.name}", "partitionPath": partition}
            written[partition] = [{**stat, "prevCommit": "null", "numWrites": rows.num_rows}]
        schema = next(iter(parts.values())).schema
        shown = schema if "p" in schema.names else schema.append(pa.field("p", pa.string()))
        extra = {"extraMetadata": {"schema": avro_schema(shown)}, "operationType": "BOOTSTRAP"}
        self.writer.complete(INSTANT, "commit", {"partitionToWriteStats": written, "compacted": False, **extra})
        self.write_index({partition: f"g{number}" for number, partition in enumerate(parts)})
        return self

    def write_skeleton(self, partition: str, file_id: str, ids: list[int]) -> Path:
        """Writes a base file of meta columns, whose row groups are not those of the original file."""
        path = self.writer.folder / partition / f"{file_id}_0-1-1_{INSTANT}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / ".hoodie_partition_metadata").write_text("commitTime=1\npartitionDepth=1\n")
        keys, same = [f"k{key}" for key in ids], [[text] * len(ids) for text in (INSTANT, "", partition, path.name)]
        columns = [pa.array(values, pa.string()) for values in (*same[:2], keys, *same[2:])]
        pq.write_table(pa.table(columns, names=list(META_COLUMNS)), path, row_group_size=777)
        return path

    def write_index(self, groups: Mapping[str, str]) -> None:
        """Writes the index by partition: the id of the one file group of each."""
        cells = []
        for partition, file_id in sorted(groups.items()):
            original = self.source / partition / "000000_0"
            status = {"path": {"uri": f"file:{original}"}, "length": original.stat().st_size}
            cells.append((f"part={partition}".encode(), _avro(_PARTITION, {_FILES["name"]: {file_id: status}})))
        path = self.writer.folder / INDEX
        path.parent.mkdir(parents=True, exist_ok=True)
        info = _avro(_INFO, {"bootstrapBasePath": str(self.source)})
        path.write_bytes(hfile(cells, codec=2, info={"INDEX_INFO": info}))

    def opened(self) -> HudiCatalog:
        """A catalog with the table as ``s.t``."""
        catalog = make_catalog(self.folder)
        catalog.register(self.writer.folder)
        return catalog


def _avro(schema: Mapping[str, object], record: Mapping[object, object]) -> bytes:
    sink = io.BytesIO()
    fastavro.writer(sink, fastavro.parse_schema(dict(schema)), [record])
    return sink.getvalue()


def rows(first: int, count: int) -> pa.Table:
    ids = pa.array(range(first, first + count), pa.int64())
    return pa.table({"id": ids, "name": pa.array([f"n{key}" for key in ids.to_pylist()], pa.string())})


def equal_to(name: str, value: int | str, arrow: pa.DataType) -> TupleDomain[ColumnHandle]:
    return TupleDomain.with_column_domains({ColumnHandle(name, arrow): Domain.single_value(arrow, value)})


def splits(catalog: HudiCatalog) -> list[HudiSplit]:
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        handles = metadata.get_column_handles(catalog.session, table)
        return [split for split in catalog.splits(transaction, table, (handles["id"],)) if isinstance(split, HudiSplit)]


@pytest.fixture
def small(tmp_path: Path) -> Bootstrap:
    return Bootstrap(tmp_path).create({"p=a": rows(0, 3), "p=b": rows(10, 2)})


@pytest.mark.slow
@pytest.mark.parametrize("version", [6, 9])
def test_rows_stay_together_across_row_groups_and_batches(version: int, tmp_path: Path) -> None:
    count = 150_001
    catalog = Bootstrap(tmp_path, version).create({"p=a": rows(0, count)}, row_group_size=70_000).opened()
    met = catalog.read(columns=["name", "_hoodie_record_key", "p", "id", "$path"])
    assert met.column("id").to_pylist() == list(range(count))
    assert met.column("name").to_pylist() == [f"n{key}" for key in range(count)]
    assert met.column("_hoodie_record_key").to_pylist() == [f"k{key}" for key in range(count)]
    assert set(met.column("p").to_pylist()) == {"a"}
    assert all(path.endswith(f"_{INSTANT}.parquet") for path in set(met.column("$path").to_pylist()))


@pytest.mark.parametrize(("name", "value"), [("id", 100_000), ("_hoodie_record_key", "k100000")])
def test_a_filter_leaves_rows_together(name: str, value: int | str, tmp_path: Path) -> None:
    catalog = Bootstrap(tmp_path).create({"p=a": rows(0, 120_000)}, row_group_size=10_000).opened()
    wanted = equal_to(name, value, pa.int64() if name == "id" else pa.string())
    met = catalog.read(columns=["_hoodie_record_key", "id"], constraint=wanted)
    pairs = list(zip(met.column("_hoodie_record_key").to_pylist(), met.column("id").to_pylist(), strict=True))
    assert ("k100000", 100_000) in pairs
    assert all(key == f"k{number}" for key, number in pairs)


@pytest.mark.parametrize("columns", [[], ["p"], ["_hoodie_record_key"], ["id"]])
def test_rows_are_counted_whatever_is_asked(columns: list[str], small: Bootstrap) -> None:
    assert small.opened().read(columns=columns).num_rows == 5


def test_files_are_not_cut_and_not_for_native_readers(tmp_path: Path) -> None:
    bootstrap = Bootstrap(tmp_path).create({"p=a": rows(0, 5000)})
    found = splits(bootstrap.opened().with_property("max_split_size", 1024))
    assert [split.native_file for split in found] == [None]
    assert found[0].size_bytes == bootstrap.skeleton.stat().st_size + bootstrap.original.stat().st_size


def test_partitions_are_pruned(small: Bootstrap) -> None:
    met = small.opened().read(columns=["id", "p"], constraint=equal_to("p", "b", pa.string()))
    assert met.to_pylist() == [{"id": 10, "p": "b"}, {"id": 11, "p": "b"}]


@pytest.mark.parametrize(("path", "value"), [("p=a", "a"), ("p=__HIVE_DEFAULT_PARTITION__", None)])
def test_original_files_may_hold_the_partition_column_with_the_value_of_the_path(
    path: str, value: str | None, tmp_path: Path
) -> None:
    held = [rows(0, 2).append_column("p", pa.array([value, last], pa.string())) for last in (value, "other")]
    met = Bootstrap(tmp_path / "same").create({path: held[0]}).opened().read(columns=["p"])
    assert met.column("p").to_pylist() == [value, value]
    catalog = Bootstrap(tmp_path / "other").create({path: held[1]}).opened()
    with pytest.raises(NotSupportedError, match="has other values of the partition column 'p'") as caught:
        catalog.read(columns=["p"])
    assert caught.value.code.name == "HUDI_PARTITION_VALUE"
    assert catalog.read(columns=["id"]).column("id").to_pylist() == [0, 1]


@pytest.mark.parametrize(
    ("partition", "properties"),
    [
        # Hudi's own folders would have no "p=", those of the original files do.
        ("p=a", {"hoodie.datasource.write.hive_style_partitioning": "false"}),
        # Is it "a/b", as another writer would have escaped it?
        ("p=a%2Fb", {}),
        ("p=a", {"hoodie.table.keygenerator.type": "CUSTOM"}),
    ],
)
def test_values_of_partitions_in_doubt_are_refused(
    partition: str, properties: Mapping[str, str], tmp_path: Path
) -> None:
    catalog = Bootstrap(tmp_path, properties=properties).create({partition: rows(0, 3)}).opened()
    with pytest.raises(NotSupportedError, match="lacks the partition column 'p'") as caught:
        catalog.read(columns=["id", "p"])
    assert caught.value.code.name == "HUDI_PARTITION_VALUE"
    for value in ("a", "a/b"):
        met = catalog.read(columns=["id"], constraint=equal_to("p", value, pa.string()))
        assert met.column("id").to_pylist() == [0, 1, 2]


def test_an_original_file_that_is_gone_is_named(small: Bootstrap) -> None:
    catalog = small.opened()
    small.original.unlink()
    for columns in (["id"], ["_hoodie_record_key"], []):
        with pytest.raises(FileMissingError, match=r"src/p=a/000000_0.*hoodie\.bootstrap\.base\.path") as caught:
            catalog.read(columns=columns)
        assert caught.value.code.name == "HUDI_MISSING_BASE_FILE"


def test_original_files_may_be_moved(small: Bootstrap, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    small.source.rename(moved)
    properties = small.writer.folder / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace(str(small.source), f"file:{moved}/"))
    assert sorted(small.opened().read(columns=["id"]).column("id").to_pylist()) == [0, 1, 2, 10, 11]


def test_an_original_file_of_another_size_is_no_longer_the_one(small: Bootstrap) -> None:
    catalog = small.opened()
    pq.write_table(rows(0, 3).slice(0, 2), small.original)
    with pytest.raises(CorruptFileError, match=r"000000_0 has \d+ bytes, and had \d+ when .*_00000000000001\.parquet"):
        catalog.read(columns=["_hoodie_record_key"])


@pytest.mark.parametrize("count", [0, 2, 4])
@pytest.mark.parametrize("columns", [["id"], ["_hoodie_record_key"], []])
def test_files_of_different_rows_are_both_named(count: int, columns: list[str], small: Bootstrap) -> None:
    catalog = small.opened()
    small.write_skeleton("p=a", "g0", list(range(count)))
    with pytest.raises(CorruptFileError, match=rf"_{INSTANT}\.parquet and .*src/p=a/000000_0 .* met {count} and 3"):
        catalog.read(columns=columns)


def test_a_whole_file_under_the_name_of_a_skeleton_is_refused(small: Bootstrap) -> None:
    catalog = small.opened()
    met = pq.read_table(small.skeleton)
    pq.write_table(met.append_column("id", pa.array([7, 8, 9])), small.skeleton)
    with pytest.raises(NotSupportedError, match="_hoodie_file_name, id") as caught:
        catalog.read(columns=["id"])
    assert caught.value.code.name == "HUDI_BOOTSTRAP"


@pytest.mark.parametrize(
    "properties",
    [
        {"hoodie.bootstrap.index.enable": "false"},
        {"hoodie.bootstrap.index.type": "NO_OP"},
        {"hoodie.bootstrap.index.class": "org.apache.hudi.common.bootstrap.index.NoOpBootstrapIndex"},
    ],
)
def test_other_indexes_are_refused(properties: Mapping[str, str], tmp_path: Path) -> None:
    catalog = Bootstrap(tmp_path, properties=properties).create({"p=a": rows(0, 3)}).opened()
    with pytest.raises(NotSupportedError, match=next(iter(properties))) as caught:
        catalog.read(columns=["id"])
    assert caught.value.code.name == "HUDI_BOOTSTRAP"


def test_skeletons_without_an_original_file_are_refused(small: Bootstrap) -> None:
    catalog = small.opened()
    small.write_index({"p=a": "g0"})
    with pytest.raises(NotSupportedError, match=r"p=b/g1_.*does not name its original file") as caught:
        catalog.read(columns=["id"])
    assert caught.value.code.name == "HUDI_BOOTSTRAP"
    shutil.rmtree(small.writer.folder / ".hoodie" / ".aux")
    with pytest.raises(NotSupportedError, match="is not on storage") as caught:
        catalog.read(columns=["id"])
    assert caught.value.code.name == "HUDI_BOOTSTRAP"


def test_a_schema_history_is_refused(small: Bootstrap) -> None:
    catalog = small.opened()
    folder = small.writer.folder / ".hoodie" / ".schema"
    folder.mkdir()
    (folder / "20240101000000000.schemacommit").write_text("{}")
    with pytest.raises(ConnectorError, match="schema") as caught:
        catalog.read(columns=["id"])
    assert caught.value.code.name in ("HUDI_SCHEMA_ON_READ", "HUDI_BOOTSTRAP", "HUDI_BAD_SCHEMA")


@pytest.mark.parametrize("at", range(8, 800, 37))
def test_a_damaged_index_gives_no_wrong_row(at: int, small: Bootstrap) -> None:
    catalog = small.opened()
    path = small.writer.folder / INDEX
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(bytes(data))
    try:
        met = catalog.read(columns=["_hoodie_record_key", "id"]).to_pylist()
    except ConnectorError:
        return
    assert all(row["_hoodie_record_key"] == f"k{row['id']}" for row in met)
    assert len(met) == 5


@pytest.mark.parametrize("case", [case for case in CASES if "_bootstrap_meta_" in case])
def test_changes_add_up_to_the_rows_that_hudi_returns(case: str, tmp_path: Path) -> None:
    """Hudi gives no changes of tables without a log of them; but what they lead to is known."""
    answer = expected(case, "snapshot")
    columns = [name for name in answer.column_names if not name.startswith("_hoodie_")]
    changes = opened(case, tmp_path).changes(ChangeRange())
    added = pc.is_in(changes.column("_change_type"), value_set=pa.array(["insert", "update_postimage"]))
    left = bag(changes.filter(added).select(columns))
    left.subtract(bag(changes.filter(pc.invert(added)).select(columns)))
    assert +left == bag(answer.select(columns))
    first = changes.filter(pc.equal(changes.column("_commit_version"), INSTANT))
    assert bag(first.select(columns)) == bag(expected(case, f"asof_{INSTANT}").select(columns))


def test_statistics_of_skeletons_skip_nothing(small: Bootstrap) -> None:
    noted: dict[bytes, object] = {}
    metadata = MetadataWriter(small.writer, ("files", "column_stats")).create()
    for path in small.writer.folder.glob("p=*/*.parquet"):
        noted |= file_stats("id", path.parent.name, path.name, 5000, 6000, 3)
    metadata.note(INSTANT, column_stats=noted)  # type: ignore[arg-type]
    met = small.opened().read(columns=["id"], constraint=equal_to("id", 11, pa.int64()))
    assert 11 in met.column("id").to_pylist()
