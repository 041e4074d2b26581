"""Avro files in tables whose schema is another: what Hive 4.0.1 itself shows.

``answers/answers.tsv`` was written by ``AvroAnswers.java`` beside it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import cast

import fastavro
import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connector_spi.errors import NotSupportedError
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.formats.avro.tables import Row, make_table
from tests.connectors.hive.formats.test_hive_serdes import canonical, decoded_rows, expected_row
from tests.connectors.hive.reading import read_table

Schema = dict[str, object]
_FIXED = b"\xff\xff\xff\x85"
# Where Hive fails: it asks the file's schema for the types of decimals, and of fields in records, that are defaults
# (``AvroDeserializer.deserializePrimitive``, ``deserializeStruct``), wants a union in the file where the table has one
# (``deserializeUnion``), and Avro in Java lets an alias go before a name that is there, too. Rows are those of Avro's
# specification, or what stands in docs/hive-formats.md.
_BEYOND_HIVE: Mapping[str, Sequence[Sequence[object]]] = {
    "default in a record: decimals": [
        [{"x": 1, "d": Decimal("12.34"), "m": Decimal("-0.01"), "z": Decimal(0), "fx": _FIXED}]
    ],
    "default in a record: wide decimals": [[{"x": 1, "d": Decimal((1234 << 80) + 1).scaleb(-10)}]],
    "default in a record: decimals that may be NULL": [[{"x": 1, "d": Decimal("12.34"), "n": None}]],
    "default in a record: records": [[{"x": 1, "q": {"a": 3, "b": "own"}, "o": None}]],
    "default in a record: in lists of records": [
        [{"x": 1, "a": [{"a": 5, "b": Decimal("0.7")}, {"a": 6, "b": Decimal("-1.6")}]}]
    ],
    "defaults of decimals as columns": [[1, Decimal("12.34"), _FIXED, "1969-12-31 23:59:59.995", "1969-12-31"]],
    "a default of the second type of a union": [[{"x": 1, "y": 5}]],
    "an alias beside the name in a record": [[{"y": 2}]],
    "an alias of a column beside its name": [[2]],
    "a name in another case in a record": [[{"x": 1}]],
    "symbols without a default": [["B"], ["C"]],
    "a type that became one of a union": [[{"tag": 1, "field1": 1}, {"tag": 1, "field1": "x"}]],
    "a type or NULL that became one of a union": [[{"tag": 1, "field1": 1}], [None]],
    "a type that became one of a union in a record": [[{"u": {"tag": 1, "field1": 1}, "w": {"tag": 0, "field0": 3}}]],
    "a record that became one of a union": [[{"tag": 1, "field1": {"x": 1, "y": 2}}]],
    "a list that became one of a union": [[{"tag": 1, "field1": [1]}]],
    "a record of a union in another namespace": [
        [{"tag": 1, "field1": {"x": 1, "d": 1}}],
        [{"tag": 0, "field0": {"y": 1, "d": 2}}],
    ],
    "wider types in a union of several": [[{"tag": 1, "field1": 1.0}], [{"tag": 0, "field0": "a"}]],
    "wider types in a union": [[{"tag": 0, "field0": 1}]],
}
_REFUSED = {"no default in a record", "no default of a field that may be NULL"}


@dataclass(frozen=True)
class Case:
    """A file's schema, the table's, the columns that Hive makes of it, and records as JSON with Hive's answers."""

    name: str
    writer: Schema
    reader: Schema
    columns: Mapping[str, str]
    rows: tuple[tuple[str, str], ...]

    @property
    def schema(self) -> pa.Schema:
        """The columns' Arrow types."""
        return pa.schema([(name, parse_hive_type(text)) for name, text in self.columns.items()])

    @property
    def expected(self) -> list[list[object]]:
        """The rows, in the form of ``canonical``."""
        if self.name not in _BEYOND_HIVE:
            return [expected_row(_quoted(answer), self.schema) for _, answer in self.rows]
        given = _BEYOND_HIVE[self.name]
        return [[canonical(cell, field.type) for cell, field in zip(row, self.schema, strict=True)] for row in given]


def _fields(types: str) -> dict[str, str]:
    """Names and types of the fields in the text of a struct."""
    parts, depth = [""], 0
    for letter in types.removeprefix("struct<").removesuffix(">"):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return dict(part.split(":", 1) for part in parts)


def _quoted(answer: str) -> str:
    # Hive prints binary as it is, without quotes.
    return re.sub(r":(?!true|false|null)([a-z]+)(?=[,}])", r':"\1"', answer)


def _cases() -> Iterator[Case]:
    text = (Path(__file__).parent / "answers" / "answers.tsv").read_text()
    for block in text.removeprefix("case\t").split("\ncase\t"):
        (name, writer, reader), (_, types), *rows = [line.split("\t") for line in block.splitlines()]
        pairs = tuple((record, answer) for _, record, answer in rows)
        yield Case(name, json.loads(writer), json.loads(reader), _fields(types), pairs)


@pytest.mark.parametrize("case", [*_cases()], ids=lambda case: case.name)
def test_rows_are_those_that_hive_shows(hive: HiveConnector, tmp_path: Path, case: Case) -> None:
    failed = any(answer == "ERROR" for _, answer in case.rows)
    assert failed == (case.name in {*_BEYOND_HIVE, *_REFUSED})
    records = [[*fastavro.json_reader(io.StringIO(text), case.writer)] for text, _ in case.rows]
    files = [(case.writer, cast("list[Row]", rows)) for rows in records]
    make_table(hive, tmp_path, case.columns, files, {"avro.schema.literal": json.dumps(case.reader)})
    if case.name in _REFUSED:
        with pytest.raises(NotSupportedError, match=r"y in column 'c' .* no default"):
            read_table(hive, "s", "t")
        return
    found = read_table(hive, "s", "t").combine_chunks()
    assert decoded_rows([column.chunk(0) for column in found.columns], case.schema) == case.expected
