"""Partitions whose columns, types, formats and places are not the table's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, Partition, SerDeInfo, StorageDescriptor, Table
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector, make_session, read_table, scan_table
from tests.connectors.hive.table_writer import storage, write_file

_TEXT = "org.apache.hadoop.mapred.TextInputFormat"
_LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_DELIMITERS = Parameters.of({"field.delim": ",", "collection.delim": ";", "mapkey.delim": ":"})
_CLASSES = (
    ("org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat", "org.apache.hadoop.hive.serde2.avro.AvroSerDe"),
    ("org.apache.hadoop.hive.ql.io.orc.OrcInputFormat", "org.apache.hadoop.hive.ql.io.orc.OrcSerde"),
    (
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
    ("org.apache.hadoop.hive.ql.io.RCFileInputFormat", "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"),
    ("org.apache.hadoop.mapred.SequenceFileInputFormat", _LAZY),
    (_TEXT, _LAZY),
    ("org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat", _LAZY),
)


def _text(columns: Mapping[str, str], location: Path) -> StorageDescriptor:
    fields = tuple(FieldSchema(name, hive_type) for name, hive_type in columns.items())
    return StorageDescriptor(fields, f"file://{location}", _TEXT, serde=SerDeInfo(_LAZY, _DELIMITERS))


def _table(hive: HiveConnector, told: StorageDescriptor, *partitions: tuple[str, StorageDescriptor]) -> None:
    hive.metastore.writes.create_database(Database("s"))
    keys = (FieldSchema("p", "string"),) if partitions else ()
    hive.metastore.writes.create_table(Table("s", "t", told, keys, Parameters(), "EXTERNAL_TABLE"))
    made = [Partition("s", "t", (value,), of_partition) for value, of_partition in partitions]
    if made:
        hive.metastore.writes.add_partitions("s", "t", made)


def _write(location: Path, lines: str) -> None:
    location.mkdir(parents=True, exist_ok=True)
    (location / "000000_0").write_text(lines)


def _fields(columns: Mapping[str, str]) -> list[FieldSchema]:
    return [FieldSchema(name, hive_type) for name, hive_type in columns.items()]


def test_texts_of_a_partition_are_first_what_it_declares(hive: HiveConnector, tmp_path: Path) -> None:
    table = {"c": "string", "v": "varchar(10)", "n": "char(6)", "a": "array<string>", "i": "int"}
    own = {"c": "char(4)", "v": "varchar(3)", "n": "varchar(8)", "a": "array<char(2)>", "i": "char(3)"}
    folder = tmp_path / "p"
    _write(folder, "ab  ,abcdef,abcdefgh,x ;yz!,12 \nabcdef,a ,b ,,1234\n")
    _table(hive, _text(table, tmp_path), ("1", _text(own, folder)))
    rows = read_table(hive, "s", "t", list(table)).to_pylist()
    assert rows == [
        {"c": "ab", "v": "abc", "n": "abcdef", "a": ["x", "yz"], "i": 12},
        {"c": "abcd", "v": "a ", "n": "b     ", "a": [], "i": 123},
    ]


def test_numbers_texts_and_times_of_text_partitions(hive: HiveConnector, tmp_path: Path) -> None:
    table = {"a": "bigint", "b": "string", "c": "int", "d": "date", "e": "decimal(5,1)", "f": "string"}
    own = {"a": "int", "b": "int", "c": "string", "d": "string", "e": "double", "f": "timestamp"}
    folder = tmp_path / "p"
    _write(folder, "1,007,12,2024-02-29,2.25,2024-01-02 03:04:05.5\nx,y,z,w,99999,q\n")
    _table(hive, _text(table, tmp_path), ("1", _text(own, folder)))
    first = {"a": 1, "b": "7", "c": 12, "d": date(2024, 2, 29), "e": Decimal("2.3"), "f": "2024-01-02 03:04:05.5"}
    assert read_table(hive, "s", "t", list(table)).to_pylist() == [first, dict.fromkeys(table)]


def test_instants_of_a_text_partition_are_shown_in_the_sessions_zone(hive: HiveConnector, tmp_path: Path) -> None:
    _write(tmp_path / "p", "2024-07-01 12:00:00 UTC\n")
    own = _text({"a": "timestamp with local time zone"}, tmp_path / "p")
    _table(hive, _text({"a": "timestamp"}, tmp_path), ("1", own))
    rows = scan_table(hive, "s", "t", ["a"], session=make_session(hive, "Europe/Berlin")).rows
    assert rows.to_pylist() == [{"a": datetime(2024, 7, 1, 14)}]


def test_fields_of_text_structs_are_found_by_place(hive: HiveConnector, tmp_path: Path) -> None:
    table = {"s": "struct<b:string,renamed:bigint,later:int>", "m": "map<string,string>"}
    own = {"s": "struct<a:int,old:int,b:string>", "m": "map<int,int>"}
    own_order = {"s": "struct<b:string,old:int>", "m": "map<int,int>"}
    for name in ("1", "2"):
        _write(tmp_path / name, "4;5;six,7:8\n" if name == "1" else "four;5,7:8\n")
    partitions = [("1", _text(own, tmp_path / "1")), ("2", _text(own_order, tmp_path / "2"))]
    _table(hive, _text(table, tmp_path), *partitions)
    rows = {row["p"]: row for row in read_table(hive, "s", "t").to_pylist()}
    assert rows["1"]["s"] == {"b": "4", "renamed": 5, "later": None}
    assert rows["2"]["s"] == {"b": "four", "renamed": 5, "later": None}
    assert rows["1"]["m"] == [("7", "8")]


def test_fields_of_a_struct_alone_are_found_as_all_of_them_are(hive: HiveConnector, tmp_path: Path) -> None:
    table = {"l": "array<struct<b:string,renamed:struct<x:int,y:int>,later:int>>"}
    own = {"l": "array<struct<a:int,old:struct<x:int,z:int>,b:string>>"}
    _write(tmp_path / "1", "4:5\x046:seven\n")
    _table(hive, _text(table, tmp_path), ("1", _text(own, tmp_path / "1")))
    [whole] = read_table(hive, "s", "t", ["l"]).to_pylist()
    assert whole == {"l": [{"b": "4", "renamed": {"x": 5, "y": 6}, "later": None}]}
    for narrow, value in (
        (pa.struct([("later", pa.int32())]), {"later": None}),
        (pa.struct([("b", pa.string())]), {"b": "4"}),
        (pa.struct([("renamed", pa.struct([("y", pa.int32())]))]), {"renamed": {"y": 6}}),
    ):
        found = scan_table(hive, "s", "t", handles=[ColumnHandle("l", pa.list_(narrow))]).rows
        assert found.to_pylist() == [{"l": [value]}]


def test_some_fields_that_look_like_all_of_a_partitions_are_found_by_place(hive: HiveConnector, tmp_path: Path) -> None:
    _write(tmp_path / "1", "4;5\n")
    own = _text({"s": "struct<x:int,y:int>"}, tmp_path / "1")
    _table(hive, _text({"s": "struct<w:int,x:int,y:int>"}, tmp_path), ("1", own))
    assert read_table(hive, "s", "t", ["s"]).to_pylist() == [{"s": {"w": 4, "x": 5, "y": None}}]
    narrow = pa.struct([("x", pa.int32()), ("y", pa.int32())])
    found = scan_table(hive, "s", "t", handles=[ColumnHandle("s", narrow)]).rows
    assert found.to_pylist() == [{"s": {"x": 5, "y": None}}]


def test_fields_of_parquet_by_place_are_found_so_alone(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, hive_parquet_use__column__names="false")
    kind = pa.list_(pa.struct([("x", pa.int32()), ("y", pa.struct([("u", pa.int32()), ("v", pa.string())]))]))
    write_file(tmp_path / "t" / "f", pa.table({"l": pa.array([[{"x": 1, "y": {"u": 2, "v": "t"}}]], kind)}), "parquet")
    _table(hive, storage(_fields({"k": "array<struct<y:int,x:struct<v:int,w:string>>>"}), tmp_path / "t", "parquet"))
    assert read_table(hive, "s", "t").to_pylist() == [{"k": [{"y": 1, "x": {"v": 2, "w": "t"}}]}]
    narrow = pa.list_(pa.struct([("x", pa.struct([("w", pa.string())]))]))
    found = scan_table(hive, "s", "t", handles=[ColumnHandle("k", narrow)])
    assert found.rows.to_pylist() == [{"k": [{"x": {"w": "t"}}]}]
    assert not any(split.native for split in found.splits)
    hive.shutdown()


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_fields_inside_of_nested_columns_come_and_go(hive: HiveConnector, tmp_path: Path, file_format: str) -> None:
    data = pa.table(
        {
            "l": pa.array([[{"a": 7, "B": "t", "gone": 1}, None], None], pa.list_(_struct(a="int32", B="string"))),
            "m": pa.array([[("k", 5)], None], pa.map_(pa.string(), pa.int32())),
        }
    )
    table = {"l": "array<struct<b:string,a:string,c:date>>", "m": "map<string,bigint>"}
    write_file(tmp_path / "t" / "f", data, file_format)
    _table(hive, storage(_fields(table), tmp_path / "t", file_format))
    assert read_table(hive, "s", "t").to_pylist() == [
        {"l": [{"b": "t", "a": "7", "c": None}, None], "m": [("k", 5)]},
        {"l": None, "m": None},
    ]


@pytest.mark.parametrize(
    ("file_format", "key"), [("orc", "orc.force.positional.evolution"), ("parquet", "parquet.column.index.access")]
)
def test_a_table_may_want_columns_by_their_places(tmp_path: Path, file_format: str, key: str) -> None:
    hive = make_connector(tmp_path, hive_orc_use__column__names="true")
    write_file(tmp_path / "t" / "f", pa.table({"b": [1], "a": [2]}), file_format)
    told = storage(_fields({"a": "bigint", "x": "bigint", "b": "bigint"}), tmp_path / "t", file_format)
    hive.metastore.writes.create_database(Database("s"))
    for name, parameters in (("by_name", {}), ("by_place", {key: "TRUE"})):
        table = Table("s", name, told, (), Parameters.of(parameters), "EXTERNAL_TABLE")
        hive.metastore.writes.create_table(table)
    assert read_table(hive, "s", "by_name").to_pylist() == [{"a": 2, "x": None, "b": 1}]
    assert read_table(hive, "s", "by_place").to_pylist() == [{"a": 1, "x": 2, "b": None}]
    assert not any(split.native for split in scan_table(hive, "s", "by_place").splits)
    hive.shutdown()


def _struct(**fields: str) -> pa.DataType:
    known = {"int32": pa.int32(), "string": pa.string()}
    return pa.struct([(name, known[kind]) for name, kind in fields.items()] + [("gone", pa.int8())])


@pytest.mark.parametrize(
    ("file_format", "source", "target"),
    [
        ("orc", pa.array([date(2024, 1, 1)]), "int"),
        ("orc", pa.array([1]), "date"),
        ("orc", pa.array([1]), "binary"),
        ("orc", pa.array([[1]]), "string"),
        ("parquet", pa.array(["1"]), "int"),
        ("parquet", pa.array([1]), "timestamp"),
        ("parquet", pa.array([1.5]), "boolean"),
        ("parquet", pa.array([date(2024, 1, 1)]), "timestamp"),
        ("parquet", pa.array(["x"]), "array<string>"),
    ],
)
def test_what_hive_refuses_is_refused_by_column_and_file(
    hive: HiveConnector, tmp_path: Path, file_format: str, source: pa.Array, target: str
) -> None:
    write_file(tmp_path / "t" / "f", pa.table({"v": source}), file_format)
    _table(hive, storage([FieldSchema("v", target)], tmp_path / "t", file_format))
    with pytest.raises(NotSupportedError, match=r"column 'v' of .*/t/f is of type") as caught:
        read_table(hive, "s", "t")
    assert caught.value.code.name == "UNSUPPORTED_COERCION"


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
def test_times_of_parquet_that_became_texts_are_those_of_the_clock(
    hive: HiveConnector, tmp_path: Path, zone: str
) -> None:
    """The rows of Hive's q-test schema_evol_par_vec_table_dictionary_encoding, and one with no fraction."""
    shown = ["2018-01-01 13:14:15.123456", "2018-01-02 14:15:16.123456", "2018-01-03 16:17:18", None]
    times = pa.array([None if text is None else datetime.fromisoformat(text) for text in shown], pa.timestamp("us"))
    # A file of INT96 whose footer names the zone has instants.
    instants = pc.assume_timezone(times, zone)
    data = pa.table({"a": instants.cast(pa.timestamp("us")), "b": instants.cast(pa.timestamp("us"))})
    (tmp_path / "t").mkdir()
    with pq.ParquetWriter(tmp_path / "t" / "f", data.schema, use_deprecated_int96_timestamps=True) as out:
        out.write_table(data)
        out.add_key_value_metadata({"writer.time.zone": zone, "writer.date.proleptic": "true"})
    fields = _fields({"a": "string", "b": "varchar(19)"})
    _table(hive, storage(fields, tmp_path / "t", "parquet"))
    rows = read_table(hive, "s", "t")
    assert rows.column("a").to_pylist() == shown
    assert rows.column("b").to_pylist() == [None if text is None else text[:19] for text in shown]


def test_partitions_may_lie_anywhere_and_share_a_place(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, hive_recursive__directories="false")
    elsewhere, columns = tmp_path / "else where" / "p=%25", {"a": "int"}
    _write(elsewhere, "1\n2\n")
    _write(elsewhere / "below", "9\n")
    _write(elsewhere / "_hidden", "8\n")
    (elsewhere / ".hidden").write_text("7\n")
    (elsewhere / "empty").write_text("")
    shared = _text(columns, elsewhere)
    _table(hive, _text(columns, tmp_path / "t"), ("a/b", shared), ("c", shared))
    found = sorted((row["p"], row["a"]) for row in read_table(hive, "s", "t").to_pylist())
    assert found == [("a/b", 1), ("a/b", 2), ("c", 1), ("c", 2)]
    hive.shutdown()


@pytest.mark.parametrize(("input_format", "serde"), _CLASSES)
def test_files_of_no_bytes_have_no_rows(hive: HiveConnector, tmp_path: Path, input_format: str, serde: str) -> None:
    folder = tmp_path / "t"
    _write(folder, "")
    told = StorageDescriptor(
        (FieldSchema("a", "int"),), f"file://{folder}", input_format, serde=SerDeInfo(serde, Parameters())
    )
    _table(hive, told)
    scan = scan_table(hive, "s", "t")
    assert scan.rows.num_rows == 0
    assert not scan.splits
