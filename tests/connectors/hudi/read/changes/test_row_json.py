"""Rows as JSON; the texts expected are what Jackson and Avro's GenericData write, by their documentation and source."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from connectors.hudi.read.changes.row_json import avro_json, row_json

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def one(value: object, arrow: pa.DataType) -> tuple[str, str]:
    """A column of one value in both forms, without the name of the column."""
    array = pa.array([value], arrow)
    [row] = row_json(pa.table({"c": array})).to_pylist()
    [record] = avro_json(pa.StructArray.from_arrays([array], ["c"])).to_pylist()
    return row.removeprefix('{"c":').removesuffix("}"), record.removeprefix('{"c": ').removesuffix("}")


@pytest.mark.parametrize(
    ("value", "arrow", "row", "record"),
    [
        (True, pa.bool_(), "true", "true"),
        (-7, pa.int64(), "-7", "-7"),
        (60.0, pa.float64(), "60.0", "60.0"),
        (1e10, pa.float64(), "1.0E10", "1.0E10"),
        (1.1, pa.float32(), "1.1", "1.1"),
        (float("nan"), pa.float64(), '"NaN"', '"NaN"'),
        (float("-inf"), pa.float32(), '"-Infinity"', '"-Infinity"'),
        ('a"\\b\n\x01\u2028é/', pa.string(), '"a\\"\\\\b\\n\\u0001\u2028é/"', '"a\\"\\\\b\\n\\u0001\\u2028é/"'),
        (b"\x00\xff\x41", pa.binary(), '"AP9B"', '{"bytes": "\\u0000ÿA"}'),
        (date(1970, 1, 11), pa.date32(), "10", "10"),
        (EPOCH + timedelta(milliseconds=5), pa.timestamp("ms", "UTC"), "5000", "5"),
        (EPOCH + timedelta(microseconds=5), pa.timestamp("us", "UTC"), "5", "5"),
        (Decimal("-1.50"), pa.decimal128(10, 2), "-1.50", "-1.50"),
        ([1, None, 3], pa.list_(pa.int32()), "[1,null,3]", "[1, null, 3]"),
        ([], pa.list_(pa.int32()), "[]", "[]"),
        ([("a", 1), ("b", None)], pa.map_(pa.string(), pa.int32()), '{"a":1}', '{"a": 1, "b": null}'),
        (
            {"x": None, "y": ["z"]},
            pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))]),
            '{"y":["z"]}',
            '{"x": null, "y": ["z"]}',
        ),
    ],
)
def test_values(value: object, arrow: pa.DataType, row: str, record: str) -> None:
    assert one(value, arrow) == (row, record)


@pytest.mark.parametrize("arrow", [pa.string(), pa.list_(pa.int32()), pa.struct([("x", pa.int32())]), pa.float64()])
def test_nulls(arrow: pa.DataType) -> None:
    rows = pa.table({"a": pa.array([None, None], arrow), "b": [1, None]})
    assert row_json(rows).to_pylist() == ['{"b":1}', "{}"]
    records = pa.StructArray.from_arrays([rows["a"].combine_chunks()], ["a"], mask=pa.array([False, True]))
    assert avro_json(records).to_pylist() == ['{"a": null}', "null"]


def test_lists_of_a_slice_keep_their_own_members() -> None:
    lists = pa.array([[1], None, [2, 3], [], [4]], pa.list_(pa.int32())).slice(1, 4)
    maps = pa.array([[("a", 1)], None, [("b", None), ("c", 3)], [], [("d", 4)]], pa.map_(pa.string(), pa.int32()))
    rows = pa.table({"l": lists, "m": maps.slice(1, 4)})
    assert row_json(rows).to_pylist() == [
        "{}",
        '{"l":[2,3],"m":{"c":3}}',
        '{"l":[],"m":{}}',
        '{"l":[4],"m":{"d":4}}',
    ]


def test_no_rows() -> None:
    empty = pa.table({"a": pa.array([], pa.list_(pa.string())), "b": pa.array([], pa.float32())})
    assert row_json(empty).to_pylist() == []
