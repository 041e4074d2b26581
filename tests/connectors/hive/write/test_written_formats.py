"""Rows added to tables of each format and codec: read by the readers that real Hive's files prove."""

from __future__ import annotations

import datetime as dt
import gzip
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from catalog.metastore.types import hive_type_text
from connector_spi.errors import NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.testing.writing import insert_rows
from connectors.hive.connector import HiveConnector
from connectors.hive.definitions.storage_classes import declared_storage
from connectors.toolkit.codecs.varints import message_fields
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.orc.wire import decompress
from tests.connectors.hive.reading import make_connector, read_table

NAME = SchemaTableName("s", "t")
_BINARY_ROWS = "org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe"
_TEXT_COLUMNS = "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"
ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "p": pa.array([Decimal("1.50"), None, Decimal("-0.01")], pa.decimal128(9, 2)),
        "at": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3), None, dt.datetime(1901, 1, 1)], pa.timestamp("us")),
        "l": pa.array([[["a"], ["b", "c"]], None, [["d"]]], pa.list_(pa.list_(pa.string()))),
        "m": pa.array([[("x", {"u": 1})], [], None], pa.map_(pa.string(), pa.struct([("u", pa.int32())]))),
        "s": ["é", None, "b"],
        "ds": ["x", "y", "x"],
    }
)


def create(hive: HiveConnector, folder: Path, file_format: str, serde: str | None = None, **properties: str) -> Path:
    """A table of such files, partitioned by ``ds``."""
    hive.metastore.writes.create_database(Database("s"))
    fields = [FieldSchema(field.name, hive_type_text(field.type)) for field in ROWS.schema]
    place = folder / "t"
    place.mkdir()
    storage = declared_storage(file_format, {}, tuple(fields[:-1]), f"file://{place}")
    if serde is not None:
        storage = replace(storage, serde=replace(storage.serde, serialization_lib=serde))
    parameters = Parameters.of({key.replace("_", "."): value for key, value in properties.items()})
    hive.metastore.writes.create_table(Table("s", "t", storage, (fields[-1],), parameters))
    return place


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy"])
@pytest.mark.parametrize(
    ("file_format", "serde"),
    [
        ("orc", None),
        ("parquet", None),
        ("avro", None),
        ("textfile", None),
        ("rcfile", None),
        ("rcfile", _TEXT_COLUMNS),
        ("sequencefile", None),
        ("sequencefile", _BINARY_ROWS),
    ],
)
def test_rows_are_read_as_they_were_given(
    hive: HiveConnector, tmp_path: Path, file_format: str, serde: str | None, codec: str
) -> None:
    create(hive, tmp_path, file_format, serde, compression=codec)
    insert_rows(hive, NAME, [ROWS.slice(0, 2), ROWS.slice(2)])
    assert read_table(hive, "s", "t").sort_by("id").select(ROWS.schema.names).to_pylist() == ROWS.to_pylist()


def test_a_codec_of_text_is_seen_by_the_files_name(hive: HiveConnector, tmp_path: Path) -> None:
    place = create(hive, tmp_path, "textfile", compression="gzip")
    insert_rows(hive, NAME, [ROWS.slice(1, 1)])
    (file,) = (place / "ds=y").iterdir()
    assert file.suffix == ".gz"
    assert gzip.decompress(file.read_bytes()) == b"2\x01\\N\x01\\N\x01\\N\x01\x01\\N\n"


def test_the_catalogs_codec_is_for_tables_that_name_none(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, hive_compression__codec="GZIP")
    try:
        place = create(hive, tmp_path, "textfile")
        insert_rows(hive, NAME, [ROWS])
        assert {file.suffix for file in place.rglob("*") if file.is_file()} == {".gz"}
    finally:
        hive.shutdown()


def test_an_avro_schema_on_storage_is_kept(hive: HiveConnector, tmp_path: Path) -> None:
    schema = tmp_path / "own.avsc"
    kinds = {"id": '"long"', "s": '["string", "null"]'}
    place = create(hive, tmp_path, "avro", avro_schema_url=f"file://{schema}")
    schema.write_text(
        '{"type": "record", "name": "own", "fields": ['
        + ", ".join(f'{{"name": "{name}", "type": {kind}}}' for name, kind in kinds.items())
        + "]}"
    )
    with pytest.raises(NotSupportedError, match="its Avro schema has the fields id, s"):
        insert_rows(hive, NAME, [ROWS])
    assert not list(place.rglob("*.avro"))


def test_bloom_filters_are_in_orc_files_for_the_columns_named(hive: HiveConnector, tmp_path: Path) -> None:
    place = create(hive, tmp_path, "orc", orc_bloom_filter_columns="S, p")
    insert_rows(hive, NAME, [ROWS])
    (file, *_) = [path for path in place.rglob("*") if path.is_file()]
    footer = read_orc_footer(pa.BufferReader(file.read_bytes()), str(file))
    stripe = footer.stripes[0]
    end = stripe.offset + stripe.length
    raw = decompress(file.read_bytes()[end - stripe.footer_length : end], footer.codec, footer.block_size)
    streams = [dict(message_fields(stream)) for tag, stream in message_fields(raw) if tag == 1]  # type: ignore[arg-type]
    # The row is 0; id 1, p 2, at 3, l 4 to 6, m 7 to 10, s 11. Streams of kind 8 are Bloom filters of UTF-8.
    assert sorted(stream[2] for stream in streams if stream.get(1) == 8) == [2, 11]


def test_avro_files_tell_the_lengths_of_texts(hive: HiveConnector, tmp_path: Path) -> None:
    """Hive 4.0.1 refuses others: Failed to obtain maxLength value for varchar field."""
    hive.metastore.writes.create_database(Database("s"))
    (tmp_path / "t").mkdir()
    columns = (FieldSchema("v", "varchar(10)"), FieldSchema("c", "char(3)"), FieldSchema("s", "string"))
    storage = declared_storage("avro", {}, columns, f"file://{tmp_path / 't'}")
    hive.metastore.writes.create_table(Table("s", "t", storage, (), Parameters(), "MANAGED_TABLE"))
    rows = pa.table({"v": ["a", None], "c": ["b", "cd"], "s": ["x", "y"]})
    insert_rows(hive, NAME, [rows])
    [file] = (tmp_path / "t").glob("*.avro")
    with file.open("rb") as opened:
        schema = fastavro.reader(opened).writer_schema
    assert isinstance(schema, dict)
    assert [field["type"][1] for field in schema["fields"]] == [
        {"type": "string", "logicalType": "varchar", "maxLength": 10},
        {"type": "string", "logicalType": "char", "maxLength": 3},
        "string",
    ]
    assert [row["v"] for row in read_table(hive, "s", "t").to_pylist()] == ["a", None]
