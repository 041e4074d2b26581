"""A plugin of another package: installed, found by its entry point, and held to the contract."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeport
from catalog.metastore.factory import Metastore
from catalog.metastore.kinds import metastore_kinds
from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from catalog.metastore.testing import MetastoreConformance
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from connector_spi.connector import Connector, ConnectorFactory
from connector_spi.errors import (
    CorruptFileError,
    FileMissingError,
    InvalidPropertyError,
    NotSupportedError,
    StorageError,
)
from connector_spi.names import SchemaTableName
from connector_spi.properties import parse_properties
from connector_spi.testing import Behaviour, ConnectorConformance, ReferenceQuery, read_table
from connectors.hive.formats import plugins
from connectors.hudi.merge import merger_plugins
from tests.connectors.hive.reading import make_connector
from tests.connectors.hudi.catalog_helper import make_catalog
from tests.connectors.hudi.merge.writer import Block, Delete, Partial, SliceWriter, Upsert

PACKAGE = Path(__file__).parent


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package, built from its own pyproject and installed into a folder on ``sys.path``."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index"]
    command += ["--disable-pip-version-check", "--quiet", "--target", str(target), str(PACKAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sys.path.append(str(target))
    importlib.invalidate_caches()
    caches = (plugins._loaded, metastore_kinds, merger_plugins.plugin_mergers, merger_plugins._loaded)
    for cached in caches:
        cached.cache_clear()
    yield target
    sys.path.remove(str(target))
    for cached in caches:
        cached.cache_clear()
    for name in ("arrow_files", "dict_metastore", "fixed_width", "sum_merger"):
        sys.modules.pop(name, None)


def write(folder: Path, name: SchemaTableName, data: pa.Table) -> Path:
    path = folder / name.schema / f"{name.table}.arrow"
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.ipc.new_file(path, data.schema) as writer:
        writer.write_table(data)
    return path


class TestArrowFilesConformance(ConnectorConformance):
    missing_behaviours = frozenset(
        {
            Behaviour.AGGREGATION,
            Behaviour.CHANGES,
            Behaviour.COLUMN_STATISTICS,
            Behaviour.EXPRESSION_PUSHDOWN,
            Behaviour.FILTER_PUSHDOWN,
            Behaviour.HIDDEN_COLUMNS,
            Behaviour.INSERT,
            Behaviour.LIMIT,
            Behaviour.MERGE,
            Behaviour.CREATE_TABLE_AS,
            Behaviour.DELETE,
            Behaviour.OVERWRITE,
            Behaviour.PARTITIONED_TABLES,
            Behaviour.PARTITION_LISTING,
            Behaviour.PARTITION_PRUNING,
            Behaviour.NULL_PARTITION_KEYS,
            Behaviour.PROCEDURES,
            Behaviour.SNAPSHOT_ISOLATION,
            Behaviour.STATISTICS,
            Behaviour.STREAMING,
            Behaviour.STREAMING_INSERT,
            Behaviour.SYSTEM_TABLES,
            Behaviour.TIME_TRAVEL,
            Behaviour.TOP_N,
        }
    )

    def factory(self) -> ConnectorFactory:
        return discover_plugins().factory("arrow_files", "the test")

    def catalog_properties(self) -> Mapping[str, str]:
        return {"arrow-files.folder": str(self.folder)}

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        write(self.folder, name, data)

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        with pa.ipc.open_file(self.folder / name.schema / f"{name.table}.arrow") as reader:
            before = reader.read_all()
        write(self.folder, name, pa.concat_tables([before, data]))

    def damage(self, name: SchemaTableName, *, delete: bool) -> None:
        path = self.folder / name.schema / f"{name.table}.arrow"
        if delete:
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Connector]:
    """A catalog of the plugin over ``tmp_path / "files"``."""
    (tmp_path / "files").mkdir()
    registry = CatalogRegistry(discover_plugins(), "0")
    registry.register("files", "arrow_files", {"arrow-files.folder": str(tmp_path / "files")})
    yield registry.get("files")
    registry.shutdown()


ROW = pa.table({"id": [1]})


@pytest.mark.parametrize(
    ("schema", "table"),
    [
        ("../private", "secret"),
        ("s", "../../private/secret"),
        ("..", "private/secret"),
        (".", "s/t"),
        ("s/../../private", "secret"),
        ("s", "*"),
        ("*", "t"),
        ("", "t"),
        ("s\0", "t"),
    ],
)
def test_names_are_no_paths(files: Connector, tmp_path: Path, schema: str, table: str) -> None:
    write(tmp_path, SchemaTableName("private", "secret"), ROW)
    write(tmp_path / "files", SchemaTableName("s", "t"), ROW)
    with ReferenceQuery(files) as query:
        assert query.metadata.get_table_handle(query.session, SchemaTableName(schema, table)) is None
        if schema != "s":
            assert query.metadata.list_tables(query.session, schema) == []


def test_what_is_listed_can_be_read(files: Connector, tmp_path: Path) -> None:
    write(tmp_path / "files", SchemaTableName("Sales", "Orders"), ROW)
    with ReferenceQuery(files) as query:
        assert query.metadata.list_schema_names(query.session) == ["sales"]
        assert query.metadata.list_tables(query.session, "sales") == [SchemaTableName("sales", "orders")]
    assert read_table(files, SchemaTableName("sales", "orders")).equals(ROW)
    write(tmp_path / "files", SchemaTableName("Sales", "ORDERS"), ROW)
    with ReferenceQuery(files) as query:
        assert query.metadata.list_tables(query.session, "sales") == [SchemaTableName("sales", "orders")]
    with pytest.raises(NotSupportedError, match=r"sales\.orders may be .*ORDERS\.arrow or .*Orders\.arrow; rename one"):
        read_table(files, SchemaTableName("sales", "orders"))


def test_fields_that_are_not_nullable_may_hold_nulls(files: Connector, tmp_path: Path) -> None:
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False)])
    name = SchemaTableName("s", "t")
    write(tmp_path / "files", name, pa.table([pa.array([1, None])], schema))
    with ReferenceQuery(files) as query:
        [column] = query.metadata.get_table_metadata(query.session, query.table(name).table).columns
    assert column.nullable
    assert read_table(files, name).to_pydict() == {"id": [1, None]}


def test_what_is_wrong_with_files_is_said(files: Connector, tmp_path: Path) -> None:
    name = SchemaTableName("s", "t")
    path = write(tmp_path / "files", name, pa.table({"id": ["a", "b"]}))
    with ReferenceQuery(files) as query:
        scan = query.table(name)
        write(tmp_path / "files", name, pa.table({"id": ["c", "d", "e"]}))
        with pytest.raises(StorageError, match=r"t\.arrow was written again while the query ran"):
            scan.read()
        path.unlink()
        with pytest.raises(FileMissingError, match=r"t\.arrow is not there any more"):
            scan.read()
    # Offsets of texts that lead out of their buffer.
    write(tmp_path / "files", name, pa.table({"id": ["abcd", "efgh"]}))
    offsets = (0).to_bytes(4, "little") + (4).to_bytes(4, "little") + (8).to_bytes(4, "little")
    assert offsets in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(offsets, offsets[:8] + (1 << 30).to_bytes(4, "little")))
    with pytest.raises(CorruptFileError, match=r"t\.arrow is not an Arrow IPC file, or is damaged: .*"):
        read_table(files, name)
    write(tmp_path / "files", name, pa.table([[1], [2]], names=["id", "ID"]))
    with pytest.raises(NotSupportedError, match=r"t\.arrow has columns \['id', 'id'\], some alike"):
        read_table(files, name)
    (tmp_path / "files").rename(tmp_path / "moved")
    with pytest.raises(StorageError, match=r"cannot list .*files, a folder of the catalog: No such file or directory"):
        read_table(files, name)


def test_a_catalog_of_the_plugin_reads_tables(tmp_path: Path) -> None:
    data = pa.table({"id": [1, 2], "name": ["a", None]})
    name = SchemaTableName("s", "t")
    path = write(tmp_path, name, data)
    registry = CatalogRegistry(discover_plugins(), "0")
    registry.register("files", "arrow_files", {"arrow-files.folder": str(tmp_path)})
    assert read_table(registry.get("files"), name).equals(data)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CorruptFileError, match=r"t\.arrow is not an Arrow IPC file, or is damaged"):
        read_table(registry.get("files"), name)
    with pytest.raises(InvalidPropertyError, match=r"'arrow-files\.folder' is missing: Holds a folder for each schema"):
        registry.register("other", "arrow_files", {})
    registry.shutdown()


def test_a_serde_of_the_plugin_reads_hive_tables(tmp_path: Path) -> None:
    hive = make_connector(tmp_path)
    columns = (FieldSchema("code", "string"), FieldSchema("name", "string"))
    serde = SerDeInfo("com.acme.FixedWidthSerDe", Parameters.of({"widths": "3,5"}))
    storage = StorageDescriptor(
        columns, f"file://{tmp_path}/t", "org.apache.hadoop.mapred.TextInputFormat", serde=serde
    )
    hive.metastore.writes.create_database(Database("s"))
    hive.metastore.writes.create_table(Table("s", "t", storage))
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "f").write_text("001Anna \n02 \n")
    rows = read_table(hive, SchemaTableName("s", "t")).to_pylist()
    assert rows == [{"code": "001", "name": "Anna"}, {"code": "02", "name": ""}]
    hive.shutdown()


PAYLOAD = "com.example.SumPayload"
LEGACY = {"hoodie.table.legacy.payload.class": PAYLOAD}
COUNTERS = pa.schema([("key", pa.string()), ("amount", pa.int64()), ("name", pa.string())])


def counter(key: str, amount: int, name: str) -> dict[str, object]:
    return {"key": key, "amount": amount, "name": name}


@pytest.mark.parametrize(
    ("version", "properties"),
    [
        (6, {"hoodie.compaction.payload.class": PAYLOAD}),
        (9, {"hoodie.record.merge.mode": "CUSTOM", **LEGACY}),
        (8, {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": PAYLOAD}),
    ],
)
@pytest.mark.parametrize("memory", [1 << 30, 1], ids=["in memory", "through disk"])
@pytest.mark.parametrize("columns", [["key", "amount", "name"], ["key", "name"]], ids=["all columns", "some"])
def test_a_merger_of_the_plugin_merges_hudi_rows(
    tmp_path: Path, version: int, properties: dict[str, str], memory: int, columns: list[str]
) -> None:
    table = SliceWriter(tmp_path / "t", version, COUNTERS, properties)
    table.base([counter("a", 1, "first"), counter("b", 5, "stays"), counter("d", 7, "deleted")])
    blocks: list[list[Block]] = [
        [Upsert([counter("a", 10, "second"), counter("c", 2, "new")])],
        [Upsert([counter("a", 100, "third"), counter("c", 20, "newer")]), Delete([("d", None)])],
        [Delete([("c", None)]), Upsert([counter("c", 3, "again")])],
    ]
    for log in blocks:
        table.log(log)
    catalog = make_catalog(tmp_path).with_property("merge_memory", memory)
    catalog.register(table.folder)
    expected = [counter("a", 111, "third"), counter("b", 5, "stays"), counter("c", 3, "again")]
    found = catalog.read(columns=columns).sort_by("key").to_pylist()
    assert found == [{name: row[name] for name in columns} for row in expected]


def test_a_merger_that_needs_whole_rows_refuses_partial_ones(tmp_path: Path) -> None:
    table = SliceWriter(tmp_path / "t", 9, COUNTERS, {"hoodie.record.merge.mode": "CUSTOM", **LEGACY})
    table.base([counter("a", 1, "x")])
    table.log([Partial([{"key": "a", "amount": 2}])])
    catalog = make_catalog(tmp_path)
    catalog.register(table.folder)
    with pytest.raises(NotSupportedError, match="the merger SumMerger needs whole rows"):
        catalog.read()


def test_a_merger_that_no_plugin_brings_is_refused(tmp_path: Path) -> None:
    table = SliceWriter(tmp_path / "t", 6, COUNTERS, {"hoodie.compaction.payload.class": "com.example.Other"})
    table.base([counter("a", 1, "x")])
    table.log([Upsert([counter("a", 2, "y")])])
    catalog = make_catalog(tmp_path)
    catalog.register(table.folder)
    with pytest.raises(NotSupportedError, match=r"com\.example\.Other.*lakeport\.hudi\.record_mergers"):
        catalog.read()


class TestDictMetastore(MetastoreConformance):
    @pytest.fixture
    def metastore(self, tmp_path: Path) -> Metastore:
        kinds = metastore_kinds()
        given = {"hive.metastore": "dict", "dict.directory": tmp_path.as_uri()}
        return kinds.open(parse_properties(kinds.properties, given, str))


def test_a_catalog_over_the_metastore_of_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "catalogs").mkdir()
    (tmp_path / "catalogs" / "lake.properties").write_text(
        f"connector.name=hive\nhive.metastore=dict\ndict.directory={tmp_path.as_uri()}/warehouse\n"
    )
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"id": [1, 2], "name": ["a", None]}), tmp_path / "data" / "f.parquet")
    with lakeport.connect(catalogs=tmp_path / "catalogs") as session:
        hive = session.catalogs.get("lake")
        [register] = [one for one in hive.procedures if one.name == "register_table"]
        given = {"schema_name": "s", "table_name": "t", "table_location": (tmp_path / "data").as_uri()}
        with ReferenceQuery(hive) as query:
            register.function(query.session, {one.name: given.get(one.name, one.default) for one in register.arguments})
        assert session.arrow("lake.s.t", where=[("id", "=", 2)]).read_all().to_pylist() == [{"id": 2, "name": None}]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "dikt",
            r"lake\.properties, line 2: .*expects one of thrift, embedded, dict, met 'dikt'; did you mean 'dict'\?",
        ),
        ("glue", r"expects one of thrift, embedded, dict, met 'glue'$"),
    ],
)
def test_an_unknown_metastore(tmp_path: Path, kind: str, words: str) -> None:
    (tmp_path / "lake.properties").write_text(f"connector.name=hive\nhive.metastore={kind}\n")
    with lakeport.connect(catalogs=tmp_path) as session, pytest.raises(InvalidPropertyError, match=words):
        session.arrow("lake.s.t")


def test_the_plugin_is_small() -> None:
    lines = [line for line in (PACKAGE / "arrow_files.py").read_text().splitlines() if line.strip()]
    assert len(lines) < 100
