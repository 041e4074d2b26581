"""Columns of uniontype, as SerDes of Hive 4.0.1 itself read and wrote them (``union_answers/UnionAnswers.java``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import (
    Database,
    FieldSchema,
    Parameters,
    Partition,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hive.connector import HiveConnector
from connectors.hive.formats.file_format import FileRequest, FormatSettings
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.rcfile.format import RcFileFormat
from connectors.hive.formats.row_serde import RowLayout
from connectors.hive.formats.row_serdes import find_row_serde
from connectors.hive.schema.text_types import apply_text_rule, text_rule
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.formats.hadoop_writer import rc_file
from tests.connectors.hive.formats.test_hive_serdes import decoded_rows, expected_row
from tests.connectors.hive.formats.unions.hive_union_answers import REFUSED, UnionCase, union_cases
from tests.connectors.hive.formats.unions.union_tables import UNION_KINDS, make_union_table, union_columns
from tests.connectors.hive.reading import read_table, scan_table

_Decode = Callable[[Sequence[bytes]], Sequence[pa.Array]]
_SERDES = "org.apache.hadoop.hive.serde2"
_LAZY = f"{_SERDES}.lazy.LazySimpleSerDe"
_CASES = [case for case in union_cases() if not case.serde.endswith(("RegexSerDe", "OpenCSVSerde"))]


def _decoder(case: UnionCase, folder: Path) -> _Decode:
    if "columnar" in case.serde:
        return lambda records: _read_cells(case, records, folder)
    layout = RowLayout(case.schema, tuple(range(len(case.types))), case.properties, "UTC", "the file")
    decode = find_row_serde(case.serde, "the file").decoder(layout)
    return lambda records: decode(pa.array([b"x", *records], pa.binary()).slice(1))


def _read_cells(case: UnionCase, cells: Sequence[bytes], folder: Path) -> list[pa.Array]:
    content = rc_file([cells], every=100)
    path = folder / "cells.rc"
    path.write_bytes(content)
    columns = tuple(ColumnHandle(field.name, field.type) for field in case.schema)
    storage = FileStorage("rcfile", "", case.serde, tuple(case.properties.items()))
    request = FileRequest(
        files=FileSystem(),
        read=FileRead(FileRange(str(path), 0, len(content)), columns),
        storage=storage,
        declared=case.schema,
        table_columns=tuple(case.schema.names),
        settings=FormatSettings(),
    )
    with RcFileFormat().page_source(request) as source:
        return list(pa.Table.from_batches(source, case.schema).combine_chunks().to_batches()[0].columns)


def _rows(case: UnionCase, decode: _Decode, records: Sequence[bytes]) -> list[list[object]]:
    arrays = []
    for array, text in zip(decode(records), case.types, strict=True):
        rule = text_rule(text)
        arrays.append(array if rule is None else apply_text_rule(array, rule))
    return decoded_rows(arrays, case.schema)


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case.serde.rpartition('.')[2]} {';'.join(case.types)}")
def test_unions_are_read_as_hive_reads_them(case: UnionCase, tmp_path: Path) -> None:
    try:
        decode = _decoder(case, tmp_path)
    except NotSupportedError:
        assert all(answer == REFUSED for _, answer in case.rows)
        return
    good: list[tuple[bytes, list[object]]] = []
    for record, answer in case.rows:
        if answer == REFUSED:
            with pytest.raises((CorruptFileError, NotSupportedError)):
                decode([record])
            continue
        expected = expected_row(answer, case.schema)
        assert _rows(case, decode, [record]) == [expected], record
        good.append((record, expected))
    # Together, so that each batch has all branches.
    if good:
        assert _rows(case, decode, [record for record, _ in good]) == [expected for _, expected in good]


def test_there_are_enough_answers() -> None:
    answers = [answer for case in _CASES for _, answer in case.rows]
    assert len(answers) > 400
    assert answers.count(REFUSED) > 100


def test_a_number_with_an_escape_is_refused() -> None:
    case = UnionCase(_LAZY, ("uniontype<int,string>",), {"escape.delim": "\\"}, (), False)
    decode = _decoder(case, Path())
    for record in (b"\\1\x02b", b"\\\x021\x02b", b"\x02\\\x02"):
        with pytest.raises(ConnectorError, match="union"):
            decode([record])


@pytest.mark.parametrize("kind", [kind for kind in UNION_KINDS if kind not in ("orc", "avro")])
def test_tables_of_each_format(hive: HiveConnector, tmp_path: Path, kind: str) -> None:
    make_union_table(hive, tmp_path, kind)
    columns = union_columns("binary" in kind)
    found = read_table(hive, "s", kind)
    assert found.num_rows > 0
    for at, case in enumerate(columns):
        schema = pa.schema([("c0", case.schema.field(0).type)])
        expected = [expected_row(answer, schema) for _, answer in case.rows]
        rows = decoded_rows([found.column(at).combine_chunks()], schema)
        assert rows == [expected[row % len(expected)] for row in range(found.num_rows)]


@pytest.mark.parametrize("kind", ["text", "rc_binary"])
def test_fields_of_a_union_alone(hive: HiveConnector, tmp_path: Path, kind: str) -> None:
    make_union_table(hive, tmp_path, kind)
    whole = read_table(hive, "s", kind, ["c0"]).column(0).combine_chunks()
    narrow = pa.struct([("field2", pa.struct([("y", pa.string())])), ("tag", pa.int8())])
    found = scan_table(hive, "s", kind, handles=[ColumnHandle("c0", narrow)]).rows.column(0).combine_chunks()
    assert found.to_pylist() == [
        one and {"field2": one["field2"] and {"y": one["field2"]["y"]}, "tag": one["tag"]} for one in whole.to_pylist()
    ]


def test_a_struct_that_looks_like_a_union_is_none(hive: HiveConnector, tmp_path: Path) -> None:
    location = make_union_table(hive, tmp_path, "text")
    fields = (FieldSchema("c0", "struct<tag:tinyint,field0:int,field1:string>"),)
    text = StorageDescriptor(fields, f"file://{location}", UNION_KINDS["text"][0], serde=SerDeInfo(_LAZY, Parameters()))
    hive.metastore.writes.create_table(Table("s", "alike", text, (), Parameters(), "EXTERNAL_TABLE"))
    (location / "000000_0").write_bytes(b"1\x027\x02x\n")
    assert read_table(hive, "s", "alike").to_pylist() == [{"c0": {"tag": 1, "field0": 7, "field1": "x"}}]


def test_partitions_with_other_types_than_unions_are_refused_by_name(hive: HiveConnector, tmp_path: Path) -> None:
    kinds = {"same": "uniontype<int,string>", "text": "string", "alike": "struct<tag:tinyint,field0:int,field1:string>"}
    hive.metastore.writes.create_database(Database("s"))
    for part, kind in kinds.items():
        (tmp_path / part).mkdir()
        (tmp_path / part / "f").write_bytes(b"1\x010\x025\n")
        of_table, own = (_text_storage(tmp_path / part, ("int", one)) for one in ("UNIONTYPE<int, string>", kind))
        keys = (FieldSchema("p", "string"),)
        hive.metastore.writes.create_table(Table("s", part, of_table, keys, Parameters(), "EXTERNAL_TABLE"))
        hive.metastore.writes.add_partitions("s", part, [Partition("s", part, (part,), own)])
        turned = Table("s", f"{part}_turned", own, keys, Parameters(), "EXTERNAL_TABLE")
        hive.metastore.writes.create_table(turned)
        hive.metastore.writes.add_partitions("s", turned.name, [Partition("s", turned.name, (part,), of_table)])
    assert read_table(hive, "s", "same", ["c1"]).to_pylist() == [{"c1": {"tag": 0, "field0": 5, "field1": None}}]
    for part in ("text", "alike"):
        for name in (part, f"{part}_turned"):
            with pytest.raises(NotSupportedError, match=f"'c1' of partition p={part}") as caught:
                read_table(hive, "s", name)
            assert caught.value.code.name == "HIVE_UNSUPPORTED_TYPE"
            assert read_table(hive, "s", name, ["c0"]).to_pylist() == [{"c0": 1}]


def test_serdes_that_have_no_unions_are_refused_by_name(hive: HiveConnector, tmp_path: Path) -> None:
    hive.metastore.writes.create_database(Database("s"))
    (tmp_path / "f").write_bytes(b"a,0:5\n")
    told = {"input.regex": "(.*),(.*)"}
    storage = _text_storage(tmp_path, ("string", "uniontype<int,string>"), f"{_SERDES}.RegexSerDe", told)
    hive.metastore.writes.create_table(Table("s", "t", storage, (), Parameters(), "EXTERNAL_TABLE"))
    with pytest.raises(NotSupportedError, match=r"'c1'.*RegexSerDe") as caught:
        read_table(hive, "s", "t")
    assert caught.value.code.name == "HIVE_UNSUPPORTED_TYPE"


def test_json_is_read_beside_unions(hive: HiveConnector, tmp_path: Path) -> None:
    hive.metastore.writes.create_database(Database("s"))
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "f").write_bytes(b'{"c0":1,"c1":{"0":5}}\n{"c0":2,"c1":null}\n')
    storage = _text_storage(tmp_path / "t", ("int", "uniontype<int,string>"), f"{_SERDES}.JsonSerDe")
    hive.metastore.writes.create_table(Table("s", "t", storage, (), Parameters(), "EXTERNAL_TABLE"))
    assert read_table(hive, "s", "t", ["c0"]).to_pylist() == [{"c0": 1}, {"c0": 2}]
    with pytest.raises(NotSupportedError, match="uniontype"):
        read_table(hive, "s", "t")


def _text_storage(
    location: Path, types: Sequence[str], serde: str = _LAZY, told: Mapping[str, str] | None = None
) -> StorageDescriptor:
    fields = tuple(FieldSchema(f"c{at}", text) for at, text in enumerate(types))
    classes = UNION_KINDS["text"][0]
    return StorageDescriptor(fields, f"file://{location}", classes, serde=SerDeInfo(serde, Parameters.of(told or {})))
