"""Tables that the conformance suite has connectors hold. Every one has an ``id`` of type int64 that is unique."""

from __future__ import annotations

import math
from collections.abc import Collection
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

from connector_spi.testing.behaviours import Behaviour

__all__ = ["NESTED_TABLE", "TYPED_COLUMNS", "VALUES", "column_table", "mixed_table", "without_missing_values"]

_PLAIN_STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.float64())])
_DEEP = pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.int32()))), ("n", pa.int64())]))

TYPED_COLUMNS: dict[Behaviour, pa.Array] = {
    Behaviour.TYPE_BINARY: pa.array([b"", b"\x00\xff", None, b"abc"], pa.binary()),
    Behaviour.TYPE_BOOLEAN: pa.array([True, False, None, True], pa.bool_()),
    Behaviour.TYPE_DATE: pa.array([date(1970, 1, 1), date(1969, 12, 31), None, date(9999, 12, 31)], pa.date32()),
    Behaviour.TYPE_DECIMAL: pa.array(
        [Decimal("0.00"), Decimal("-99999999.99"), None, Decimal("12345678.90")], pa.decimal128(10, 2)
    ),
    Behaviour.TYPE_DEEPLY_NESTED: pa.array(
        [[{"m": [("a", [1, None]), ("b", None)], "n": 1}], [], None, [None, {"m": None, "n": None}]], _DEEP
    ),
    Behaviour.TYPE_DOUBLE: pa.array([-0.0, float("nan"), None, float("-inf")], pa.float64()),
    Behaviour.TYPE_FLOAT: pa.array([1.5, float("inf"), None, -3.25], pa.float32()),
    Behaviour.TYPE_INT8: pa.array([-128, 127, None, 0], pa.int8()),
    Behaviour.TYPE_INT16: pa.array([-(2**15), 2**15 - 1, None, 0], pa.int16()),
    Behaviour.TYPE_INT32: pa.array([-(2**31), 2**31 - 1, None, 0], pa.int32()),
    Behaviour.TYPE_LIST: pa.array([["a", None], [], None, ["b"]], pa.list_(pa.string())),
    Behaviour.TYPE_MAP: pa.array([[("k", 1), ("l", None)], [], None, [("", 2)]], pa.map_(pa.string(), pa.int64())),
    Behaviour.TYPE_STRUCT: pa.array(
        [{"x": 1, "y": "a", "z": 0.5}, {"x": None, "y": None, "z": None}, None, {"x": 4, "y": "", "z": -1.0}],
        _PLAIN_STRUCT,
    ),
    Behaviour.TYPE_TIMESTAMP: pa.array(
        [
            datetime(1970, 1, 1),
            datetime.fromisoformat("1900-01-01 00:00:00.000001"),
            None,
            datetime.fromisoformat("2024-02-29 23:59:59.999999"),
        ],
        pa.timestamp("us"),
    ),
    Behaviour.TYPE_TIMESTAMP_UTC: pa.array(
        [
            datetime(1970, 1, 1, tzinfo=UTC),
            datetime.fromisoformat("1900-01-01 00:00:00.000001+00:00"),
            None,
            datetime(2024, 3, 31, 1, 30, tzinfo=UTC),
        ],
        pa.timestamp("us", "UTC"),
    ),
}
"""Four values with a null, for each type but int64 and string, which every connector has."""

NESTED_TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int64()),
        "st": TYPED_COLUMNS[Behaviour.TYPE_STRUCT],
        "items": pa.array(
            [[{"x": 1, "y": "a", "z": 1.0}, None], [], None, [{"x": None, "y": "b", "z": 0.0}]], pa.list_(_PLAIN_STRUCT)
        ),
    }
)
"""A struct and a list of structs, with nulls on each level."""


VALUES: dict[Behaviour, float | str] = {
    Behaviour.VALUE_CONTROL_CHARACTERS: "a\nb\tc\rd",
    Behaviour.VALUE_EMPTY_STRING: "",
    Behaviour.VALUE_INFINITY: float("-inf"),
    Behaviour.VALUE_NAN: float("nan"),
    Behaviour.VALUE_NEGATIVE_ZERO: -0.0,
}
"""A value of each kind that a connector may lack."""


def column_table(behaviour: Behaviour, missing: Collection[Behaviour]) -> pa.Table:
    """A table of ``id`` and a column ``v`` of one type."""
    values = TYPED_COLUMNS[behaviour]
    ids = pa.array(range(1, len(values) + 1), pa.int64())
    return without_missing_values(pa.table({"id": ids, "v": values}), missing)


def without_missing_values(table: pa.Table, missing: Collection[Behaviour]) -> pa.Table:
    """The table with 1.0 and ``-`` in place of the values that the connector lacks, in its flat columns."""

    def is_missing(value: object) -> bool:
        if isinstance(value, float):
            return (
                (Behaviour.VALUE_NAN in missing and math.isnan(value))
                or (Behaviour.VALUE_INFINITY in missing and math.isinf(value))
                or (Behaviour.VALUE_NEGATIVE_ZERO in missing and value == 0 and math.copysign(1, value) < 0)
            )
        if isinstance(value, str):
            return (Behaviour.VALUE_EMPTY_STRING in missing and not value) or (
                Behaviour.VALUE_CONTROL_CHARACTERS in missing and any(ord(letter) < 32 for letter in value)
            )
        return False

    for at, field in enumerate(table.schema):
        other = "-" if pa.types.is_string(field.type) else 1.0
        values = table.column(at).to_pylist()
        if any(map(is_missing, values)):
            kept = pa.array([other if is_missing(value) else value for value in values], field.type)
            table = table.set_column(at, field, kept)
    return table


def mixed_table(missing: Collection[Behaviour]) -> pa.Table:
    """A table of 24 rows with a column of each flat type that is not missing, for filters.

    ``part`` has few values, so that it can be a partition key; ``id`` rises, so that ranges of rows differ in it.
    """
    count = 24
    columns = {
        "id": pa.array(range(count), pa.int64()),
        "name": pa.array([None if row % 7 == 3 else f"{'abcä'[row % 4]}{row // 8}" for row in range(count)]),
    }
    for behaviour, values in TYPED_COLUMNS.items():
        if behaviour not in missing and not pa.types.is_nested(values.type):
            columns[behaviour.name.lower()] = values.take(pa.array([row // 3 % len(values) for row in range(count)]))
    columns["part"] = pa.array([f"p{row // 5}" for row in range(count)])
    return without_missing_values(pa.table(columns), missing)
