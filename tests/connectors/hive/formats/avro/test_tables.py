"""Avro tables whose files fastavro wrote: schemas that changed, codecs, cuts, refusals."""

from __future__ import annotations

import bz2
import datetime
import io
import json
import lzma
import random
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import fastavro
import pyarrow as pa
import pytest

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.formats.avro.tables import Row, field, make_table, record, rows_of
from tests.connectors.hive.reading import make_connector, make_session, read_table, scan_table

PACK: dict[str, Callable[[bytes], bytes]] = {
    "deflate": lambda raw: zlib.compress(raw)[2:-4],
    "snappy": lambda raw: pa.Codec("snappy").compress(raw, asbytes=True) + zlib.crc32(raw).to_bytes(4, "big"),
    "bzip2": bz2.compress,
    "zstandard": lambda raw: cast(bytes, pa.Codec("zstd").compress(raw, asbytes=True)),
    "xz": lzma.compress,
    "null": bytes,
}


def packed(data: bytes, codec: str) -> bytes:
    """A file of fastavro's with its blocks compressed."""
    blocks = list(fastavro.block_reader(io.BytesIO(data)))
    header_end = data.index(data[-16:]) + 16
    out = [data[:header_end].replace(b"\x08null", zigzag(len(codec)) + codec.encode())]
    for block in blocks:
        raw = PACK[codec](block.bytes_.getvalue())
        out += [zigzag(block.num_records), zigzag(len(raw)), raw, data[-16:]]
    return b"".join(out)


def zigzag(number: int) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "long", number)
    return out.getvalue()


@pytest.mark.parametrize("codec", PACK)
def test_codecs(hive: HiveConnector, tmp_path: Path, codec: str) -> None:
    schema = record(field("a", "long"), field("s", ["null", "string"]))
    rows: list[Row] = [{"a": number, "s": None if number % 3 else "x" * (number % 90)} for number in range(5000)]
    make_table(hive, tmp_path, {"a": "bigint", "s": "string"}, [(schema, rows)], sync_interval=900)
    file = tmp_path / "t" / "part-0"
    file.write_bytes(packed(file.read_bytes(), codec))
    assert rows_of(hive) == rows
    scan = scan_table(hive, "s", "t", session=make_session(hive, max_split_size=700))
    assert len(scan.splits) > 2
    assert scan.rows.to_pylist() == rows


def test_a_codec_that_is_not_known_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    make_table(hive, tmp_path, {"a": "int"}, [(record(field("a", "int")), [{"a": 1}])])
    file = tmp_path / "t" / "part-0"
    file.write_bytes(file.read_bytes().replace(b"\x08null", b"\x08lzma"))
    with pytest.raises(NotSupportedError, match="codec 'lzma'"):
        rows_of(hive)


def test_every_cut_gives_each_row_once(hive: HiveConnector, tmp_path: Path) -> None:
    schema = record(field("a", "int"))
    rows: list[Row] = [{"a": number} for number in range(60)]
    make_table(hive, tmp_path, {"a": "int"}, [(schema, rows)], sync_interval=10)
    for size in (*range(1, 60, 3), *range(60, 260, 17)):
        assert scan_table(hive, "s", "t", session=make_session(hive, max_split_size=size)).rows.to_pylist() == rows


def test_a_schema_of_the_table_gives_defaults_aliases_and_wider_types(hive: HiveConnector, tmp_path: Path) -> None:
    kinds = {"type": "enum", "name": "k", "symbols": ["A", "B"]}
    old = record(field("ID", "int"), field("first", "string"), field("kind", kinds))
    new = record(
        field("kind", kinds),
        field("id", "long"),
        field("Name", ["null", "string"], default=None, aliases=["first"]),
        field("n", "int", default=7),
        field("t", {"type": "array", "items": "string"}, default=["d"]),
        field("fx", ["null", {"type": "fixed", "name": "f", "size": 2}], default=None),
    )
    first: list[Row] = [{"ID": 1, "first": "x", "kind": "B"}]
    second: list[Row] = [{"kind": "A", "id": 1 << 40, "Name": None, "n": 3, "t": [], "fx": b"ab"}]
    columns = {"kind": "string", "id": "bigint", "name": "string", "n": "int", "t": "array<string>", "fx": "binary"}
    make_table(hive, tmp_path, columns, [(old, first), (new, second)], {"avro.schema.literal": json.dumps(new)})
    expected = [
        {"kind": "B", "id": 1, "name": "x", "n": 7, "t": ["d"], "fx": None},
        {"kind": "A", "id": 1 << 40, "name": None, "n": 3, "t": [], "fx": b"ab"},
    ]
    assert rows_of(hive) == expected
    assert rows_of(hive, ["n", "fx"]) == [{"n": row["n"], "fx": row["fx"]} for row in expected]


def test_the_schema_may_lie_in_a_file(hive: HiveConnector, tmp_path: Path) -> None:
    new = record(field("a", "int"), field("b", "string", default="none"))
    (tmp_path / "schema.avsc").write_text(json.dumps(new))
    told = {"avro.schema.url": f"file://{tmp_path}/schema.avsc"}
    make_table(hive, tmp_path, {"a": "int", "b": "string"}, [(record(field("a", "int")), [{"a": 5}])], told)
    assert rows_of(hive) == [{"a": 5, "b": "none"}]


def test_without_a_schema_columns_are_found_by_name_and_may_be_missing(hive: HiveConnector, tmp_path: Path) -> None:
    first = record(field("B", ["null", record_of_point()]), field("a", "int"))
    second = record(field("a", "long"))
    files: list[tuple[dict[str, object], Sequence[Row]]] = [
        (first, [{"B": {"x": 1, "y": 2.5}, "a": 9}, {"B": None, "a": 8}]),
        (second, [{"a": 1 << 33}]),
    ]
    make_table(hive, tmp_path, {"a": "bigint", "b": "struct<y:double,z:string>"}, files)
    assert rows_of(hive) == [
        {"a": 9, "b": {"y": 2.5, "z": None}},
        {"a": 8, "b": None},
        {"a": 1 << 33, "b": None},
    ]


def record_of_point() -> dict[str, object]:
    return {"type": "record", "name": "point", "fields": [field("x", "int"), field("y", "float")]}


def test_a_field_that_is_no_column_may_be_of_any_type(hive: HiveConnector, tmp_path: Path) -> None:
    schema = record(
        field("u", ["null", "int", "string"]),
        field("m", {"type": "map", "values": ["null", "long"]}),
        field("a", "int"),
    )
    rows: list[Row] = [{"u": "x", "m": {"k": None, "l": 5}, "a": 1}, {"u": 7, "m": {}, "a": 2}]
    make_table(hive, tmp_path, {"a": "int", "m": "map<string,bigint>"}, [(schema, rows)])
    assert rows_of(hive) == [{"a": 1, "m": [("k", None), ("l", 5)]}, {"a": 2, "m": []}]


def test_times_follow_their_logical_type_and_the_zone(hive: HiveConnector, tmp_path: Path) -> None:
    schema = record(
        field("ms", {"type": "long", "logicalType": "timestamp-millis"}),
        field("us", {"type": "long", "logicalType": "timestamp-micros"}),
        field("raw", {"type": "long", "logicalType": "timestamp-millis"}),
        field("d", {"type": "int", "logicalType": "date"}),
    )
    moment = datetime.datetime(2024, 1, 15, 12, 0, 0, 123000, tzinfo=datetime.UTC)
    rows: list[Row] = [{"ms": moment, "us": moment, "raw": 5, "d": datetime.date(2024, 2, 29)}]
    columns = {"ms": "timestamp", "us": "timestamp", "raw": "bigint", "d": "date"}
    make_table(hive, tmp_path, columns, [(schema, rows)])
    there = scan_table(hive, "s", "t", session=make_session(hive, "America/New_York")).rows.to_pylist()
    local = datetime.datetime(2024, 1, 15, 7, 0, 0, 123000)
    assert there == [{"ms": local, "us": local, "raw": 5, "d": datetime.date(2024, 2, 29)}]


def test_the_zone_of_the_file_goes_first_and_its_calendar_counts(hive: HiveConnector, tmp_path: Path) -> None:
    schema = record(
        field("t", {"type": "long", "logicalType": "timestamp-millis"}),
        field("d", {"type": "int", "logicalType": "date"}),
    )
    moment = datetime.datetime(2024, 1, 15, 12, tzinfo=datetime.UTC)
    # The day number of the Julian 1500-02-28 is that of the Gregorian 1500-03-09.
    rows: list[Row] = [{"t": moment, "d": datetime.date(1500, 3, 9)}]
    told = {"writer.time.zone": "Asia/Tokyo"}
    make_table(hive, tmp_path, {"t": "timestamp", "d": "date"}, [(schema, rows)], metadata=told)
    assert rows_of(hive) == [{"t": datetime.datetime(2024, 1, 15, 21), "d": datetime.date(1500, 2, 28)}]


def test_a_union_of_several_types_is_refused_for_its_column_only(hive: HiveConnector, tmp_path: Path) -> None:
    schema = record(field("u", ["null", "int", "string"]), field("a", "int"))
    make_table(hive, tmp_path, {"u": "string", "a": "int"}, [(schema, [{"u": 1, "a": 2}])])
    assert rows_of(hive, ["a"]) == [{"a": 2}]
    with pytest.raises(NotSupportedError, match=r"column 'u' .* union"):
        rows_of(hive)


def test_a_field_without_default_that_a_file_lacks_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    new = record(field("a", "int"), field("b", "int"))
    told = {"avro.schema.literal": json.dumps(new)}
    make_table(hive, tmp_path, {"a": "int", "b": "int"}, [(record(field("a", "int")), [{"a": 1}])], told)
    with pytest.raises(NotSupportedError, match=r"column 'b' .* no default"):
        rows_of(hive)


def test_a_field_of_a_record_without_default_is_refused_for_who_asks_it(hive: HiveConnector, tmp_path: Path) -> None:
    wide = {"type": "record", "name": "point", "fields": [field("x", "int"), field("z", "int")]}
    told = {"avro.schema.literal": json.dumps(record(field("p", wide), field("a", "int")))}
    old = record(field("p", record_of_point()), field("a", "int"))
    columns = {"p": "struct<x:int,z:int>", "a": "int"}
    make_table(hive, tmp_path, columns, [(old, [{"p": {"x": 1, "y": 1.0}, "a": 2}])], told)
    with pytest.raises(NotSupportedError, match=r"z in column 'p' .* no default"):
        rows_of(hive)
    assert rows_of(hive, ["a"]) == [{"a": 2}]


def test_a_default_that_is_no_value_of_its_type_is_refused_by_name(hive: HiveConnector, tmp_path: Path) -> None:
    for at, (kind, default) in enumerate([("int", "x"), ("int", 1 << 40), ("string", 1), (["null", "int"], [])]):
        told = {"avro.schema.literal": json.dumps(record(field("a", "int"), field("b", kind, default=default)))}
        column = "string" if kind == "string" else "int"
        folder = tmp_path / str(at)
        folder.mkdir()
        made = make_connector(folder)
        make_table(made, folder, {"a": "int", "b": column}, [(record(field("a", "int")), [{"a": 1}])], told)
        with pytest.raises(NotSupportedError, match=r"the default .* for the field 'b'"):
            rows_of(made)


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "recor',
        '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int", "aliases": "b"}]}',
        '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int", "aliases": [1]}]}',
        '{"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "enum", "name": "e"}}]}',
        '{"type": "record", "name": "r", "fields": [{"name": "a", "type": "r"}]}',
        '{"type": "record", "name": "r", "fields": {}}',
        "[]",
    ],
)
def test_a_schema_that_cannot_be_read_is_refused_before_reading(hive: HiveConnector, tmp_path: Path, text: str) -> None:
    make_table(hive, tmp_path, {"a": "int"}, [], {"avro.schema.literal": text})
    with pytest.raises(NotSupportedError, match=r"avro\.schema\.literal"):
        rows_of(hive)


def test_damaged_files_end_in_rows_or_in_an_error(hive: HiveConnector, tmp_path: Path) -> None:
    schema = record(field("a", "long"), field("s", ["null", "string"]), field("l", {"type": "array", "items": "int"}))
    rows: list[Row] = [{"a": number, "s": "x" * number, "l": [number] * 3} for number in range(30)]
    make_table(hive, tmp_path, {"a": "bigint", "s": "string", "l": "array<int>"}, [(schema, rows)])
    file = tmp_path / "t" / "part-0"
    good = file.read_bytes()
    chance = random.Random(7)
    for _ in range(80):
        bad = bytearray(good[: chance.randrange(5, len(good))] if chance.random() < 0.4 else good)
        at = chance.randrange(len(bad))
        bad[at] = chance.choice([0, 0x7F, 0x80, 0xFF, bad[at] ^ 1 << chance.randrange(8)])
        file.write_bytes(bytes(bad))
        try:
            assert read_table(hive, "s", "t").schema.field("a").type == pa.int64()
        except ConnectorError as error:
            assert error.message  # noqa: PT017
    file.write_bytes(good[:-20])
    with pytest.raises(CorruptFileError):
        rows_of(hive)


@pytest.mark.parametrize("claimed", [1 << 33, 1 << 50])
def test_more_records_than_a_block_has_bytes_are_an_error(hive: HiveConnector, tmp_path: Path, claimed: int) -> None:
    make_table(hive, tmp_path, {"a": "int"}, [(record(field("a", "int")), [{"a": 1}])])
    file = tmp_path / "t" / "part-0"
    good = file.read_bytes()
    block = good.index(good[-16:]) + 16
    assert good[block:-16] == zigzag(1) + zigzag(1) + zigzag(1)
    file.write_bytes(good[:block] + zigzag(claimed) + good[block + 1 :])
    with pytest.raises(CorruptFileError, match="records in a block of 1 bytes"):
        rows_of(hive)
