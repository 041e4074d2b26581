"""Registering folders of files, and what the plugin offers."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from catalog.metastore.kinds import metastore_kinds
from catalog.metastore.model import Table
from catalog.metastore.thrift.factory import thrift_config
from connector_spi.errors import (
    ConnectorError,
    FileMissingError,
    InvalidArgumentError,
    InvalidPropertyError,
    NotSupportedError,
    TableNotFoundError,
    UserError,
)
from connector_spi.predicate import Value
from connector_spi.properties import parse_properties
from connectors.hive.config import MAX_SPLIT_SIZE, PARQUET_ZONE, SHARED_PROPERTIES
from connectors.hive.connector import HiveConnector, HivePlugin
from connectors.hudi.connector import HudiFactory
from connectors.toolkit.storage.properties import storage_options
from tests.connectors.hive.acid.writer import AcidLocation
from tests.connectors.hive.reading import make_session, read_table
from tests.connectors.hive.table_writer import write_file
from tests.hive_corpus import canonical_rows, expected_answer, require_corpus

_DATA = pa.table({"Id": pa.array([1, 2], pa.int64()), "s": ["a", None]})


def _call(hive: HiveConnector, procedure: str, **arguments: Value) -> dict[str, object]:
    (found,) = [one for one in hive.procedures if (one.schema, one.name) == ("system", procedure)]
    given = {argument.name: arguments.get(argument.name, argument.default) for argument in found.arguments}
    result = found.function(make_session(hive), given)
    assert result.schema == found.result
    (row,) = result.to_pylist()
    return dict(row)


def _register(
    hive: HiveConnector, location: object, table: str = "t", *, transactional: bool = False
) -> dict[str, object]:
    return _call(
        hive, "register_table", schema_name="New", table_name=table, table_location=str(location),
        transactional=transactional,
    )  # fmt: skip


def _entry(hive: HiveConnector, table: str = "t") -> Table:
    found = hive.metastore.reads.get_table("new", table)
    assert found is not None
    return found


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_a_folder_becomes_a_table_of_a_new_schema(hive: HiveConnector, tmp_path: Path, file_format: str) -> None:
    write_file(tmp_path / "data" / "part-0", _DATA, file_format)
    (tmp_path / "data" / "_SUCCESS").touch()
    assert _register(hive, f"{tmp_path}/data/") == {"schema_name": "new", "table_name": "t", "partitions": 0}
    assert read_table(hive, "new", "t").to_pylist() == [{"id": 1, "s": "a"}, {"id": 2, "s": None}]
    assert _entry(hive).table_type == "EXTERNAL_TABLE"


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["1", "20", "-3"], "int", [1, 20, -3]),
        (["1", "20000000000"], "bigint", [1, 20000000000]),
        (["01", "2"], "string", ["01", "2"]),
        (["2024-01-01", "2024-02-29"], "date", [date(2024, 1, 1), date(2024, 2, 29)]),
        (["2024-01-01", "2024-02-30"], "string", ["2024-01-01", "2024-02-30"]),
        (["a%2Fb", "__HIVE_DEFAULT_PARTITION__"], "string", ["a/b", None]),
        (["7", "__HIVE_DEFAULT_PARTITION__"], "int", [7, None]),
    ],
)
def test_partition_keys_come_from_folders(
    hive: HiveConnector, tmp_path: Path, values: list[str], kind: str, expected: list[object]
) -> None:
    for value in values:
        write_file(tmp_path / "data" / f"K={value}" / "sub" / "part-0", _DATA.slice(0, 1), "parquet")
    assert _register(hive, tmp_path / "data")["partitions"] == len(values)
    (key,) = _entry(hive).partition_keys
    assert (key.name, key.type) == ("k", kind)
    assert sorted(map(repr, read_table(hive, "new", "t")["k"].to_pylist())) == sorted(map(repr, expected))


@pytest.mark.parametrize("case", ["ext_orc_none_part", "ext_parquet_snappy", "parquet_int64_alltypes"])
def test_hives_folders(hive: HiveConnector, case: str) -> None:
    _register(hive, require_corpus() / case / "table", case)
    answer = expected_answer(case)
    names = [name for name, text in answer.columns if not text.startswith("char")]
    rows = read_table(hive, "new", case, names)
    if len(names) == len(answer.columns):
        assert canonical_rows(rows) == answer.rows
    assert rows.num_rows == sum(answer.rows.values())


# Of these every write id was committed, and the files tell the types.
_TRANSACTIONAL = [
    ("acid_flat", "default"),
    ("acid_bucketed", "default"),
    ("acid_part_merge", "default"),
    ("acid_part_dropped", "default"),
    ("acid_major", "default"),
    ("acid_major_writes", "default"),
    ("acid_minor", "default"),
    ("acid_overwrite", "default"),
    ("acid_union", "default"),
    ("converted_unbucketed", "default"),
    ("converted_union_subdirs", "default"),
    ("evolve_acid", "default"),
    ("load_data_acid", "default"),
    ("load_data_acid_major", "default"),
    ("mm_parquet", "insert_only"),
    ("mm_major", "insert_only"),
    ("mm_orc_overwrite", "insert_only"),
]


@pytest.mark.parametrize(("case", "kind"), _TRANSACTIONAL)
def test_hives_transactional_folders(hive: HiveConnector, case: str, kind: str) -> None:
    table = require_corpus() / case / "table"
    _register(hive, table, case, transactional=True)
    answer = expected_answer(case)
    assert canonical_rows(read_table(hive, "new", case)) == answer.rows
    entry = _entry(hive, case)
    told = [(column.name, column.type) for column in (*entry.storage.columns, *entry.partition_keys)]
    assert [name for name, _ in told] == [name for name, _ in answer.columns]
    assert entry.parameters["transactional"] == "true"
    assert entry.parameters["transactional_properties"] == kind


def test_a_transactional_folder_is_registered_only_when_asked_for(hive: HiveConnector, tmp_path: Path) -> None:
    for name in ("base_5", "day=1/delete_delta_1_1_0"):
        # Also folders without files count: the base of a TRUNCATE hides what is beside it.
        folder = tmp_path / name.replace("/", "-")
        (folder / name).mkdir(parents=True)
        write_file(folder / name.rpartition("/")[0] / "000000_0", _DATA, "orc")
        with pytest.raises(NotSupportedError, match=f"{name}.*transactional => true") as caught:
            _register(hive, folder)
        assert caught.value.code.name == "HIVE_TRANSACTIONAL_TABLE"
    write_file(tmp_path / "plain" / ".staging" / "delta_1_1" / "000000_0", _DATA, "orc")
    write_file(tmp_path / "plain" / "000000_0", _DATA, "orc")
    with pytest.raises(InvalidArgumentError, match="leave out transactional"):
        _register(hive, tmp_path / "plain", transactional=True)
    assert _register(hive, tmp_path / "plain")["partitions"] == 0


def test_a_transactional_folder_that_tells_no_columns(hive: HiveConnector, tmp_path: Path) -> None:
    write_file(tmp_path / "old" / "delta_1_1_0" / "000000_0", _DATA.rename_columns(["_col0", "_col1"]), "orc")
    with pytest.raises(NotSupportedError, match=r"_col0 to _col1.*through its own metastore"):
        _register(hive, tmp_path / "old", transactional=True)
    write_file(tmp_path / "deletes" / "delete_delta_1_1_0" / "bucket_00000", _DATA, "orc")
    with pytest.raises(InvalidArgumentError, match="deletes holds no files with rows"):
        _register(hive, tmp_path / "deletes", transactional=True)
    write_file(tmp_path / "open" / "delta_1_5" / "bucket_00000", _DATA, "orc")
    (tmp_path / "open" / "delta_1_5" / "bucket_00000_flush_length").write_bytes(bytes(8))
    with pytest.raises(InvalidArgumentError, match="no writer has open"):
        _register(hive, tmp_path / "open", transactional=True)


def test_an_overwrite_of_nothing_makes_no_table_insert_only(hive: HiveConnector, tmp_path: Path) -> None:
    """Hive 3 leaves an ACID file's name on a file without rows and without the ACID columns."""
    folder = AcidLocation(tmp_path / "t", "k:int,v:string")
    folder.path.mkdir()
    folder.insert(1, {0: [(1, "a"), (2, "b")]})
    folder.truncate(2, "flat file")
    _register(hive, folder.path, transactional=True)
    entry = _entry(hive, "t")
    assert entry.parameters["transactional_properties"] == "default"
    folder.insert(3, {0: [(3, "c")]})
    assert read_table(hive, "new", "t").to_pylist() == [{"k": 3, "v": "c"}]


def test_a_table_that_only_an_overwrite_of_nothing_wrote(hive: HiveConnector, tmp_path: Path) -> None:
    folder = AcidLocation(tmp_path / "t", "k:int,v:string")
    folder.path.mkdir()
    folder.truncate(1, "flat file")
    _register(hive, folder.path, transactional=True)
    folder.insert(2, {0: [(3, "c")]})
    assert read_table(hive, "new", "t").to_pylist() == [{"k": 3, "v": "c"}]


def test_new_partitions_are_added(hive: HiveConnector, tmp_path: Path) -> None:
    write_file(tmp_path / "data" / "k=1" / "f", _DATA, "parquet")
    _register(hive, tmp_path / "data")
    write_file(tmp_path / "data" / "k=2" / "f", _DATA, "parquet")
    assert read_table(hive, "new", "t").num_rows == 2
    assert _call(hive, "sync_partition_metadata", schema_name="new", table_name="t")["added"] == 1
    assert read_table(hive, "new", "t").num_rows == 4
    assert _call(hive, "sync_partition_metadata", schema_name="new", table_name="t")["added"] == 0
    with pytest.raises(InvalidArgumentError, match="FULL"):
        _call(hive, "sync_partition_metadata", schema_name="new", table_name="t", mode="ALL")


@pytest.mark.parametrize(
    ("names", "values"), [(["k", "k"], ["1", "2"]), (["k"], ["1", "2"]), (["other"], ["1"]), ([], [])]
)
def test_values_that_name_no_partition(
    hive: HiveConnector, tmp_path: Path, names: list[str], values: list[str]
) -> None:
    for value in (1, 2):
        write_file(tmp_path / "data" / f"k={value}" / "f", _DATA, "parquet")
    _register(hive, tmp_path / "data")
    given = {"schema_name": "new", "table_name": "t", "partition_columns": names, "partition_values": values}
    with pytest.raises(InvalidArgumentError, match=r"new\.t is partitioned by \(k\); met"):
        _call(hive, "unregister_partition", **cast("dict[str, Value]", given))
    assert len(hive.metastore.reads.get_partition_names("new", "t")) == 2


def test_unregistering_leaves_the_files(hive: HiveConnector, tmp_path: Path) -> None:
    write_file(tmp_path / "data" / "f", _DATA, "parquet")
    _register(hive, tmp_path / "data")
    _call(hive, "unregister_table", schema_name="new", table_name="t")
    assert hive.metastore.reads.get_table("new", "t") is None
    assert (tmp_path / "data" / "f").exists()
    with pytest.raises(TableNotFoundError):
        _call(hive, "unregister_table", schema_name="new", table_name="t")


def test_what_cannot_be_registered_leaves_nothing_behind(hive: HiveConnector, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "f.txt").write_text("hello, world, this is no table")
    write_file(tmp_path / "mixed" / "a=1" / "f", _DATA, "parquet")
    write_file(tmp_path / "mixed" / "b=1" / "f", _DATA, "parquet")
    write_file(tmp_path / "hudi" / "f", _DATA, "parquet")
    (tmp_path / "hudi" / ".hoodie").mkdir()
    write_file(tmp_path / "twice" / "f", _DATA.rename_columns(["A", "a"]), "parquet")
    (tmp_path / "time").mkdir()
    pq.write_table(pa.table({"t": pa.array([1], pa.time64("us"))}), tmp_path / "time" / "f")
    errors: dict[str, type[ConnectorError]] = {
        "gone": FileMissingError,
        "empty": InvalidArgumentError,
        "text": ConnectorError,
        "mixed": InvalidArgumentError,
        "hudi": NotSupportedError,
        "twice": InvalidArgumentError,
        "time": NotSupportedError,
    }
    for folder, error in errors.items():
        with pytest.raises(error, match=folder):
            _register(hive, tmp_path / folder)
    assert hive.metastore.reads.get_databases() == ["default"]


def test_a_name_that_is_taken(hive: HiveConnector, tmp_path: Path) -> None:
    write_file(tmp_path / "data" / "f", _DATA, "parquet")
    _register(hive, tmp_path / "data")
    with pytest.raises(UserError, match=r"new\.t already exists") as caught:
        _register(hive, tmp_path / "data")
    assert caught.value.code.name == "HIVE_TABLE_EXISTS"


def test_the_plugin_knows_trinos_names() -> None:
    (factory,) = HivePlugin().connector_factories()
    assert (factory.name, *factory.aliases) == ("hive", "hive-hadoop2")
    given = {
        "hive.metastore.uri": "thrift://one:9083,thrift://two:9083",
        "hive.metastore.thrift.client.read-timeout": "1.5m",
        "hive.max-split-size": "128MB",
        "hive.parquet.time-zone": "Europe/Berlin",
        "s3.region": "eu-central-1",
    }
    config = parse_properties(factory.config_properties, given, str)
    assert thrift_config(config).read_timeout == 90.0
    assert config.get(MAX_SPLIT_SIZE) == 128 << 20
    assert config.get(PARQUET_ZONE) == "Europe/Berlin"
    assert storage_options(config) == (("s3.region", "eu-central-1"),)
    shared = dict(config.texts((*metastore_kinds().properties, *SHARED_PROPERTIES)))
    again = parse_properties(HudiFactory().config_properties, shared, str)
    assert thrift_config(again) == thrift_config(config)
    assert storage_options(again) == storage_options(config)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hive.metastore", "glue"),
        ("hive.parquet.time-zone", "Mars/Olympus"),
        ("hive.split-loader-concurrency", "0"),
        ("hive.max-split-size", "64"),
    ],
)
def test_wrong_values_are_refused(name: str, text: str) -> None:
    (factory,) = HivePlugin().connector_factories()
    with pytest.raises(InvalidPropertyError, match=name):
        parse_properties(factory.config_properties, {name: text}, str)
