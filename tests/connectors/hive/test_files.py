"""Columns of files against columns of tables, splits of files, and which files are plain."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pyorc
import pytest
from pyarrow import orc

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain
from connectors.hive.connector import HiveConnector
from connectors.hive.schema.text_types import apply_text_rule, text_rule
from tests.connectors.hive.reading import make_connector, make_session, read_table, scan_table
from tests.connectors.hive.table_writer import create_table, storage, write_file
from tests.hive_corpus import register_cases

_DATA = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "s": ["a", None, "c"]})


def _register(hive: HiveConnector, folder: Path, columns: list[FieldSchema], file_format: str) -> Path:
    """A table over files that are not written yet; returns the path of the first."""
    hive.metastore.writes.create_database(Database("s"))
    location = folder / "s" / "t"
    table = Table("s", "t", storage(columns, location, file_format), (), Parameters(), "EXTERNAL_TABLE")
    hive.metastore.writes.create_table(table)
    return location / "000000_0"


def test_position_names_of_old_orc_files(hive: HiveConnector, tmp_path: Path) -> None:
    columns = [FieldSchema("id", "bigint"), FieldSchema("s", "string"), FieldSchema("later", "int")]
    path = _register(hive, tmp_path, columns, "orc")
    write_file(path, _DATA.rename_columns(["_col0", "_col1"]), "orc")
    scan = scan_table(hive, "s", "t")
    assert scan.rows.to_pylist() == [{**row, "later": None} for row in _DATA.to_pylist()]
    assert not any(split.native for split in scan.splits)
    only = TupleDomain.with_column_domains({"id": Domain.single_value(pa.int64(), 9)})
    assert scan_table(hive, "s", "t", constraint=only).rows.num_rows == 0


@pytest.mark.parametrize(
    ("kind", "hive_type", "value"),
    [
        ("map<string,int>", "map<string,int>", {None: 0}),
        ("array<map<string,int>>", "array<map<string,int>>", [{"k": 1}, {None: 0}]),
        ("struct<x:int,m:map<string,int>>", "struct<x:int,m:map<string,int>>", (1, {None: 0})),
        ("map<string,map<int,int>>", "map<string,map<int,int>>", {"k": {None: 0}}),
    ],
)
def test_a_null_key_in_an_orc_map_is_refused(
    hive: HiveConnector, tmp_path: Path, kind: str, hive_type: str, value: object
) -> None:
    """Hive 4.0.1 writes ``{null: 0}`` for a NULL map that it has read from Parquet; Arrow would end the process."""
    path = _register(hive, tmp_path, [FieldSchema("id", "int"), FieldSchema("m", hive_type)], "orc")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, pyorc.Writer(file, f"struct<id:int,m:{kind}>") as writer:
        writer.writerows([(1, None), (2, value)])
    with pytest.raises(NotSupportedError, match=r"'m.*' of .*000000_0 has a map with a NULL key"):
        read_table(hive, "s", "t")
    assert read_table(hive, "s", "t", columns=["id"]).to_pylist() == [{"id": 1}, {"id": 2}]


def test_null_maps_and_maps_in_null_structs_are_read(hive: HiveConnector, tmp_path: Path) -> None:
    columns = [FieldSchema("m", "map<string,int>"), FieldSchema("s", "struct<m:map<string,int>>")]
    path = _register(hive, tmp_path, columns, "orc")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, pyorc.Writer(file, "struct<m:map<string,int>,s:struct<m:map<string,int>>>") as writer:
        writer.writerows([(None, None), ({"a": None}, ({"b": 1},)), ({}, (None,))])
    assert read_table(hive, "s", "t").to_pylist() == [
        {"m": None, "s": None},
        {"m": [("a", None)], "s": {"m": [("b", 1)]}},
        {"m": [], "s": {"m": None}},
    ]


def test_position_names_are_names_in_parquet(hive: HiveConnector, tmp_path: Path) -> None:
    """So did both readers of Hive 4.0.1, vectorized and not; and Spark's reader, which native files may be given to."""
    columns = [FieldSchema("id", "bigint"), FieldSchema("_col1", "string"), FieldSchema("_col0", "bigint")]
    path = _register(hive, tmp_path, columns, "parquet")
    write_file(path, _DATA.rename_columns(["_col0", "_col1"]), "parquet")
    expected = [{"id": None, "_col1": row["s"], "_col0": row["id"]} for row in _DATA.to_pylist()]
    assert scan_table(hive, "s", "t").rows.to_pylist() == expected


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_columns_by_position_when_asked(tmp_path: Path, file_format: str) -> None:
    hive = make_connector(tmp_path, **{f"hive_{file_format}_use__column__names": "false"})
    path = _register(hive, tmp_path, [FieldSchema("x", "bigint"), FieldSchema("id", "string")], file_format)
    write_file(path, _DATA, file_format)
    assert read_table(hive, "s", "t").to_pylist() == [{"x": r["id"], "id": r["s"]} for r in _DATA.to_pylist()]
    hive.shutdown()


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_names_in_another_case_and_other_order(tmp_path: Path, file_format: str) -> None:
    hive = make_connector(tmp_path, hive_orc_use__column__names="true")
    path = _register(hive, tmp_path, [FieldSchema("s", "string"), FieldSchema("id", "bigint")], file_format)
    write_file(path, _DATA.rename_columns(["ID", "S"]), file_format)
    assert read_table(hive, "s", "t").to_pylist() == [{"s": row["s"], "id": row["id"]} for row in _DATA.to_pylist()]
    hive.shutdown()


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_a_large_file_is_cut_and_each_row_read_once(hive: HiveConnector, tmp_path: Path, file_format: str) -> None:
    data = pa.table({"id": pa.array(range(5000), pa.int64()), "s": [f"text {n * n}" * 5 for n in range(5000)]})
    create_table(hive.metastore, tmp_path, "s", "t", data, file_format=file_format, group_rows=100)
    session = make_session(hive, max_split_size=10_000)
    scan = scan_table(hive, "s", "t", session=session)
    assert len(scan.splits) > 5
    assert sum(split.length for split in scan.splits) == scan.splits[0].file_size
    assert sorted(scan.rows["id"].to_pylist()) == list(range(5000))


@pytest.mark.parametrize(
    ("case", "columns", "native"),
    [
        ("parquet_alltypes", ["id", "ti", "si", "i", "bi", "f", "d", "de", "de2", "s", "bin", "b"], True),
        ("parquet_alltypes", ["ar", "m", "st"], True),
        ("parquet_alltypes", ["nested"], True),
        # INT96 of Hive counts days of the Julian calendar.
        ("parquet_alltypes", ["ts"], False),
        ("parquet_int64_alltypes", ["ts"], True),
        ("parquet_alltypes", ["vc"], False),
        ("parquet_alltypes", ["ch"], False),
        # Written by Hive with days of the Julian calendar.
        ("parquet_alltypes", ["dt"], False),
        ("parquet_alltypes", [], True),
        ("orc_alltypes", ["id", "f", "s", "bin", "b", "ar", "m", "st"], True),
        # Days before 1582, and times before 1970.
        ("orc_alltypes", ["dt"], False),
        ("orc_alltypes", ["ts"], False),
        ("orc_alltypes", ["de"], True),
        ("ext_orc_none_part", ["s", "id"], True),
        # In the file of p=1 the column has another name, and Spark's reader goes by names.
        ("evolve_ext_orc", ["renamed"], False),
        ("evolve_ext_orc", ["n"], True),
        # The partition entries were changed with the table, the file of p=1 has int where the table has bigint.
        ("evolve_ext_parquet", ["a"], False),
    ],
)  # fmt: skip
def test_native_files(hive: HiveConnector, case: str, columns: list[str], native: bool) -> None:
    register_cases(hive.metastore.writes, "corpus", [case])
    splits = scan_table(hive, "corpus", case, columns).splits
    assert all(split.native for split in splits) == native
    for split in splits:
        if split.native:
            assert split.native_file is not None
            assert set(dict(split.native_file.constants)) == set(columns) & {"id"} & set(dict(split.partition_values))


def test_dates_are_native_where_the_writer_counts_as_today(hive: HiveConnector, tmp_path: Path) -> None:
    data = pa.table({"id": pa.array([1], pa.int64()), "d": pa.array([datetime(2024, 1, 1).date()])})
    create_table(hive.metastore, tmp_path, "s", "t", data)
    assert all(split.native for split in scan_table(hive, "s", "t").splits)
    (path,) = (tmp_path / "s" / "t").iterdir()
    old = data.replace_schema_metadata({"writer.date.proleptic": "false"})
    pq.write_table(old, path.with_name("000001_0"))
    native = {split.path.rpartition("/")[2]: split.native for split in scan_table(hive, "s", "t").splits}
    assert native == {"000000_0": True, "000001_0": False}


@pytest.mark.parametrize(
    ("first", "zone", "writer", "native"),
    [
        (datetime(1970, 1, 4), "UTC", None, True),
        (datetime(1970, 1, 2), "UTC", None, False),
        (datetime(2024, 1, 1), "Europe/Berlin", None, False),
        # Without row groups there are no statistics.
        (datetime(2024, 1, 1), "UTC", 0, False),
    ],
)
def test_orc_times_are_native_where_all_readers_agree(
    hive: HiveConnector, tmp_path: Path, first: datetime, zone: str, writer: int | None, native: bool
) -> None:
    path = _register(hive, tmp_path, [FieldSchema("t", "timestamp"), FieldSchema("i", "int")], "orc")
    path.parent.mkdir(parents=True)
    options = {} if writer is None else {"row_index_stride": writer}
    with (
        path.open("wb") as file,
        pyorc.Writer(file, "struct<t:timestamp,i:int>", timezone=ZoneInfo(zone), **options) as rows,
    ):
        rows.writerows([(moment.replace(tzinfo=ZoneInfo(zone)), 1) for moment in (first, datetime(2024, 7, 1))])
    assert [split.native for split in scan_table(hive, "s", "t").splits] == [native]
    assert scan_table(hive, "s", "t", ["i"]).splits[0].native


def test_orc_dates_are_native_where_all_calendars_agree(hive: HiveConnector, tmp_path: Path) -> None:
    kind = [FieldSchema("d", "array<date>")]
    path = _register(hive, tmp_path, kind, "orc")
    path.parent.mkdir(parents=True)
    for number, day in enumerate([date(1582, 10, 15), date(1582, 10, 4), date(2024, 1, 1)]):
        orc.write_table(pa.table({"d": [[day, None]]}), str(path.with_name(f"00000{number}_0")))
    found = {split.path[-len("0_0")]: split.native for split in scan_table(hive, "s", "t").splits}
    assert found == {"0": True, "1": False, "2": False}


def test_native_files_carry_keys_and_hidden_columns(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _DATA.append_column("p", pa.array([7, 7, 7])), ["p"])
    (split,) = scan_table(hive, "s", "t", ["s", "p", "$path"]).splits
    assert split.native_file is not None
    assert dict(split.native_file.constants) == {"p": 7, "$path": split.path}


def test_instants_are_shown_in_the_sessions_zone(hive: HiveConnector, tmp_path: Path) -> None:
    path = _register(hive, tmp_path, [FieldSchema("t", "timestamp")], "parquet")
    path.parent.mkdir(parents=True)
    instant = pa.array([datetime(2024, 7, 1, 12)], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"t": instant}), path)
    for zone, hour in (("UTC", 12), ("Europe/Berlin", 14)):
        rows = scan_table(hive, "s", "t", session=make_session(hive, zone)).rows
        assert rows["t"].to_pylist() == [datetime(2024, 7, 1, hour)]


def test_orc_instants_stay_instants(hive: HiveConnector, tmp_path: Path) -> None:
    path = _register(hive, tmp_path, [FieldSchema("t", "timestamp with local time zone")], "orc")
    path.parent.mkdir(parents=True)
    instant = pa.array([datetime(2024, 7, 1, 12)], pa.timestamp("us", "UTC"))
    orc.write_table(pa.table({"t": instant}), str(path))
    assert read_table(hive, "s", "t")["t"].to_pylist() == instant.to_pylist()


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_narrowed_columns(hive: HiveConnector, tmp_path: Path, file_format: str) -> None:
    kind = pa.struct([("x", pa.int64()), ("y", pa.struct([("a", pa.string()), ("b", pa.int64())]))])
    values = [{"x": 1, "y": {"a": "p", "b": 2}}, {"x": None, "y": None}, None]
    create_table(hive.metastore, tmp_path, "s", "t", pa.table({"st": pa.array(values, kind)}), file_format=file_format)
    narrow = pa.struct([("y", pa.struct([("b", pa.int64())]))])
    scan = scan_table(hive, "s", "t", handles=[ColumnHandle("st", narrow)])
    assert scan.rows["st"].to_pylist() == [{"y": {"b": 2}}, {"y": None}, None]


def test_char_and_varchar_inside_of_nested_types() -> None:
    rule = text_rule("array<struct<a:char(3),`b c`:map<varchar(2),int>,d:decimal(10,2)>>")
    assert rule is not None
    entry = pa.struct([("a", pa.string()), ("b c", pa.map_(pa.string(), pa.int32())), ("d", pa.decimal128(10, 2))])
    values = pa.array([[{"a": "x", "b c": [("äöü", 1)], "d": None}], None, []], pa.list_(entry))
    expected = [[{"a": "x  ", "b c": [("äö", 1)], "d": None}], None, []]
    assert apply_text_rule(values, rule).to_pylist() == expected
    assert text_rule("struct<a:int,b:array<string>>") is None


def test_filters_on_char_columns_lose_nothing(hive: HiveConnector, tmp_path: Path) -> None:
    path = _register(hive, tmp_path, [FieldSchema("c", "char(4)"), FieldSchema("v", "varchar(1)")], "parquet")
    write_file(path, pa.table({"c": ["ab"], "v": ["xyz"]}), "parquet")
    wanted = TupleDomain.with_column_domains(
        {"c": Domain.single_value(pa.string(), "ab  "), "v": Domain.single_value(pa.string(), "x")}
    )
    assert scan_table(hive, "s", "t", constraint=wanted).rows.to_pylist() == [{"c": "ab  ", "v": "x"}]
