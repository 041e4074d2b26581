"""Ordering values against what Java's ``compareTo`` says of them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from connector_spi.errors import NotSupportedError
from connectors.hudi.merge.ordering import as_table_type, binlog_keys, is_default, ordering_keys

# Each list ascends, as Java has it; NULL stands before all.
ASCENDING: list[tuple[pa.DataType, list[object]]] = [
    (pa.int32(), [None, -(2**31), -1, 0, 1, 2**31 - 1]),
    (pa.int64(), [None, -(2**63) + 1, -1, 0, 2**63 - 1]),
    (pa.bool_(), [None, False, True]),
    (pa.float32(), [None, float("-inf"), -1.5, -0.0, 0.0, 1.5, float("inf"), float("nan")]),
    (pa.float64(), [None, float("-inf"), -1.5, -0.0, 0.0, 5e-324, 1.5, float("inf"), float("nan")]),
    (pa.decimal128(5, 2), [None, Decimal("-999.99"), Decimal("-0.01"), Decimal("0.00"), Decimal("0.01")]),
    (pa.decimal128(38, 0), [None, Decimal(-(10**37)), Decimal(-1), Decimal(0), Decimal(2**64), Decimal(10**37)]),
    (pa.string(), [None, "", "A", "B", "a", "aa", "ä", "\ud7ff", "\U0001f600", "\ue000", "\uffff"]),
    (pa.date32(), [None, date(1582, 10, 4), date(1970, 1, 1), date(2024, 1, 1)]),
    (pa.timestamp("us", "UTC"), [None, datetime(1960, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)]),
]


@pytest.mark.parametrize(("kind", "values"), ASCENDING, ids=[str(kind) for kind, _ in ASCENDING])
def test_order(kind: pa.DataType, values: list[object]) -> None:
    keys = ordering_keys([pa.array(values, kind)], "table")
    positions = np.arange(len(values))
    for position in positions:
        here = keys.take(np.full(len(values), position))
        assert list(here.greater(keys)) == [position > other for other in positions]
        assert list(keys.greater(here)) == [other > position for other in positions]


def test_order_of_slices_of_arrays() -> None:
    for kind, values in ASCENDING:
        whole = pa.concat_arrays([pa.array(values[::-1], kind), pa.array(values, kind)])
        keys = ordering_keys([whole.slice(len(values))], "table")
        following = keys.take(np.arange(1, len(values)))
        assert following.greater(keys.take(np.arange(len(values) - 1))).all()


def test_several_fields_compare_one_after_the_other() -> None:
    first, second = pa.array([1, 1, 2, None], pa.int64()), pa.array(["b", "c", "a", "z"])
    keys = ordering_keys([first, second], "table")
    order = [3, 0, 1, 2]
    for position, row in enumerate(order):
        here = keys.take(np.full(4, row))
        assert list(here.greater(keys.take(np.array(order)))) == [position > other for other in range(4)]


def test_positions_of_binlogs_compare_as_numbers() -> None:
    texts = pa.array(["mysql-bin.9.4", "mysql-bin.9.30", "mysql-bin.10.1", "10.2"])
    keys = binlog_keys([texts])
    assert keys.take(np.array([1, 2, 3])).greater(keys.take(np.array([0, 1, 2]))).all()


def test_an_unknown_type_is_refused_by_name() -> None:
    with pytest.raises(NotSupportedError, match=r"\] table: ordering values .* of type binary"):
        ordering_keys([pa.array([b"a"])], "table")


def test_the_int_zero_stands_for_no_value() -> None:
    assert list(is_default(pa.array([None, 0, 1], pa.int32()))) == [True, True, False]
    assert list(is_default(pa.array([None, 0, 1], pa.int64()))) == [True, False, False]


@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        (pa.array([7], pa.int32()), pa.int64(), 7),
        (pa.array([7], pa.int64()), pa.int32(), 7),
        (pa.array([7], pa.int64()), pa.timestamp("us", "UTC"), datetime(1970, 1, 1, 0, 0, 0, 7, tzinfo=UTC)),
        (pa.array([0], pa.timestamp("us", "UTC")), pa.timestamp("ms", "UTC"), datetime(1970, 1, 1, tzinfo=UTC)),
        (pa.array([1], pa.int32()), pa.date32(), date(1970, 1, 2)),
        (pa.array([1], pa.int64()), pa.float64(), 1.0),
        (pa.array([Decimal("1.500000000000000")], pa.decimal128(30, 15)), pa.decimal128(12, 2), Decimal("1.50")),
        (pa.array(["a"]), pa.string(), "a"),
        (pa.nulls(1), pa.string(), None),
    ],
)  # fmt: skip
def test_values_of_deletes_in_the_tables_type(given: pa.Array, kind: pa.DataType, expected: object) -> None:
    cast = as_table_type(given, kind)
    assert cast is not None
    assert cast.type == kind
    assert cast.to_pylist() == [expected]


def test_values_of_classes_that_do_not_compare() -> None:
    assert as_table_type(pa.array(["a"]), pa.int64()) is None
    assert as_table_type(pa.array([1]), pa.string()) is None
