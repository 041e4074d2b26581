"""Columns of another time, as Hive 4.0.1 itself finds them (``place_answers/cases.py``)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, Partition, SerDeInfo, StorageDescriptor, Table
from connector_spi.errors import NotSupportedError
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.formats.place_answers.cases import CASES, Case
from tests.connectors.hive.reading import make_connector, read_table, scan_table

_ANSWERS = Path(__file__).parent / "place_answers"
_IO = "org.apache.hadoop.hive.ql.io"
_SERDES = "org.apache.hadoop.hive.serde2"
_CLASSES = {
    "ORC": (f"{_IO}.orc.OrcInputFormat", f"{_IO}.orc.OrcSerde"),
    "PARQUET": (f"{_IO}.parquet.MapredParquetInputFormat", f"{_IO}.parquet.serde.ParquetHiveSerDe"),
    "AVRO": (f"{_IO}.avro.AvroContainerInputFormat", f"{_SERDES}.avro.AvroSerDe"),
    "TEXTFILE": ("org.apache.hadoop.mapred.TextInputFormat", f"{_SERDES}.lazy.LazySimpleSerDe"),
    "RCFILE": (f"{_IO}.RCFileInputFormat", f"{_SERDES}.columnar.ColumnarSerDe"),
    "JSONFILE": ("org.apache.hadoop.mapred.TextInputFormat", f"{_SERDES}.JsonSerDe"),
}
_FILES = {"TEXTFILE": "text", "JSONFILE": "json"}
_OTHER_WAYS = {"ORC": "orc", "PARQUET": "parquet"}
_PLAIN_MODES = {"fetch", "vectors", "rows"}
# Hive reads no more columns of Parquet than the partition declares, in some modes, though the file holds the table's.
_AS_IF_DECLARED = {
    "q_num_more": "p_num_more",
    "q_num_inserted": "p_num_inserted",
    "q_nested_fields_more": "p_nested_fields_more",
    "q_num_own_file_fewer": "p_num_same",
    "q_num_own_short": "p_num_same",
    "q_num_own_short_moved": "p_num_same",
}


@cache
def _answers(file_format: str, other: bool) -> dict[str, list[list[list[str]]]]:
    """Hive's rows by case, once for each answer that it has; without those where it fails."""
    found: dict[str, dict[str, list[list[str]]]] = {}
    for line in (_ANSWERS / "answers.tsv").read_text().splitlines():
        name, modes, case, *row = line.split("\t")
        asked = ("other" in modes.split(",")) if other else bool(_PLAIN_MODES & set(modes.split(",")))
        if name == file_format and asked and row != ["failed"]:
            found.setdefault(case, {}).setdefault(modes, []).append(row)
    return {case: list(by_mode.values()) for case, by_mode in found.items()}


def _fields(columns: str) -> tuple[FieldSchema, ...]:
    """Of columns as SQL declares them; commas inside of types have no blank behind."""
    pairs = (column.split(" ", 1) for column in columns.split(", "))
    return tuple(FieldSchema(name.lower(), hive_type) for name, hive_type in pairs)


def _text(value: object) -> str:
    """A value as Hive's JDBC driver shows it."""
    if value is None:
        return "null"
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _create(hive: HiveConnector, folder: Path, file_format: str, case: Case) -> list[str]:
    """Makes the table of a case, and tells its columns."""
    content = (_ANSWERS / f"{case.file}.{_FILES.get(file_format, file_format.lower())}").read_bytes()
    location = folder / case.name
    location.mkdir()
    (location / "000000_0").write_bytes(content)
    input_format, serde = _CLASSES[file_format]

    def storage(columns: str) -> StorageDescriptor:
        info = SerDeInfo(serde, Parameters())
        return StorageDescriptor(_fields(columns), f"file://{location}", input_format, serde=info)

    keys = () if case.partition is None else (FieldSchema("p", "int"),)
    told = Table("s", case.name, storage(case.table), keys, Parameters(), "EXTERNAL_TABLE")
    hive.metastore.writes.create_table(told)
    if case.partition is not None:
        partition = Partition("s", case.name, ("1",), storage(case.partition))
        hive.metastore.writes.add_partitions("s", case.name, [partition])
    return [field.name for field in (*_fields(case.table), *keys)]


_TEXTS_AS_NUMBERS = {"q_mixed_extended", "q_nested_fields", "q_nested_fields_more", "q_nested_both"}
"""Where columns of Parquet, and fields, are found by place: refused as in any Parquet file; Hive makes NULL of them."""


def _expected(file_format: str, other: bool, case: Case) -> list[list[list[str]]]:
    name = _AS_IF_DECLARED.get(case.name, case.name) if file_format == "PARQUET" else case.name
    return _answers(file_format, other).get(name, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file_format", "other"), [*((name, False) for name in _CLASSES), *((name, True) for name in _OTHER_WAYS)]
)
def test_columns_are_found_where_hive_finds_them(tmp_path: Path, file_format: str, other: bool) -> None:
    names = {f"hive_{_OTHER_WAYS[file_format]}_use__column__names": str(file_format == "ORC")} if other else {}
    hive = make_connector(tmp_path, **names)
    asked = 0
    try:
        hive.metastore.writes.create_database(Database("s"))
        for case in CASES:
            expected = _expected(file_format, other, case)
            if not expected:
                continue
            columns = _create(hive, tmp_path, file_format, case)
            if (file_format, other) == ("PARQUET", True) and case.name in _TEXTS_AS_NUMBERS:
                with pytest.raises(NotSupportedError, match=" is of type string in the file and int32"):
                    read_table(hive, "s", case.name, columns)
                continue
            found = read_table(hive, "s", case.name, columns).to_pylist()
            assert sorted([_text(value) for value in row.values()] for row in found) in expected, case
            asked += 1
    finally:
        hive.shutdown()
    assert asked > 40


@pytest.mark.parametrize(("file_format", "own"), [("ORC", "a int"), ("PARQUET", "a int"), ("PARQUET", "x int, a int")])
def test_what_a_partition_declares_is_nothing_to_the_engines_reader(tmp_path: Path, file_format: str, own: str) -> None:
    hive = make_connector(tmp_path)
    try:
        hive.metastore.writes.create_database(Database("s"))
        case = Case("t", "num", own, "a int, b int, c int")
        _create(hive, tmp_path, file_format, case)
        assert all(split.native for split in scan_table(hive, "s", "t").splits)
    finally:
        hive.shutdown()


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize(
    ("hive_type", "rows"),
    [
        ("uniontype<int,string>", [(0, 7, None), (1, None, "12")]),
        ("uniontype<string,int>", [(0, "12", None), (1, None, 7)]),
        ("uniontype<int,string,array<int>>", [(0, 7, None, None), (1, None, "12", None)]),
        # Hive fails: Not in union ["int","string"]: 7; Found string, expecting union.
        ("uniontype<bigint,string>", None),
        ("uniontype<double,string>", None),
        ("uniontype<int>", None),
        ("int", None),
        ("string", None),
    ],
)
def test_unions_of_avro_are_read_by_the_tables_types(
    tmp_path: Path, hive_type: str, rows: list[tuple[object, ...]] | None, partitioned: bool
) -> None:
    """``create_union(0, 7, 'x')`` and ``create_union(1, 8, '12')``; Hive never asks what the partition declares."""
    hive = make_connector(tmp_path)
    location = tmp_path / "t"
    location.mkdir()
    for name in ("union_1.avro", "union_2.avro"):
        (location / name).write_bytes((_ANSWERS / name).read_bytes())
    told, own = (
        StorageDescriptor(
            (FieldSchema("c0", one),), f"file://{location}", _CLASSES["AVRO"][0], serde=SerDeInfo(_CLASSES["AVRO"][1])
        )
        for one in (hive_type, "uniontype<int,string>")
    )
    try:
        hive.metastore.writes.create_database(Database("s"))
        keys = (FieldSchema("p", "int"),) if partitioned else ()
        hive.metastore.writes.create_table(Table("s", "t", told, keys, Parameters(), "EXTERNAL_TABLE"))
        if partitioned:
            hive.metastore.writes.add_partitions("s", "t", [Partition("s", "t", ("1",), own)])
        if rows is None:
            with pytest.raises(NotSupportedError, match="'c0'"):
                read_table(hive, "s", "t", ["c0"])
        else:
            found = read_table(hive, "s", "t", ["c0"]).column("c0").to_pylist()
            assert sorted((tuple(row.values()) for row in found), key=repr) == rows
    finally:
        hive.shutdown()
