"""The writer of test tables against files that real Hive wrote, and against the documented layout."""

from __future__ import annotations

import struct
from pathlib import Path

import pyarrow.orc as pa_orc
import pyorc
import pytest

from tests.connectors.hive.acid.writer import (
    AcidLocation,
    Event,
    Flush,
    OrcLayout,
    RowKey,
    bucket_of_property,
    bucket_property,
    original_keys,
    write_acid_file,
)
from tests.hive_corpus import require_corpus

_FIELDS = "id:int,s:string"


@pytest.mark.parametrize(
    "name",
    [
        "acid_flat/table/delta_0000001_0000001_0000/bucket_00000_0",
        "acid_flat/table/delete_delta_0000003_0000003_0000/bucket_00000_0",
        "acid_minor/table/delta_0000001_0000004_v0000245/bucket_00000",
        "acid_minor/table/delete_delta_0000001_0000004_v0000245/bucket_00000",
        "acid_major/table/base_0000006_v0000258/bucket_00000",
        "acid_bucketed/table/delta_0000002_0000002_0001/bucket_00002_0",
    ],
)
def test_files_are_as_hives(tmp_path: Path, name: str) -> None:
    real = require_corpus() / name
    with real.open("rb") as file:
        theirs = pyorc.Reader(file)
        lines, metadata, schema, writer = list(theirs), theirs.user_metadata, str(theirs.schema), theirs.writer_id
    events = [Event(RowKey(*line[1:4]), line[4], line[5]) for line in reversed(lines)]
    fields = schema.partition("row:struct<")[2].removesuffix(">>")
    write_acid_file(tmp_path / "file", fields, events)
    with (tmp_path / "file").open("rb") as file:
        ours = pyorc.Reader(file)
        assert str(ours.schema) == schema
        assert list(ours) == lines
        assert ours.user_metadata == metadata
        assert ours.writer_id == writer
    assert (tmp_path / "file").parent == tmp_path
    assert (real.parent / "_orc_acid_version").read_text() == "2"


def test_markers_of_compaction_are_as_hives(tmp_path: Path) -> None:
    real = require_corpus() / "acid_major/table/base_0000006_v0000258"
    folder = AcidLocation(tmp_path, _FIELDS)
    folder.major_compaction(6, {RowKey(1, bucket_property(0), 0): (1, "a")}, 258)
    made = tmp_path / real.name
    assert sorted(path.name for path in made.iterdir()) == sorted(path.name for path in real.iterdir())
    for path in real.glob("_*"):
        assert (made / path.name).read_bytes() == path.read_bytes()


def test_side_files_tell_the_ends_of_transactions(tmp_path: Path) -> None:
    real = require_corpus() / "acid_streaming_open/table/delta_0000002_0000006"
    folder = AcidLocation(tmp_path, _FIELDS)
    rows = [[(1, "a"), (2, "b")], [(3, "c")], []]
    flushes = [Flush(write_id, values) for write_id, values in enumerate(rows, 2)]
    folder.stream(0, flushes, unflushed=[(9, "lost")], closed=False)
    made = tmp_path / "delta_0000002_0000004"
    assert {path.name for path in made.iterdir()} == {path.name for path in real.iterdir()}
    first, *lengths = _lengths(made)
    assert first == _lengths(real)[0] == 0
    content = (made / "bucket_00000").read_bytes()
    assert len(content) > lengths[-1]
    for length, count in zip(lengths, (2, 3, 3), strict=True):
        (tmp_path / "part").write_bytes(content[:length])
        with (tmp_path / "part").open("rb") as file:
            assert len(pyorc.Reader(file)) == count
    with pytest.raises(pyorc.ParseError), (made / "bucket_00000").open("rb") as file:
        pyorc.Reader(file)


def test_bucket_properties_are_hives() -> None:
    known = {(0, 0): 536870912, (0, 1): 536870913, (1, 0): 536936448, (2, 0): 537001984, (1, 2): 536936450}
    assert {pair: bucket_property(*pair) for pair in known} == known
    assert [bucket_of_property(value) for value in known.values()] == [0, 0, 1, 2, 1]


def test_keys_of_original_files_are_hives() -> None:
    # TestTxnNoBuckets.testToAcidConversionMultiBucket
    files = {
        "000002_0": 2,
        "HIVE_UNION_SUBDIR_16/000001_0": 1,
        "HIVE_UNION_SUBDIR_16/000000_0": 1,
        "HIVE_UNION_SUBDIR_15/000000_0": 2,
        "000000_0_copy_1": 1,
        "000001_0": 1,
        "000000_0": 2,
    }
    keys = original_keys(files)
    assert {path: (own[0].bucket, [key.row_id for key in own]) for path, own in keys.items()} == {
        "000000_0": (536870912, [0, 1]),
        "000000_0_copy_1": (536870912, [2]),
        "HIVE_UNION_SUBDIR_15/000000_0": (536870912, [3, 4]),
        "HIVE_UNION_SUBDIR_16/000000_0": (536870912, [5]),
        "000001_0": (536936448, [0]),
        "HIVE_UNION_SUBDIR_16/000001_0": (536936448, [1]),
        "000002_0": (537001984, [0, 1]),
    }
    assert {key.write_id for own in keys.values() for key in own} == {0}


def test_statements_of_a_transaction(tmp_path: Path) -> None:
    folder = AcidLocation(tmp_path, _FIELDS, attempt=0)
    first = folder.insert(5, {0: [(1, "a")], 2: [(2, "b"), (3, "c")]}, statement=0)
    second = folder.insert(5, {2: [(4, "d")]}, statement=1)
    assert set(first) == {RowKey(5, 536870912, 0), RowKey(5, 537001984, 0), RowKey(5, 537001984, 1)}
    assert set(second) == {RowKey(5, 537001985, 0)}
    changed = folder.update(6, {RowKey(5, 537001984, 1): (3, "C")}, statement=0, insert_statement=1)
    assert set(changed) == {RowKey(6, 537001985, 0)}
    assert _files(tmp_path) == {
        "delta_0000005_0000005_0000/bucket_00000_0",
        "delta_0000005_0000005_0000/bucket_00002_0",
        "delta_0000005_0000005_0001/bucket_00002_0",
        "delete_delta_0000006_0000006_0000/bucket_00002_0",
        "delta_0000006_0000006_0001/bucket_00002_0",
    }
    [line] = _lines(tmp_path / "delete_delta_0000006_0000006_0000/bucket_00002_0")
    assert line == (2, 5, 537001984, 1, 6, None)


@pytest.mark.parametrize(
    ("key_index", "told"),
    [
        ("right", b"1,536870912,1;1,536870912,2;"),
        ("empty", b""),
        ("short", b"1,536870912,1;"),
        ("long", b"1,536870912,1;1,536870912,2;1,536870912,2;"),
        ("garbled", b"not,a;keynot,a;key"),
        ("absent", None),
    ],
)
def test_stripes_strides_and_key_indexes(tmp_path: Path, key_index: str, told: bytes | None) -> None:
    layout = OrcLayout(stripe_rows=2, stride=0, key_index=key_index)  # type: ignore[arg-type]
    folder = AcidLocation(tmp_path, _FIELDS, layout)
    folder.insert(1, {0: [(1, "a"), (2, "b"), (3, "c")]})
    path = tmp_path / "delta_0000001_0000001_0000" / "bucket_00000"
    with path.open("rb") as file:
        reader = pyorc.Reader(file)
        assert reader.row_index_stride == 0
        assert [len(reader.read_stripe(number)) for number in range(reader.num_of_stripes)] == [2, 1]
        assert reader.user_metadata.get("hive.acid.key.index") == told
    assert pa_orc.ORCFile(str(path)).read(["row.id"])["row"].to_pylist() == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_files_of_a_compaction_by_query(tmp_path: Path) -> None:
    folder = AcidLocation(tmp_path, _FIELDS, OrcLayout(query_compacted=True))
    folder.minor_compaction(1, 2, [Event(RowKey(1, bucket_property(0), 0), 1, (1, "a"))])
    assert _files(tmp_path) == {"delta_0000001_0000002/bucket_00000"}
    with (tmp_path / "delta_0000001_0000002" / "bucket_00000").open("rb") as file:
        reader = pyorc.Reader(file)
        assert str(reader.schema).startswith("struct<operation:int,originaltransaction:bigint,bucket:int,rowid:bigint")
        assert reader.user_metadata == {}


def _lengths(folder: Path) -> list[int]:
    return [value for (value,) in struct.iter_unpack(">q", (folder / "bucket_00000_flush_length").read_bytes())]


def _files(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)) for path in found if not path.name.startswith("_")}


def _lines(path: Path) -> list[tuple[object, ...]]:
    with path.open("rb") as file:
        return list(pyorc.Reader(file))
