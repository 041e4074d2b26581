"""Partitions whose unions have other types than the table's, as Hive 4.0.1 brings them to the table's.

``union_answers/CoercedUnions.java`` asked it. Where the value of a union is NULL, or becomes so, Hive loses the number
and fails (``StandardUnionObjectInspector.setFieldAndTag``); here the number stays, and the value is NULL.

It was asked of the classes for Avro, too; those answers are not used, since Hive reads partitions of Avro by the types
of the table (``test_place_answers``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, Partition, SerDeInfo, StorageDescriptor, Table
from catalog.metastore.types import parse_hive_type
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hive.connector import HiveConnector
from connectors.toolkit.schema.union_structs import branch_count
from tests.connectors.hive.formats.hadoop_writer import rc_file, sequence_file
from tests.connectors.hive.formats.test_hive_serdes import decoded_rows, expected_row
from tests.connectors.hive.formats.unions.union_tables import UNION_KINDS
from tests.connectors.hive.reading import read_table, scan_table

_KINDS = {"text": 0, "sequence_binary": 1}
"""Formats of the partition, and which of Hive's answers is about their SerDes."""
_NO_CAST = {("uniontype<int,string>", "uniontype<date,string>"), ("uniontype<date,int>", "uniontype<int,int>")}
"""Hive finds out at the first value of such a type that it cannot be brought to the other; refused at once here."""


@dataclass(frozen=True)
class _Row:
    """A row of a partition.

    Attributes:
        record: As ``LazySimpleSerDe`` reads it.
        own: As Hive prints it by the partition's type.
        answers: As Hive prints it by the table's, for the SerDes of text and binary.
        binary: The row as ``LazyBinarySerDe`` writes it.
    """

    record: bytes
    own: str
    answers: tuple[str, str]
    binary: bytes


@dataclass(frozen=True)
class _Case:
    """The types of ``c0`` in a partition and in its table, and rows."""

    own: str
    of_table: str
    rows: tuple[_Row, ...]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("c0", parse_hive_type(self.of_table))])


def _cases() -> Iterator[_Case]:
    text = (Path(__file__).parent / "union_answers" / "coerced.tsv").read_text()
    for block in text.removeprefix("case\t").split("\ncase\t"):
        first, *lines = [line.split("\t") for line in block.splitlines()]
        rows = (_Row(_bytes(one[1]), one[2], (one[3], one[4]), _bytes(one[6])) for one in lines)
        yield _Case(first[0], first[1], tuple(rows))


def _bytes(text: str) -> bytes:
    return re.sub(rb"\\x(..)", lambda found: bytes([int(found[1], 16)]), text.encode())


_CASES = tuple(_cases())


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case.own} as {case.of_table}")
def test_values_are_brought_to_the_tables_types_as_hive_does(hive: HiveConnector, tmp_path: Path, case: _Case) -> None:
    hive.metastore.writes.create_database(Database("s"))
    columnar = {"rc_text": 0, "rc_binary": 1} if case in _CASES[:2] else {}
    for kind, answer in (_KINDS | columnar).items():
        refused = [row for row in case.rows if _is_refused(row.answers[answer], row.own, case)]
        good = [row for row in case.rows if row not in refused]
        # Types are refused before a row is looked at.
        parts = [[row] for row in refused] if good else [refused][: len(refused)]
        for at, part in enumerate(parts):
            _make_table(hive, tmp_path, f"{kind}{at}", kind, case, part)
            with pytest.raises(NotSupportedError, match="'c0'"):
                read_table(hive, "s", f"{kind}{at}", ["c0"])
        if good:
            _make_table(hive, tmp_path, kind, kind, case, good)
            found = read_table(hive, "s", kind, ["c0"]).combine_chunks().to_batches()[0]
            expected = [_expected(row.answers[answer], row.own, case.schema) for row in good]
            assert decoded_rows(found.columns, case.schema) == expected, kind


def test_there_are_enough_answers() -> None:
    answers = [answer for case in _CASES for row in case.rows for answer in row.answers]
    assert len(answers) > 600
    assert sum(answer.startswith("{") for answer in answers) > 270


def test_branches_that_the_table_lacks_do_not_hinder_the_others(hive: HiveConnector, tmp_path: Path) -> None:
    hive.metastore.writes.create_database(Database("s"))
    case = _Case("uniontype<int,string,date>", "uniontype<bigint,string>", ())
    rows = [_Row(record, "", ("", ""), b"") for record in (b"0\x025", b"1\x02x", b"2\x022024-02-29", b"\\N")]
    _make_table(hive, tmp_path, "t", "text", case, rows)
    with pytest.raises(NotSupportedError, match="number 2, which the table lacks"):
        read_table(hive, "s", "t", ["c0"])
    whole = parse_hive_type(case.of_table)
    narrow = pa.struct([whole.field("field1")])
    found = scan_table(hive, "s", "t", handles=[ColumnHandle("c0", narrow)]).rows.column("c0")
    assert found.to_pylist() == [{"field1": None}, {"field1": "x"}, {"field1": None}, None]
    added = pa.struct([parse_hive_type("uniontype<bigint,string,date,int>").field("field3")])
    found = scan_table(hive, "s", "t", handles=[ColumnHandle("c0", added)]).rows.column("c0")
    assert found.to_pylist() == [{"field3": None}, {"field3": None}, {"field3": None}, None]


def _make_table(hive: HiveConnector, folder: Path, name: str, kind: str, case: _Case, rows: list[_Row]) -> None:
    """The table ``s.<name>`` of the table's type, with one partition of the format and of the partition's type."""
    location = folder / name
    location.mkdir()
    (location / "000000_0").write_bytes(_content(kind, case, rows))
    input_format, serde, _ = UNION_KINDS[kind]
    told = [
        StorageDescriptor(
            (FieldSchema("c0", one),), f"file://{location}", input_format, serde=SerDeInfo(serde, Parameters())
        )
        for one in (case.of_table, case.own)
    ]
    keys = (FieldSchema("p", "string"),)
    hive.metastore.writes.create_table(Table("s", name, told[0], keys, Parameters(), "EXTERNAL_TABLE"))
    hive.metastore.writes.add_partitions("s", name, [Partition("s", name, ("1",), told[1])])


def _content(kind: str, case: _Case, rows: list[_Row]) -> bytes:
    if kind == "text":
        return b"".join(row.record + b"\n" for row in rows)
    if kind == "sequence_binary":
        return sequence_file([row.binary for row in rows], value_class="BytesWritable")
    # A row begins with a byte that tells whether the column is NULL; a value that is nested has its length before it.
    cells = [row.binary[5:] if kind == "rc_binary" else row.record for row in rows]
    return rc_file([cells], every=20)


def _printed(row: str) -> object:
    """The value of ``c0`` in a row that Hive printed, the numbers of unions as texts."""
    return json.loads(re.sub(r"([{,])(-?[0-9]+):", r'\1"\2":', row))["c0"]


def _is_refused(answer: str, own: str, case: _Case) -> bool:
    value = _printed(own)
    if answer == "REFUSED" or (case.own, case.of_table) in _NO_CAST:
        return True
    return answer == "ERROR" and _lacks_branch(value, case.schema.field(0).type)


def _lacks_branch(value: object, arrow: pa.DataType) -> bool:
    """Whether a value by the partition's type has a branch that the table's type lacks."""
    if isinstance(value, list):
        return any(_lacks_branch(one, arrow.value_type) for one in value)
    if not isinstance(value, dict):
        return False
    branches = branch_count(arrow)
    if branches is not None:
        ((tag, inner),) = value.items()
        return int(tag) >= branches or _lacks_branch(inner, arrow.field(int(tag) + 1).type)
    if pa.types.is_map(arrow):
        return any(_lacks_branch(one, arrow.item_type) for one in value.values())
    return any(_lacks_branch(value[name], arrow.field(name).type) for name in value if arrow.get_field_index(name) >= 0)


def _expected(answer: str, own: str, schema: pa.Schema) -> list[object]:
    """What Hive printed; where it failed, or took bytes behind the value for it, the value is NULL."""
    if answer == "ERROR" or re.search("[0-9]:null", own):
        ((tag, _),) = cast(Mapping[str, object], _printed(own)).items()
        return [(int(tag), None)]
    return expected_row(answer, schema)
