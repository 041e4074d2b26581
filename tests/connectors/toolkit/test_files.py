"""Storage paths, partition values, damaged files."""

from __future__ import annotations

import pickle
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from connector_spi.errors import CorruptFileError, ExternalError, FileMissingError, StorageError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Value
from connectors.toolkit.orc.reader import orc_page_source, read_orc_schema
from connectors.toolkit.parquet.reader import parquet_page_source, read_parquet_schema
from connectors.toolkit.partition_values import (
    constant_array,
    escape_path_name,
    parse_partition_path,
    partition_value,
    unescape_path_name,
)
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import Reader, whole_file

_ID = ColumnHandle("id", pa.int64())


@pytest.mark.parametrize("prefix", ["", "file:", "file://"])
def test_listing_gives_paths_as_the_root_is_written(tmp_path: Path, prefix: str) -> None:
    folder = tmp_path / "p=a%2Fb c"
    (folder / "_sub").mkdir(parents=True)
    (folder / "b").write_bytes(b"12")
    (folder / "_sub" / "ä#?").write_bytes(b"1")
    files = pickle.loads(pickle.dumps(FileSystem()))
    root = f"{prefix}{folder}"
    flat = files.list(root + "/")
    assert [(info.path, info.size, info.is_directory) for info in flat] == [
        (f"{root}/_sub", 0, True),
        (f"{root}/b", 2, False),
    ]
    assert [info.path for info in files.list(root, recursive=True)] == [f"{root}/_sub", f"{root}/_sub/ä#?", f"{root}/b"]
    assert files.read_bytes(f"{root}/_sub/ä#?") == b"1"
    assert flat[1].modified_millis == (folder / "b").stat().st_mtime_ns // 1_000_000


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    files = FileSystem()
    for act in (files.list, files.open, files.read_text):
        with pytest.raises(FileMissingError, match="nowhere"):
            act(f"{tmp_path}/nowhere")
    assert files.info(f"{tmp_path}/nowhere") is None
    with pytest.raises(StorageError, match="relative/path"):
        files.list("relative/path")


@pytest.mark.parametrize(
    ("reader", "schema"), [(parquet_page_source, read_parquet_schema), (orc_page_source, read_orc_schema)]
)
@pytest.mark.parametrize("damage", ["cut", "text", "tiny", "empty", "middle"])
def test_damaged_files_are_named(tmp_path: Path, reader: Reader, schema: object, damage: str) -> None:
    path = tmp_path / "data"
    table = pa.table({"id": pa.array([n * 7919 % 10007 for n in range(20_000)])})
    if reader is parquet_page_source:
        pq.write_table(table, path, use_dictionary=False)
    else:
        orc.write_table(table, str(path), compression="zlib")
    whole = path.read_bytes()
    content = {
        "cut": whole[: len(whole) // 2],
        "text": b"no such format at all\n" * 100,
        "tiny": b"x",
        "empty": b"",
        "middle": whole[:500] + b"\xff" * 2000 + whole[2500:],
    }[damage]
    path.write_bytes(content)
    with (
        pytest.raises(CorruptFileError, match=str(path)),
        reader(FileSystem(), whole_file(path, (_ID,))) as pages,
    ):
        list(pages)


def test_a_file_that_vanished_is_named(tmp_path: Path) -> None:
    for reader in (parquet_page_source, orc_page_source):
        with (
            pytest.raises(FileMissingError, match="gone"),
            reader(FileSystem(), FileRead(FileRange(f"{tmp_path}/gone", 0, 10), (_ID,))) as pages,
        ):
            next(pages)


def test_a_parquet_file_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "data"
    pq.write_table(pa.table({"id": pa.array(range(100_000))}), path, row_group_size=100_000)
    with parquet_page_source(FileSystem(), whole_file(path, (_ID,), batch_rows=1000)) as pages:
        sizes = [batch.num_rows for batch in pages]
    assert max(sizes) <= 1000
    assert sum(sizes) == 100_000


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "zlib", "lz4", "zstd"])
def test_orc_codecs(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "data"
    values = ["text" * 20 + str(n % 10) for n in range(5000)]
    orc.write_table(pa.table({"v": pa.array(values)}), str(path), compression=codec)
    column = ColumnHandle("v", pa.string())
    with orc_page_source(FileSystem(), whole_file(path, (column,))) as pages:
        assert [value for batch in pages for value in batch.column(0).to_pylist()] == values


def test_orc_maps_and_names_with_dots(tmp_path: Path) -> None:
    path = tmp_path / "data"
    table = pa.table(
        {
            "a.b": pa.array([1, 2]),
            "times": pa.array([[("k", datetime(2024, 1, 1))], None], pa.map_(pa.string(), pa.timestamp("us"))),
            "a": pa.array([{"b": 5}, None], pa.struct([("b", pa.int64())])),
        }
    )
    orc.write_table(table, str(path))
    columns = tuple(ColumnHandle(name, table.schema.field(name).type) for name in ("a", "times", "a.b"))
    with orc_page_source(FileSystem(), whole_file(path, columns)) as pages:
        assert pa.Table.from_batches(pages).to_pylist() == table.select(["a", "times", "a.b"]).to_pylist()


@pytest.mark.parametrize(
    ("text", "arrow", "expected"),
    [
        ("12", pa.int32(), 12),
        ("-07", pa.int8(), -7),
        ("true", pa.bool_(), True),
        ("2024-1-5", pa.date32(), date(2024, 1, 5)),
        ("2024-01-05 10:11:12.5", pa.timestamp("us"), datetime(2024, 1, 5, 10, 11, 12, 500000)),
        ("1.5", pa.decimal128(5, 2), Decimal("1.50")),
        ("a/b", pa.string(), "a/b"),
        ("", pa.string(), ""),
        ("__HIVE_DEFAULT_PARTITION__", pa.string(), None),
        ("__HIVE_DEFAULT_PARTITION__", pa.int32(), None),
    ],
)
def test_partition_values(text: str, arrow: pa.DataType, expected: Value | None) -> None:
    value = partition_value(text, arrow, "key")
    assert value == expected
    assert constant_array(value, arrow, 2).to_pylist() == [expected, expected]


@pytest.mark.parametrize(
    ("text", "arrow"),
    [("x", pa.int32()), ("300", pa.int8()), ("1.0", pa.int32()), ("maybe", pa.bool_()), ("2024-02-30", pa.date32()),
     ("1000", pa.decimal128(3, 1)), ("", pa.int32())],
)  # fmt: skip
def test_partition_values_of_another_type_are_named(text: str, arrow: pa.DataType) -> None:
    with pytest.raises(ExternalError, match="key p of partition x") as caught:
        partition_value(text, arrow, "key p of partition x")
    assert caught.value.code.name == "BAD_PARTITION_VALUE"


def test_partition_paths() -> None:
    assert parse_partition_path("DS=2024-01-01/region=a%2Fb") == (("ds", "2024-01-01"), ("region", "a/b"))
    assert parse_partition_path("x=1/raw/y=2") == (("y", "2"),)
    assert parse_partition_path("") == ()
    # Hive escapes { and leaves } (RECIPE of the corpus).
    assert escape_path_name("a{b}:c") == "a%7Bb}%3Ac"
    assert unescape_path_name("100%25%zz") == "100%%zz"
