"""Columns of uniontype: ORC files that pyorc and Arrow wrote, and Avro files of fastavro.

Those of pyorc lie in ``union_files``, written once by a process of their own and read again by pyorc: where unions are
NULL it writes what its memory happens to hold, and can take all of the memory or end the process.

What is expected is what was written, with Hive's numbers: the branches of the table's type, null left out
(``AvroDeserializer.deserializeUnion``). A union is shown as Hive prints it, ``{number:value}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile
from typing import cast

import pyarrow as pa
import pytest
from pyarrow import orc

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.formats.avro.tables import Row, field, make_table, record, rows_of
from tests.connectors.hive.reading import read_table, scan_table
from tests.connectors.hive.table_writer import storage

_FILES = Path(__file__).with_name("union_files")
_TYPE = "uniontype<int,string,struct<x:int>>"


def as_hive(value: object) -> object:
    """A value with unions as Hive prints them; all branches but the one have to be NULL."""
    if isinstance(value, list | tuple):
        return type(value)(as_hive(one) for one in value)
    if not isinstance(value, dict):
        return value
    if "tag" not in value:
        return {name: as_hive(one) for name, one in value.items()}
    told = dict(value)
    tag = told.pop("tag")
    chosen = told.pop(f"field{tag}")
    assert all(other is None for other in told.values())
    return {tag: as_hive(chosen)}


def orc_table(hive: HiveConnector, folder: Path, columns: Mapping[str, str]) -> Path:
    """The table ``s.t``, and a file of it to be written."""
    (folder / "t").mkdir()
    fields = [FieldSchema(name, kind) for name, kind in columns.items()]
    hive.metastore.writes.create_database(Database("s"))
    entry = Table("s", "t", storage(fields, folder / "t", "orc"), (), Parameters(), "EXTERNAL_TABLE")
    hive.metastore.writes.create_table(entry)
    return folder / "t" / "000000_0"


def shown(hive: HiveConnector, columns: list[str] | None = None) -> object:
    return as_hive(read_table(hive, "s", "t", columns).to_pylist())


def test_orc_at_the_top_and_inside_of_others(hive: HiveConnector, tmp_path: Path) -> None:
    nested = "uniontype<int,array<uniontype<string,double>>>"
    columns = {
        "u": _TYPE,
        "l": f"array<{_TYPE}>",
        "m": "map<string,uniontype<int,string>>",
        "s": f"struct<a:int,u:{nested}>",
    }
    copyfile(_FILES / "nested.orc", orc_table(hive, tmp_path, columns))
    assert shown(hive) == [
        {"u": {0: 5}, "l": [{0: 1}, {1: "a"}, {2: {"x": 7}}, None], "m": [("k", {0: 1}), ("l", {1: "v"})],
         "s": {"a": 1, "u": {0: 2}}},
        {"u": {1: "x"}, "l": [], "m": None, "s": {"a": 2, "u": {1: [{0: "q"}, {1: 1.5}, None]}}},
        {"u": {2: {"x": 3}}, "l": None, "m": [], "s": {"a": 3, "u": None}},
        {"u": None, "l": [None], "m": [("k", None)], "s": None},
    ]  # fmt: skip
    assert shown(hive, ["s"]) == [{"s": row["s"]} for row in cast("list[dict[str, object]]", shown(hive))]


def test_orc_tells_null_from_a_branch_that_is_null(hive: HiveConnector, tmp_path: Path) -> None:
    path = orc_table(hive, tmp_path, {"u": "uniontype<int,string>"})
    tags = pa.array([0, 1, 1, 0], pa.int8())
    values = pa.UnionArray.from_sparse(tags, [pa.array([1, None, None, None]), pa.array([None, "x", None, None])])
    orc.write_table(pa.table({"u": values}), str(path))
    copyfile(_FILES / "null.orc", path.parent / "000001_0")
    found = cast("list[dict[str, object]]", shown(hive))
    assert sorted(str(row["u"]) for row in found) == ["None", "{0: 1}", "{0: None}", "{1: 'x'}", "{1: None}"]


def test_orc_of_one_branch_tells_null_from_a_branch_that_is_null(hive: HiveConnector, tmp_path: Path) -> None:
    copyfile(_FILES / "one_branch.orc", orc_table(hive, tmp_path, {"u": "uniontype<int>"}))
    assert shown(hive) == [{"u": {0: 1}}, {"u": None}]


def test_orc_with_more_branches_than_the_table_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    path = orc_table(hive, tmp_path, {"u": "uniontype<int,string>"})
    children = [pa.array([1, None, None]), pa.array([None, "x", None]), pa.array([None, None, 1.5])]
    orc.write_table(pa.table({"u": pa.UnionArray.from_sparse(pa.array([0, 1, 2], pa.int8()), children)}), str(path))
    with pytest.raises(NotSupportedError, match="column 'u'"):
        shown(hive)
    [tag] = scan_table(hive, "s", "t", handles=[ColumnHandle("u", pa.struct([("tag", pa.int8())]))]).rows.columns
    assert tag.to_pylist() == [{"tag": 0}, {"tag": 1}, {"tag": 2}]


def test_avro_numbers_branches_as_the_table_does(hive: HiveConnector, tmp_path: Path) -> None:
    inner = {"type": "record", "name": "i", "fields": [field("x", "int")]}
    enum = {"type": "enum", "name": "e", "symbols": ["A", "B"]}
    first = record(
        field("u", ["int", "null", "string", inner]),
        field("l", {"type": "array", "items": ["null", "string", "double"]}),
        field("e", ["null", "long", enum]),
    )
    turned = record(field("u", ["string", "int"]), field("l", {"type": "array", "items": ["double", "string"]}))
    declared = {"u": _TYPE, "l": "array<uniontype<string,double>>", "e": "uniontype<bigint,string>"}
    rows: list[Row] = [
        {"u": 5, "l": ["a", 1.5, None], "e": "B"},
        {"u": "x", "l": [], "e": 9},
        {"u": {"x": 3}, "l": [], "e": None},
        {"u": None, "l": [], "e": 1},
    ]
    make_table(hive, tmp_path, declared, [(first, rows), (turned, [{"u": "y", "l": [2.5, "z"]}, {"u": 6, "l": []}])])
    assert sorted(cast("list[Row]", as_hive(rows_of(hive))), key=str) == [
        {"u": None, "l": [], "e": {0: 1}},
        {"u": {0: 5}, "l": [{0: "a"}, {1: 1.5}, None], "e": {1: "B"}},
        {"u": {0: 6}, "l": [], "e": None},
        {"u": {1: "x"}, "l": [], "e": {0: 9}},
        {"u": {1: "y"}, "l": [{1: 2.5}, {0: "z"}], "e": None},
        {"u": {2: {"x": 3}}, "l": [], "e": None},
    ]


def test_avro_of_the_tables_own_schema(hive: HiveConnector, tmp_path: Path) -> None:
    schema = record(field("ID", "int"), field("u", ["null", "int", "string"]))
    told = {"avro.schema.literal": json.dumps(schema)}
    rows: list[Row] = [{"ID": 1, "u": 4}, {"ID": 2, "u": None}, {"ID": 3, "u": "x"}]
    make_table(hive, tmp_path, {"id": "int", "u": "uniontype<int,string>"}, [(schema, rows)], told)
    assert as_hive(rows_of(hive)) == [{"id": 1, "u": {0: 4}}, {"id": 2, "u": None}, {"id": 3, "u": {1: "x"}}]


@pytest.mark.parametrize("union", [["int", "double"], ["int", "string", "double"]])
def test_avro_of_other_branches_is_refused(hive: HiveConnector, tmp_path: Path, union: list[str]) -> None:
    make_table(hive, tmp_path, {"u": "uniontype<int,string>"}, [(record(field("u", union)), [{"u": 1}])])
    with pytest.raises(NotSupportedError, match="column 'u'"):
        rows_of(hive)


def test_texts_inside_of_a_union_keep_their_length(hive: HiveConnector, tmp_path: Path) -> None:
    copyfile(_FILES / "texts.orc", orc_table(hive, tmp_path, {"u": "uniontype<int,char(3),varchar(2)>"}))
    assert shown(hive) == [{"u": {1: "a  "}}, {"u": {0: 1}}]
