"""RCFile, SequenceFile and Avro files that are written: the bytes of Hive's SerDes, and what others read in them."""

from __future__ import annotations

import datetime as dt
import io
import itertools
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.rcfile.file import rc_groups, read_rc_header
from connectors.hive.formats.sequence.file import read_sequence_header, sequence_values
from connectors.hive.write.file_checks import check_files
from connectors.hive.write.sink.avro.file import AvroFileWriter
from connectors.hive.write.sink.cells.lazy_binary import column_cells, row_cells
from connectors.hive.write.sink.cells.numbers import vint_cells, zigzag_cells
from connectors.hive.write.sink.containers.rcfile import RcFileWriter
from connectors.hive.write.sink.containers.sequence import SequenceFileWriter
from connectors.hive.write.sink.file_writers import WRITTEN_FORMATS
from connectors.toolkit.cells import gather_cells
from connectors.toolkit.codecs.varints import varint_bytes
from connectors.toolkit.storage.byte_source import FileSource
from tests.connectors.hive.formats.hadoop_writer import lazy_binary, lazy_binary_row, vint

LAZY_BINARY = "org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe"
LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
BINARY_COLUMNS = "org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe"
TEXT_COLUMNS = "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"
AVRO = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"
CODECS = ("none", "deflate", "gzip", "bzip2", "snappy", "lz4", "zstd")
PAIR = pa.struct([("u", pa.int64()), ("v", pa.string())])
ROWS = pa.table(
    {
        "b": [True, False, None],
        "t": pa.array([1, -128, None], pa.int8()),
        "h": pa.array([300, -32768, None], pa.int16()),
        "i": pa.array([1, -(2**31), None], pa.int32()),
        "l": pa.array([2**63 - 1, -(2**63), None], pa.int64()),
        "f": pa.array([1.5, -0.0, None], pa.float32()),
        "d": [0.1, float("-inf"), None],
        "p": pa.array([Decimal("1.50"), Decimal("-0.01"), None], pa.decimal128(9, 2)),
        "day": [dt.date(2024, 2, 29), dt.date(1969, 1, 1), None],
        "at": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 4000), dt.datetime(1901, 1, 1), None], pa.timestamp("us")),
        "s": ["a b", "", None],
        "raw": pa.array([b"\x00\xff\n", b"x", None], pa.binary()),
        "m": pa.array([[("x", 1), ("y", None)], [], None], pa.map_(pa.string(), pa.int32())),
        "n": pa.array([[["q"], ["r", ""], None, [None] * 9], [], None], pa.list_(pa.list_(pa.string()))),
        "r": pa.array([{"u": 1, "v": "w"}, {"u": None, "v": None}, None], PAIR),
    }
)


def storage(file_format: str, serde: str, **properties: str) -> FileStorage:
    return FileStorage(file_format, "", serde, tuple((key.replace("_", "."), text) for key, text in properties.items()))


def avro_file(rows: pa.Table, **properties: str) -> bytes:
    sink = pa.BufferOutputStream()
    writer = AvroFileWriter(storage("avro", AVRO, **properties), sink, rows.schema)
    writer.write(rows)
    writer.close()
    return bytes(sink.getvalue())


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_numbers_are_hadoops_and_avros(numbers: list[int]) -> None:
    array = pa.array(numbers, pa.int64()).to_numpy()
    assert vint_cells(array).to_pylist() == [vint(number) for number in numbers]
    zigzag = [varint_bytes((number << 1) ^ (number >> 63)) for number in numbers]
    assert zigzag_cells(array).to_pylist() == zigzag


@given(st.lists(st.one_of(st.none(), st.decimals("-9e35", "9e35", places=2)), min_size=1), st.integers(0, 3))
def test_decimals_are_as_few_bytes_as_java_has(values: list[Decimal | None], skipped: int) -> None:
    array = pa.array([*values, None, Decimal("-1.28")], pa.decimal128(38, 2))[skipped:]
    expected = [None if one is None else lazy_binary(one, array.type) for one in array.to_pylist()]
    assert column_cells(array, sized=True).to_pylist() == expected


@given(st.lists(st.one_of(st.none(), st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 1, 1))), min_size=1))
def test_times_are_hives(values: list[dt.datetime | None]) -> None:
    array = pa.array(values, pa.timestamp("us"))
    expected = [None if one is None else lazy_binary(one, array.type) for one in values]
    assert column_cells(array, sized=True).to_pylist() == expected


def test_rows_are_those_of_lazy_binary() -> None:
    types = [field.type for field in ROWS.schema]
    expected = [lazy_binary_row(list(row.values()), types) for row in ROWS.to_pylist()]
    assert row_cells(ROWS.combine_chunks().to_batches()[0].columns).to_pylist() == expected
    assert row_cells(ROWS.slice(1).combine_chunks().to_batches()[0].columns).to_pylist() == expected[1:]


@pytest.mark.parametrize("codec", CODECS)
def test_records_of_sequence_files(codec: str) -> None:
    sink = pa.BufferOutputStream()
    writer = SequenceFileWriter(storage("sequencefile", LAZY_BINARY, compression=codec), sink, ROWS.schema)
    for _ in range(3):
        writer.write(ROWS)
    writer.close()
    content = bytes(sink.getvalue())
    source = FileSource(pa.BufferReader(content))
    header = read_sequence_header(source, "f")
    assert header.value_class == "org.apache.hadoop.io.BytesWritable"
    cuts = (0, len(content) // 3, 2 * len(content) // 3, len(content))
    parts = [sequence_values(source, header, *cut, "f") for cut in itertools.pairwise(cuts)]
    found = [value for part in parts for values in part for value in values.to_pylist()]
    types = [field.type for field in ROWS.schema]
    assert found == 3 * [lazy_binary_row(list(row.values()), types) for row in ROWS.to_pylist()]


@pytest.mark.parametrize("codec", [codec for codec in CODECS if codec != "bzip2"])
def test_cells_of_rcfiles(codec: str) -> None:
    sink = pa.BufferOutputStream()
    writer = RcFileWriter(storage("rcfile", BINARY_COLUMNS, compression=codec), sink, ROWS.schema)
    for _ in range(3):
        writer.write(ROWS)
    writer.close()
    content = bytes(sink.getvalue())
    source = FileSource(pa.BufferReader(content))
    header = read_rc_header(source, "f")
    groups = list(rc_groups(source, header, 0, len(content), "f"))
    assert [group.rows for group in groups] == [3, 3, 3]
    for position, field in enumerate(ROWS.schema):
        values = ROWS.column(position).to_pylist()
        cells = [b"" if one is None else lazy_binary(one, field.type, nested=False) for one in values]
        found = groups[2].column(position)
        assert found is not None
        expected = [b"\xbf" if one == "" else cell for one, cell in zip(values, cells, strict=True)]
        assert gather_cells(found.data, found.starts, found.ends).to_pylist() == expected


def test_avro_files_are_read_by_another_library() -> None:
    for codec in ("null", "deflate", "bzip2"):
        reader = fastavro.reader(io.BytesIO(avro_file(ROWS, avro_output_codec=codec)))
        assert reader.metadata["avro.codec"] == codec
        utc = dt.UTC
        for found, row in zip(reader, ROWS.to_pylist(), strict=True):
            assert isinstance(found, dict)
            at = row["at"]
            row["at"] = None if at is None else at.replace(tzinfo=utc)
            row["m"] = None if row["m"] is None else dict(row["m"])
            assert found == row


def test_a_tables_own_schema_is_kept() -> None:
    schema = (
        '{"type": "record", "name": "own", "namespace": "n", "fields": ['
        '{"name": "kind", "type": {"type": "enum", "name": "e", "symbols": ["x", "y"]}},'
        '{"name": "code", "type": [{"type": "fixed", "name": "f", "size": 2}, "null"]},'
        '{"name": "id", "type": "long"}]}'
    )
    # Hive finds fields by name, in any order.
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "kind": ["y", "x"], "code": pa.array([b"ab", None])})
    reader = fastavro.reader(io.BytesIO(avro_file(rows, avro_schema_literal=schema)))
    assert list(reader) == [{"kind": "y", "code": b"ab", "id": 1}, {"kind": "x", "code": None, "id": 2}]
    for bad in (
        {"id": [1], "kind": ["z"], "code": [b"ab"]},
        {"id": [1], "kind": ["x"], "code": [b"abc"]},
        {"id": [None], "kind": ["x"], "code": [b"ab"]},
    ):
        with pytest.raises(NotSupportedError, match="Avro schema"):
            avro_file(pa.table(bad, schema=rows.schema), avro_schema_literal=schema)


@pytest.mark.parametrize(
    ("file_format", "serde", "column"),
    [
        ("rcfile", BINARY_COLUMNS, pa.array([b""], pa.binary())),
        ("rcfile", TEXT_COLUMNS, pa.array(["\\N"])),
        ("rcfile", TEXT_COLUMNS, pa.array([["a\x02b"]])),
        ("sequencefile", LAZY, pa.array(["\x01"])),
        ("avro", AVRO, pa.array([dt.datetime(2024, 1, 1, 0, 0, 0, 1)], pa.timestamp("us"))),
    ],
)
def test_values_that_a_file_does_not_hold_are_refused(file_format: str, serde: str, column: pa.Array) -> None:
    rows = pa.table({"c": column, "after": ["x"] * len(column)})
    writer = WRITTEN_FORMATS[file_format](storage(file_format, serde), pa.BufferOutputStream(), rows.schema)
    with pytest.raises(NotSupportedError, match="table of ORC"):
        writer.write(rows)


def test_line_feeds_are_values_where_records_tell_their_length() -> None:
    rows = pa.table({"c": ["line\nfeed", "carriage\rreturn"]})
    sink = pa.BufferOutputStream()
    SequenceFileWriter(storage("sequencefile", LAZY), sink, rows.schema).write(rows)
    source = FileSource(pa.BufferReader(sink.getvalue()))
    header = read_sequence_header(source, "f")
    (values,) = sequence_values(source, header, 0, source.size, "f")
    assert values.to_pylist() == [b"line\nfeed", b"carriage\rreturn"]


@pytest.mark.parametrize(
    ("where", "column", "message"),
    [
        (storage("avro", AVRO), pa.field("m", pa.map_(pa.int32(), pa.int32())), "keys are strings"),
        (storage("avro", AVRO), pa.field("a b", pa.int32()), "the name 'a b'"),
        (storage("avro", AVRO, avro_output_codec="lzo"), pa.field("a", pa.int32()), "codec"),
        (storage("textfile", LAZY, compression="brotli"), pa.field("a", pa.int32()), "codec"),
        # Hive finds no rows in such files.
        (storage("rcfile", BINARY_COLUMNS, compression="bzip2"), pa.field("a", pa.int32()), "codec"),
        (storage("rcfile", "x.OwnSerDe"), pa.field("a", pa.int32()), "its SerDe is x.OwnSerDe"),
        (storage("sequencefile", "x.OwnSerDe"), pa.field("a", pa.int32()), "its SerDe is x.OwnSerDe"),
    ],
)
def test_tables_that_are_not_written_are_refused_before(where: FileStorage, column: pa.Field, message: str) -> None:
    with pytest.raises(NotSupportedError, match=message):
        check_files(where, pa.schema([column]), "rows cannot be added to s.t")
