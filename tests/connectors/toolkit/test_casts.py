"""From a file's types to a table's, by Hive's rules."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.time_conventions import (
    INT96,
    TimeConventions,
    parquet_conventions,
    rebase_dates,
    rebase_timestamps,
)
from connectors.toolkit.schema.type_adaptation import LOSSLESS, adaptation


def _cast(values: pa.Array, target: pa.DataType, conventions: TimeConventions | None = None) -> list[object]:
    function = adaptation(values.type, target, conventions or TimeConventions(), "v")
    result = function(values) if function else values
    assert result.type == target
    found: list[object] = result.to_pylist()
    return found


@pytest.mark.parametrize(
    ("values", "target", "expected"),
    [
        (pa.array([1, None, -1], pa.int8()), pa.int64(), [1, None, -1]),
        (pa.array([1, 200, -(2**31), 127], pa.int32()), pa.int8(), [1, None, None, 127]),
        (pa.array([2**64 - 1, 3], pa.uint64()), pa.int64(), [None, 3]),
        (pa.array([2**31, 7], pa.uint32()), pa.int32(), [None, 7]),
        (pa.array([1, 123456], pa.int32()), pa.decimal128(5, 2), [Decimal("1.00"), None]),
        (
            pa.array([Decimal("1.25"), Decimal("-1.25"), Decimal("99.95")], pa.decimal128(5, 2)),
            pa.decimal128(3, 1),
            [Decimal("1.3"), Decimal("-1.3"), None],
        ),
        (
            pa.array([Decimal("9" * 28 + ".9"), None], pa.decimal128(38, 10)),
            pa.decimal128(38, 2),
            [Decimal("9" * 28 + ".90"), None],
        ),
        (pa.array([Decimal("1.99"), Decimal("300.0")], pa.decimal128(5, 2)), pa.int8(), [1, None]),
        (pa.array(["12", " 7 ", "x", "", "9" * 38, None]), pa.int32(), [12, 7, None, None, None, None]),
        (pa.array(["1.5", "1e3", "x", "-.5"]), pa.float64(), [1.5, 1000.0, None, -0.5]),
        (pa.array(["2024-02-29", "2023-02-29", "x"]), pa.date32(), [date(2024, 2, 29), None, None]),
        (pa.array([5, None], pa.int16()), pa.string(), ["5", None]),
        (pa.array([date(2024, 1, 2)]), pa.string(), ["2024-01-02"]),
        (pa.array([date(2024, 1, 2)]), pa.timestamp("us"), [datetime(2024, 1, 2)]),
        (pa.array([b"ab", None]), pa.string(), ["ab", None]),
        (pa.array(["ab"], pa.large_string()), pa.string(), ["ab"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), pa.string(), ["a", "b", "a"]),
        (pa.array([None, None], pa.null()), pa.int32(), [None, None]),
        (pa.array([-1, -1500], pa.timestamp("ns")), pa.timestamp("us"), [datetime(1969, 12, 31, 23, 59, 59, 999999)] * 1
         + [datetime(1969, 12, 31, 23, 59, 59, 999998)]),
        (pa.array([-1500], pa.timestamp("ms")), pa.timestamp("us"), [datetime(1969, 12, 31, 23, 59, 58, 500000)]),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_become_null(values: pa.Array, target: pa.DataType, expected: list[object]) -> None:
    assert _cast(values, target) == expected


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (pa.float64(), pa.string()),
        (pa.bool_(), pa.string()),
        (pa.timestamp("us"), pa.string()),
        (pa.float64(), pa.int32()),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.int64(), pa.timestamp("us")),
        (pa.string(), pa.list_(pa.string())),
        (pa.struct([("a", pa.int32())]), pa.map_(pa.string(), pa.int32())),
    ],
)
def test_doubtful_casts_are_refused_by_column_and_file(source: pa.DataType, target: pa.DataType) -> None:
    with pytest.raises(NotSupportedError, match=r"column 'v' of f\.orc is of type") as caught:
        SchemaAdapter(pa.schema([("v", source)]), [ColumnHandle("v", target)], where="f.orc")
    assert caught.value.code.name == "UNSUPPORTED_COERCION"


def test_strict_refuses_what_could_lose_a_value() -> None:
    with pytest.raises(NotSupportedError):
        adaptation(pa.int64(), pa.int32(), TimeConventions(), "v", LOSSLESS)
    assert adaptation(pa.int32(), pa.int64(), TimeConventions(), "v", LOSSLESS) is not None


def test_nested_columns_are_matched_by_name_and_keep_their_nulls() -> None:
    inner = pa.struct([("B", pa.int32()), ("gone", pa.string()), ("a", pa.string())])
    source = pa.list_(pa.field("bag", inner))
    target = pa.list_(pa.struct([("a", pa.string()), ("b", pa.int64()), ("new", pa.date32())]))
    values = pa.array(
        [[{"B": 0, "gone": "", "a": "cut off"}], [{"B": 1, "gone": "g", "a": "x"}, None], None, [], [{"B": None}]],
        source,
    )
    expected = [[{"a": "x", "b": 1, "new": None}, None], None, [], [{"a": None, "b": None, "new": None}]]
    # Sliced, as a reader's batches are.
    assert _cast(values.slice(1), target) == expected


def test_maps_are_cast_inside() -> None:
    values = pa.array([[("k", {"x": 1})], None, []], pa.map_(pa.string(), pa.struct([("x", pa.int8())])))
    target = pa.map_(pa.string(), pa.struct([("X", pa.int32()), ("y", pa.string())]))
    assert _cast(values.slice(0, 2), target) == [[("k", {"X": 1, "y": None})], None]


def test_a_missing_column_is_null_and_sources_go_before_names() -> None:
    schema = pa.schema([("A", pa.int32()), ("b", pa.int32())])
    columns = [ColumnHandle(name, pa.int32()) for name in ("a", "renamed", "third", "absent")]
    adapter = SchemaAdapter(schema, columns, sources={"renamed": "B", "third": 0, "absent": None})
    assert adapter.positions == (0, 1, 0, None)


# Day numbers that Hive wrote for dates of these names, in the hybrid calendar (Parquet tables of the corpus).
@pytest.mark.parametrize(
    ("day", "name"),
    [
        (-719164, "0001-01-01"),
        (-171597, "1500-02-28"),
        (-171596, "1500-03-01"),  # Julian 1500-02-29, which is no date any more
        (-171595, "1500-03-01"),
        (-141428, "1582-10-04"),
        (-141427, "1582-10-15"),
        (0, "1970-01-01"),
        (2932896, "9999-12-31"),
    ],
)
def test_days_of_the_julian_calendar_keep_their_names(day: int, name: str) -> None:
    dates = pa.array([day, None], pa.int32()).view(pa.date32())
    assert rebase_dates(dates).cast(pa.string()).to_pylist() == [name, None]
    micros = pa.array([day * 86_400_000_000 + 1, None], pa.int64()).view(pa.timestamp("us"))
    assert rebase_timestamps(micros).cast(pa.string()).to_pylist() == [f"{name} 00:00:00.000001", None]


def test_an_instant_becomes_the_wall_clock_of_the_zone() -> None:
    instant = pa.array([datetime(2024, 7, 1, 12, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    assert _cast(instant, pa.timestamp("us"), TimeConventions(zone="Europe/Berlin")) == [datetime(2024, 7, 1, 14)]
    assert _cast(instant, pa.timestamp("us"), TimeConventions(zone="GMT-03:00")) == [datetime(2024, 7, 1, 9)]


def test_int96_is_an_instant_for_instants() -> None:
    function = adaptation(INT96, pa.timestamp("us", "UTC"), TimeConventions(zone="Europe/Berlin"), "v")
    assert function is not None
    read = pa.array([datetime(2024, 7, 1, 12)], pa.timestamp("us"))
    assert function(read).to_pylist() == [datetime(2024, 7, 1, 12, tzinfo=UTC)]


@pytest.mark.parametrize(
    ("metadata", "created_by", "expected"),
    [
        ({b"writer.date.proleptic": b"false", b"writer.time.zone": b"Asia/Tokyo"}, "parquet-mr version 1.13.1",
         TimeConventions(True, True, False, "X", "Asia/Tokyo")),
        ({b"writer.date.proleptic": b"true", b"writer.time.zone": b"UTC"}, "parquet-mr version 1.13.1",
         TimeConventions(False, True, False, "X", "UTC")),
        ({b"org.apache.spark.version": b"4.0.0"}, "parquet-mr version 1.15.0",
         TimeConventions(False, False, False, "X", "X")),
        ({b"org.apache.spark.version": b"3.5.0", b"org.apache.spark.legacyDateTime": b""}, "parquet-mr version 1.13.1",
         TimeConventions(True, False, False, "X", "X", False, True)),
        ({b"writer.zone.conversion.legacy": b"true", b"writer.time.zone": b"UTC"}, "parquet-mr version 1.13.1",
         TimeConventions(False, True, False, "X", "UTC", True)),
        ({b"org.apache.spark.version": b"3.0.1"}, "parquet-mr version 1.10.1",
         TimeConventions(False, True, False, "X", "X", True)),
        ({b"org.apache.spark.version": b"2.4.6"}, "parquet-mr version 1.10.1",
         TimeConventions(True, True, False, "X", "X", True, True)),
        (None, "parquet-mr version 1.8.1", TimeConventions(True, True, False, "X", "X", True)),
        ({b"parquet.avro.schema": b"{}"}, "parquet-mr version 1.12.3", TimeConventions(False, False, False, "X", "X")),
        (None, "impala version 4.0", TimeConventions(False, False, False, "X", "UTC")),
        (None, "parquet-cpp-arrow version 18.0.0", TimeConventions(False, False, False, "X", "UTC")),
    ],
)  # fmt: skip
def test_a_footer_tells_calendar_and_zone(
    metadata: dict[bytes, bytes] | None, created_by: str, expected: TimeConventions
) -> None:
    assert parquet_conventions(metadata, created_by, "X") == expected
