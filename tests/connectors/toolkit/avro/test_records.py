from __future__ import annotations

import datetime as dt
import io
import json
import math
from collections.abc import Mapping
from decimal import Decimal

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.toolkit.avro.records import AvroRecords, frame_records, read_avro_dicts, read_avro_table
from connectors.toolkit.avro.schema import AvroRecordSchema
from tests.sampling import examples

Schema = dict[str, object]


def record(**fields: object) -> Schema:
    return {"type": "record", "name": "row", "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}


def encoded(schema: Mapping[str, object], rows: list[Mapping[str, object]]) -> list[bytes]:
    parsed = fastavro.parse_schema(dict(schema))
    datums = []
    for row in rows:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, dict(row))
        datums.append(out.getvalue())
    return datums


def records(schema: Mapping[str, object], rows: list[Mapping[str, object]]) -> AvroRecords:
    return AvroRecords(AvroRecordSchema(json.dumps(schema)), frame_records(encoded(schema, rows)), len(rows))


def read(
    schema: Mapping[str, object], rows: list[Mapping[str, object]], **target: pa.DataType
) -> list[dict[str, object]]:
    table = read_avro_table(records(schema, rows), pa.schema(list(target.items())))
    table.validate(full=True)
    return list(table.to_pylist(maps_as_pydicts="strict"))


def logical(kind: str, name: str, **more: int) -> Schema:
    return {"type": kind, "logicalType": name, **more}


ENUM: Schema = {"type": "enum", "name": "color", "symbols": ["red", "green", "blue"]}
FIXED: Schema = {"type": "fixed", "name": "four", "size": 4}
UTC = dt.UTC

# Type, Arrow type, values.
TYPES: list[tuple[object, pa.DataType, st.SearchStrategy[object]]] = [
    ("boolean", pa.bool_(), st.booleans()),
    ("int", pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    ("long", pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    ("float", pa.float32(), st.floats(width=32, allow_nan=False)),
    ("double", pa.float64(), st.floats(allow_nan=False)),
    ("string", pa.string(), st.text(max_size=8)),
    ("bytes", pa.binary(), st.binary(max_size=8)),
    (ENUM, pa.string(), st.sampled_from(["red", "green", "blue"])),
    (FIXED, pa.binary(4), st.binary(min_size=4, max_size=4)),
    (logical("int", "date"), pa.date32(), st.dates()),
    (logical("long", "time-micros"), pa.time64("us"), st.times()),
    (
        logical("long", "timestamp-micros"),
        pa.timestamp("us", "UTC"),
        st.datetimes(timezones=st.just(UTC)),
    ),
    (
        logical("long", "local-timestamp-micros"),
        pa.timestamp("us"),
        st.datetimes(),
    ),
    (
        logical("bytes", "decimal", precision=10, scale=2),
        pa.decimal128(10, 2),
        st.decimals(-(10**7), 10**7, places=2),
    ),
    (
        {"type": "fixed", "name": "dec", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 0},
        pa.decimal128(20, 0),
        st.decimals(-(10**19), 10**19, places=0),
    ),
]


def nested(
    kind: tuple[object, pa.DataType, st.SearchStrategy[object]],
) -> list[tuple[object, pa.DataType, st.SearchStrategy[object]]]:
    avro, arrow, values = kind
    maybe = st.none() | values
    return [
        (avro, arrow, values),
        (["null", avro], arrow, maybe),
        ([avro, "null"], arrow, maybe),
        (
            ["null", {"type": "array", "items": ["null", avro]}],
            pa.list_(pa.field("element", arrow)),
            st.none() | st.lists(maybe, max_size=3),
        ),
        (
            {"type": "map", "values": ["null", avro]},
            pa.map_(pa.string(), arrow),
            st.dictionaries(st.text(max_size=3), maybe, max_size=3),
        ),
        (
            ["null", {"type": "record", "name": "inner", "fields": [{"name": "x", "type": ["null", avro]}]}],
            pa.struct([("x", arrow)]),
            st.none() | st.fixed_dictionaries({"x": maybe}),
        ),
        (
            {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "pair",
                    "fields": [{"name": "y", "type": {"type": "map", "values": avro}}],
                },
            },
            pa.list_(pa.field("element", pa.struct([("y", pa.map_(pa.string(), arrow))]))),
            st.lists(
                st.fixed_dictionaries({"y": st.dictionaries(st.text(max_size=3), values, max_size=2)}), max_size=2
            ),
        ),
    ]


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_columns_hold_what_was_written(data: st.DataObject) -> None:
    avro, arrow, values = data.draw(st.sampled_from([form for kind in TYPES for form in nested(kind)]))
    schema = record(before="string", value=avro, after=["null", "int"])
    rows: list[Mapping[str, object]] = [
        {"before": f"b{at}", "value": data.draw(values), "after": at if at % 2 else None}
        for at in range(data.draw(st.integers(0, 4)))
    ]
    met = read(schema, rows, before=pa.string(), value=arrow, after=pa.int32())
    assert met == rows


@pytest.mark.parametrize("wide", [["null", "string", "int"], "null", ["null"]])
def test_what_polars_does_not_read_does_not_stand_in_the_way(wide: object) -> None:
    schema = record(odd=wide, m={"type": "map", "values": ["null", logical("int", "date")]}, e=ENUM)
    rows: list[Mapping[str, object]] = [
        {"odd": None, "m": {"k": dt.date(2024, 2, 29), "n": None}, "e": "green"},
        {"odd": None, "m": {}, "e": "blue"},
    ]
    met = read(schema, rows, m=pa.map_(pa.string(), pa.date32()), e=pa.string())
    assert met == [{"m": row["m"], "e": row["e"]} for row in rows]


def test_named_types_are_found_where_they_are_used_again() -> None:
    inner = {"type": "record", "name": "a.point", "fields": [{"name": "x", "type": "int"}]}
    schema = {
        "type": "record",
        "name": "a.row",
        "fields": [
            {"name": "p", "type": inner},
            {"name": "q", "type": ["null", "point"]},
            {"name": "r", "type": "a.point"},
        ],
    }
    rows: list[Mapping[str, object]] = [{"p": {"x": 1}, "q": None, "r": {"x": 3}}]
    point = pa.struct([("x", pa.int32())])
    assert read(schema, rows, q=point, r=point) == [{"q": None, "r": {"x": 3}}]


def test_a_type_that_holds_itself_is_refused() -> None:
    tree = {"type": "record", "name": "tree", "fields": [{"name": "left", "type": ["null", "tree"]}]}
    with pytest.raises(ValueError, match="holds itself"):
        AvroRecordSchema(json.dumps(tree))


def test_decimals_beyond_their_precision_are_refused() -> None:
    schema = record(d=logical("bytes", "decimal", precision=30, scale=0))
    rows: list[Mapping[str, object]] = [{"d": Decimal(12345)}]
    with pytest.raises(ValueError, match="precision"):
        read(schema, rows, d=pa.decimal128(4, 0))
    # Longer than 16 bytes by repeating the sign.
    long = b"\xff" * 20 + b"\x85"
    body = frame_records([bytes([2 * len(long)]) + long])
    made = AvroRecords(AvroRecordSchema(json.dumps(schema)), body, 1)
    target = pa.schema([("d", pa.decimal128(30, 0))])
    assert read_avro_table(made, target).to_pylist() == [{"d": Decimal(-123)}]


def test_no_number_of_a_float_survives() -> None:
    [met] = read(record(f="double"), [{"f": math.nan}], f=pa.float64())
    assert isinstance(met["f"], float)
    assert math.isnan(met["f"])


SCHEMA = record(key="string", value=["null", "long"], tags={"type": "array", "items": "string"})
ROWS: list[Mapping[str, object]] = [{"key": f"key{at}", "value": at * 1000, "tags": ["a"] * at} for at in range(5)]
TARGET = pa.schema([("key", pa.string())])


@pytest.mark.parametrize("count", [0, 1, 4, 6, 10**9])
def test_a_wrong_count_is_noticed(count: int) -> None:
    made = records(SCHEMA, ROWS)
    with pytest.raises(ValueError, match="record"):
        read_avro_table(AvroRecords(made.schema, made.body, count), TARGET)


def test_every_cut_is_noticed() -> None:
    made = records(SCHEMA, ROWS)
    for cut in range(len(made.body)):
        with pytest.raises(ValueError, match="record"):
            read_avro_table(AvroRecords(made.schema, made.body[:cut], made.count), TARGET)


@given(st.integers(0, 4), st.sampled_from([-3, -1, 1, 2, 200]))
def test_a_wrong_length_is_noticed(at: int, change: int) -> None:
    datums = encoded(SCHEMA, ROWS)
    start = sum(len(datum) + 4 for datum in datums[:at])
    body = bytearray(frame_records(datums))
    body[start : start + 4] = (len(datums[at]) + change).to_bytes(4, "big", signed=True)
    with pytest.raises(ValueError, match="record"):
        read_avro_table(AvroRecords(AvroRecordSchema(json.dumps(SCHEMA)), bytes(body), 5), TARGET)


def test_records_of_another_length_than_framed_are_noticed_though_the_sum_is_right() -> None:
    datums = encoded(SCHEMA, ROWS)
    first, second = datums[0], datums[1]
    body = (len(first) + 1).to_bytes(4, "big") + first + (len(second) - 1).to_bytes(4, "big") + second
    with pytest.raises(ValueError, match="record"):
        read_avro_table(AvroRecords(AvroRecordSchema(json.dumps(SCHEMA)), body, 2), TARGET)


def test_dicts_keep_the_names_of_records_in_a_union() -> None:
    wrappers = [
        {"type": "record", "name": name, "fields": [{"name": "value", "type": "int"}]} for name in ("Day", "Number")
    ]
    schema = record(min=["null", *wrappers])
    datums = encoded(schema, [{"min": ("Number", {"value": 3})}, {"min": None}])
    assert read_avro_dicts(json.dumps(schema), datums) == [{"min": {"value": 3}}, {"min": None}]
    assert read_avro_dicts(json.dumps(schema), datums, record_names=True)[0] == {"min": ("Number", {"value": 3})}
    with pytest.raises(ValueError, match="record"):
        read_avro_dicts(json.dumps(schema), [datums[0] + b"\0"])
