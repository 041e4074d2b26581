from __future__ import annotations

import json

import pyarrow as pa
import pytest

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.schema.table_schema import META_COLUMNS, arrow_schema, table_schema


def record(*fields: tuple[str, object]) -> str:
    listed = [{"name": name, "type": kind} for name, kind in fields]
    return json.dumps({"type": "record", "name": "t_record", "namespace": "hoodie.t", "fields": listed})


def fixed(size: int, **more: object) -> dict[str, object]:
    return {"type": "fixed", "name": "fixed", "namespace": "hoodie.t.t_record.d", "size": size, **more}


@pytest.mark.parametrize(
    ("avro", "expected"),
    [
        ("int", pa.int32()),
        (["null", "long"], pa.int64()),
        (["long", "null"], pa.int64()),
        ({"type": "string"}, pa.string()),
        ({"type": "string", "avro.java.string": "String"}, pa.string()),
        ({"type": "int", "logicalType": "date"}, pa.date32()),
        ({"type": "int", "logicalType": "time-millis"}, pa.time32("ms")),
        ({"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", "UTC")),
        ({"type": "long", "logicalType": "timestamp-millis"}, pa.timestamp("ms", "UTC")),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, pa.timestamp("us")),
        (fixed(4, logicalType="decimal", precision=9, scale=2), pa.decimal128(9, 2)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 20}, pa.decimal128(20, 0)),
        (fixed(7), pa.binary(7)),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, pa.string()),
        ({"type": "array", "items": ["null", "int"]}, pa.list_(pa.int32())),
        ({"type": "map", "values": ["null", "double"]}, pa.map_(pa.string(), pa.float64())),
        (
            {"type": "record", "name": "s", "fields": [{"name": "a", "type": ["null", "int"]}]},
            pa.struct([("a", pa.int32())]),
        ),
    ],
)
def test_types(avro: object, expected: pa.DataType) -> None:
    assert arrow_schema(record(("c", avro)), "t").field("c").type == expected


def test_a_named_type_can_be_used_again() -> None:
    inner = {"type": "record", "name": "point", "fields": [{"name": "x", "type": "int"}]}
    met = arrow_schema(record(("a", inner), ("b", ["null", "point"]), ("c", "hoodie.t.point")), "t")
    assert met.types == [pa.struct([("x", pa.int32())])] * 3


def test_equal_names_in_other_namespaces_are_other_types() -> None:
    first = {"type": "fixed", "name": "fixed", "namespace": "t.a", "size": 4, "logicalType": "decimal", "precision": 9}
    second = {**first, "namespace": "t.b", "precision": 5}
    met = arrow_schema(record(("a", first), ("b", second), ("c", "t.a.fixed")), "t")
    assert met.types == [pa.decimal128(9, 0), pa.decimal128(5, 0), pa.decimal128(9, 0)]


@pytest.mark.parametrize(
    "avro",
    [
        ["null", "int", "string"],
        {"type": "long", "logicalType": "timestamp-nanos"},
        "nowhere",
        fixed(8, logicalType="vector"),
    ],
)
def test_a_type_that_is_not_understood_is_refused_by_column(avro: object) -> None:
    nested = {"type": "record", "name": "s", "fields": [{"name": "inner", "type": avro}]}
    with pytest.raises(NotSupportedError, match=r"column 'c\.inner' of /t"):
        arrow_schema(record(("c", nested)), "/t")


@pytest.mark.parametrize("text", ["", "{", "[]", '"int"', '{"type": "int"}', '{"type": "record", "name": "x"}'])
def test_a_text_that_is_no_record_schema_is_corrupt(text: str) -> None:
    with pytest.raises(CorruptFileError) as caught:
        arrow_schema(text, "/t")
    assert caught.value.code.name == "HUDI_BAD_SCHEMA"


def test_meta_columns_come_first_once() -> None:
    """ALTER TABLE writes them into the commit's schema, other writes do not."""
    written = arrow_schema(record(("_hoodie_commit_time", "string"), ("id", "int")), "t")
    assert table_schema(written, True, (), None, "t").names == [*META_COLUMNS, "id"]
    assert table_schema(written, False, (), None, "t").names == ["id"]


def test_dropped_partition_fields_come_last_with_the_type_of_the_creation() -> None:
    written = arrow_schema(record(("id", "int")), "t")
    created = record(("id", "int"), ("part", {"type": "int", "logicalType": "date"}))
    met = table_schema(written, False, ("part", "other"), created, "t")
    assert met == pa.schema([("id", pa.int32()), ("part", pa.date32()), ("other", pa.string())])


def test_fixed_bytes_are_shown_as_bytes() -> None:
    written = arrow_schema(record(("f", fixed(7)), ("l", {"type": "array", "items": fixed(3)})), "t")
    assert table_schema(written, False, (), None, "t").types == [pa.binary(), pa.list_(pa.binary())]
