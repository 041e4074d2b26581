"""ORC files with unions that Hive 4.0.1 itself wrote and read (``union_answers/UnionFiles.java``).

NULL unions of one type, and beside and inside of unions times that nanoseconds of 64 bits do not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile

import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connector_spi.errors import ConnectorError, CorruptFileError
from connector_spi.handles import ColumnHandle
from connectors.hive.connector import HiveConnector
from connectors.toolkit.orc.reader import orc_page_source
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.formats.test_hive_serdes import decoded_rows, expected_row
from tests.connectors.hive.formats.unions.test_unions import orc_table
from tests.connectors.hive.reading import read_table
from tests.connectors.toolkit.reads import whole_file

_FOLDER = Path(__file__).parent / "union_answers"


@dataclass(frozen=True)
class _File:
    """A file of the columns ``c0``, ``c1`` and so on, and its rows as Hive printed them."""

    name: str
    types: tuple[str, ...]
    rows: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(f"c{at}", parse_hive_type(text)) for at, text in enumerate(self.types)])


def _files() -> Iterator[_File]:
    text = (_FOLDER / "orc.tsv").read_text()
    for block in text.removeprefix("file\t").split("\nfile\t"):
        (name, types, times), *lines = [line.split("\t") for line in block.splitlines()]
        yield _File(name, tuple(types.split(";")), tuple(line[2] for line in lines) * int(times))


_FILES = {file.name: file for file in _files()}


@pytest.mark.parametrize("name", _FILES)
def test_rows_are_those_of_hive(hive: HiveConnector, tmp_path: Path, name: str) -> None:
    file = _FILES[name]
    columns = {f"c{at}": text for at, text in enumerate(file.types)}
    copyfile(_FOLDER / f"{name}.orc", orc_table(hive, tmp_path, columns))
    expected = [expected_row(row, file.schema) for row in file.rows]
    found = read_table(hive, "s", "t").combine_chunks().to_batches()[0]
    assert decoded_rows(found.columns, file.schema) == expected
    for at, column in enumerate(columns):
        alone = read_table(hive, "s", "t", [column]).combine_chunks().to_batches()[0]
        assert decoded_rows(alone.columns, pa.schema([file.schema.field(at)])) == [[row[at]] for row in expected]


def _read(path: Path, *columns: ColumnHandle) -> pa.Table:
    with orc_page_source(FileSystem(), whole_file(path, columns)) as source:
        found = pa.Table.from_batches(source, source.schema)
        found.validate()
        return found


@pytest.mark.parametrize("name", ["one_nested", "inside_nested"])
def test_fields_of_structs_alone(name: str) -> None:
    path = _FOLDER / f"{name}.orc"
    whole = parse_hive_type(_FILES[name].types[0])
    union = pa.struct([whole.field("u")])
    everything = _read(path, ColumnHandle("c0", whole)).column(0).to_pylist()
    expected = [row and {"u": row["u"]} for row in everything]
    assert _read(path, ColumnHandle("c0", union)).column(0).to_pylist() == expected
    assert any(row and row["u"] is None for row in expected)


@pytest.mark.slow
def test_damage_ends_in_rows_or_an_error(tmp_path: Path) -> None:
    path = tmp_path / "f.orc"
    file = _FILES["inside_plain"]
    content = (_FOLDER / f"{file.name}.orc").read_bytes()
    columns = [ColumnHandle(field.name, field.type) for field in file.schema]
    ended: set[object] = set()
    for at in range(3, len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        try:
            ended.add(_read(path, *columns).num_rows)
        except ConnectorError as error:
            ended.add(type(error))
    assert {len(file.rows), CorruptFileError} <= ended
