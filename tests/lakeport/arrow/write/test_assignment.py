"""Which rows a table takes, and what becomes of their values."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.write.assignment import assign_columns


def assigned(column: ColumnMetadata, values: pa.Array) -> pa.Array:
    batch = pa.record_batch({column.name: values})
    return assign_columns([column], batch.schema, "c.s.t").apply(batch).column(0)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (pa.array([1, None], pa.int8()), pa.array([1, None], pa.int64())),
        (pa.array([127], pa.int64()), pa.array([127], pa.int8())),
        (pa.array([1], pa.int32()), pa.array([Decimal("1.00")], pa.decimal128(10, 2))),
        (pa.array([Decimal("1.50")], pa.decimal128(5, 2)), pa.array([Decimal("1.5")], pa.decimal128(3, 1))),
        (pa.array([1.5], pa.float32()), pa.array([1.5], pa.float64())),
        (pa.array(["a"], pa.large_string()), pa.array(["a"])),
        (pa.array(["a"], pa.string_view()), pa.array(["a"])),
        (pa.array(["a", None, "a"]).dictionary_encode(), pa.array(["a", None, "a"])),
        (pa.array([b"a"], pa.binary(1)), pa.array([b"a"], pa.binary())),
        (pa.nulls(2), pa.nulls(2, pa.date32())),
        (pa.array([date(2024, 1, 2)], pa.date64()), pa.array([date(2024, 1, 2)], pa.date32())),
        (pa.array([datetime(2024, 1, 2)], pa.timestamp("ms")), pa.array([datetime(2024, 1, 2)], pa.timestamp("us"))),
        (pa.array([[1]], pa.large_list(pa.int32())), pa.array([[1]], pa.list_(pa.int64()))),
        (
            pa.array([{"x": 1, "y": "a"}], pa.struct([("x", pa.int8()), ("y", pa.large_string())])),
            pa.array([{"x": 1, "y": "a"}], pa.struct([("x", pa.int64()), ("y", pa.string())])),
        ),
        (
            pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())),
            pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())),
        ),
    ],
    ids=lambda value: str(value.type),
)
def test_values_keep_their_meaning(values: pa.Array, wanted: pa.Array) -> None:
    met = assigned(ColumnMetadata("v", wanted.type), values)
    assert met.equals(wanted)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (pa.array(["1"]), pa.int64()),
        (pa.array([1]), pa.string()),
        (pa.array([1.0]), pa.int64()),
        (pa.array([True]), pa.int64()),
        (pa.array([datetime(2024, 1, 2)], pa.timestamp("us", "UTC")), pa.timestamp("us")),
        (pa.array([datetime(2024, 1, 2)], pa.timestamp("us")), pa.timestamp("us", "UTC")),
        (pa.array([datetime(2024, 1, 2)], pa.timestamp("us")), pa.date32()),
        (pa.array([{"x": 1}]), pa.struct([("x", pa.int64()), ("y", pa.int64())])),
        (pa.array([{"y": 1, "x": 1}]), pa.struct([("x", pa.int64()), ("y", pa.int64())])),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
def test_other_types_are_refused_by_name(values: pa.Array, wanted: pa.DataType) -> None:
    with pytest.raises(InvalidArgumentError, match=r"column 'v' of c.s.t is .*the rows have .*; cast it before"):
        assigned(ColumnMetadata("v", wanted), values)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (pa.array([128]), pa.int8()),
        (pa.array([-1]), pa.uint8()),
        (pa.array([Decimal("1.55")]), pa.decimal128(3, 1)),
        (pa.array([2**53 + 1]), pa.float64()),
        (pa.array([float("inf"), -1e300]), pa.float32()),
        (pa.array([1_000]), pa.decimal128(3, 0)),
        (pa.array([1], pa.timestamp("ns")), pa.timestamp("us")),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
def test_a_value_that_does_not_fit_is_refused(values: pa.Array, wanted: pa.DataType) -> None:
    with pytest.raises(InvalidArgumentError, match="a value of column 'v' does not fit"):
        assigned(ColumnMetadata("v", wanted), values)


def test_columns_go_by_name_and_those_that_lack_are_null() -> None:
    columns = [ColumnMetadata("a", pa.int64()), ColumnMetadata("b", pa.string()), ColumnMetadata("C", pa.int64())]
    batch = pa.record_batch({"c": [3], "A": [1]})
    met = assign_columns(columns, batch.schema, "c.s.t").apply(batch)
    assert met.to_pylist() == [{"a": 1, "b": None, "C": 3}]


def test_columns_that_the_table_lacks_are_refused() -> None:
    with pytest.raises(ColumnNotFoundError, match=r"no column 'prise'; did you mean 'price'\?"):
        assign_columns([ColumnMetadata("price", pa.int64())], pa.schema([("prise", pa.int64())]), "c.s.t")
    with pytest.raises(InvalidArgumentError, match="twice"):
        assign_columns([ColumnMetadata("a", pa.int64())], pa.schema([("a", pa.int64()), ("A", pa.int64())]), "c.s.t")


def test_columns_that_may_not_be_null_need_values() -> None:
    column = ColumnMetadata("id", pa.int64(), nullable=False)
    with pytest.raises(InvalidArgumentError, match="'id' holds 1 NULLs"):
        assigned(column, pa.array([1, None]))
    with pytest.raises(InvalidArgumentError, match="lack the column 'id'"):
        assign_columns([column, ColumnMetadata("b", pa.int64())], pa.schema([("b", pa.int64())]), "c.s.t")
