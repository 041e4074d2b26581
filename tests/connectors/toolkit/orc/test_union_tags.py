"""Damaged unions of ORC: before ORC's C++ library sees them, which would end the process."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from connector_spi.errors import CorruptFileError
from connector_spi.handles import ColumnHandle
from connectors.toolkit.orc.reader import orc_page_source, read_orc_schema
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import whole_file

# Runs are written for three and more that are the same.
_TAGS = [0, 1, 0, 1, 1, 0, 1, 0, 0, 1] * 5
_WRITTEN = bytes([256 - 50, *_TAGS])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of unions beside numbers, neither of them compressed, and tags that stand as they are."""
    children = [pa.array(range(50), pa.int32()), pa.array([f"t{at}" for at in range(50)])]
    unions = pa.UnionArray.from_sparse(pa.array(_TAGS, pa.int8()), children)
    lists = pa.ListArray.from_arrays(pa.array(range(51), pa.int32()), unions)
    path = tmp_path / "f.orc"
    table = pa.table({"n": pa.array(range(50), pa.int32()), "u": lists})
    orc.write_table(table, str(path), compression="uncompressed")
    assert path.read_bytes().count(_WRITTEN) == 1
    return path


def read(path: Path, *names: str) -> list[dict[str, object]]:
    union = pa.struct([("tag", pa.int8()), ("field0", pa.int32()), ("field1", pa.string())])
    types = {"n": pa.int32(), "u": pa.list_(union)}
    columns = tuple(ColumnHandle(name, types[name]) for name in names)
    with orc_page_source(FileSystem(), whole_file(path, columns)) as source:
        found: list[dict[str, object]] = pa.Table.from_batches(source).to_pylist()
        return found


def test_sound_unions_are_read(file: Path) -> None:
    found = [row["u"] for row in read(file, "n", "u")]
    assert found == [
        [{"tag": tag, "field0": None if tag else at, "field1": f"t{at}" if tag else None}]
        for at, tag in enumerate(_TAGS)
    ]


@pytest.mark.parametrize("tag", [2, 127, 128, 255])
def test_a_number_of_no_branch_is_found(file: Path, tag: int) -> None:
    damaged = _WRITTEN[:30] + bytes([tag]) + _WRITTEN[31:]
    file.write_bytes(file.read_bytes().replace(_WRITTEN, damaged))
    with pytest.raises(CorruptFileError, match=f"of 2 types, and one has the number {tag}"):
        read(file, "u")
    assert [row["n"] for row in read(file, "n")] == list(range(50))


def test_a_run_of_such_a_number_is_found(file: Path) -> None:
    runs = bytes([17, 9]) * 2 + bytes([256 - 46, *_TAGS[:46]])
    file.write_bytes(file.read_bytes().replace(_WRITTEN, runs))
    with pytest.raises(CorruptFileError, match="number 9"):
        read(file, "u")


def test_a_name_that_is_no_text_is_found(file: Path) -> None:
    content = file.read_bytes()
    at = content.rindex(b"n\x1a\x01u") if b"n\x1a\x01u" in content else content.rindex(b"\x1a\x01n") + 2
    file.write_bytes(content[:at] + b"\xff" + content[at + 1 :])
    with pytest.raises(CorruptFileError):
        read_orc_schema(FileSystem(), str(file))
