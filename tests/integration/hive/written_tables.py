"""Rows of every type, and what each engine says that a table holds."""

from __future__ import annotations

import datetime as dt
import math
from base64 import b64decode
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import cast

import pyarrow as pa

from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import read_table
from tests.hive_corpus import canonical_rows, value_of_hive
from tests.integration.hive.engine import HiveEngine
from tests.integration.hive.trino import Trino
from tests.rows import Rows

__all__ = ["KEYS", "TYPES", "every_reader", "hive_rows", "our_rows", "rows_of_every_type", "trino_rows"]

_NESTED = "array<struct<k:string,v:map<string,decimal(10,3)>>>"
TYPES: Mapping[str, tuple[str, pa.DataType]] = {
    "id": ("int", pa.int32()),
    "b": ("boolean", pa.bool_()),
    "ti": ("tinyint", pa.int8()),
    "si": ("smallint", pa.int16()),
    "bi": ("bigint", pa.int64()),
    "f": ("float", pa.float32()),
    "d": ("double", pa.float64()),
    "m": ("decimal(9,2)", pa.decimal128(9, 2)),
    "big": ("decimal(38,10)", pa.decimal128(38, 10)),
    "s": ("string", pa.string()),
    "vc": ("varchar(10)", pa.string()),
    "ch": ("char(5)", pa.string()),
    "bin": ("binary", pa.binary()),
    "dt": ("date", pa.date32()),
    "ts": ("timestamp", pa.timestamp("us")),
    "l": ("array<int>", pa.list_(pa.int32())),
    "lt": ("array<timestamp>", pa.list_(pa.timestamp("us"))),
    "mp": ("map<string,bigint>", pa.map_(pa.string(), pa.int64())),
    "st": ("struct<a:int,b:string>", pa.struct([("a", pa.int32()), ("b", pa.string())])),
    "deep": (
        _NESTED,
        pa.list_(pa.struct([("k", pa.string()), ("v", pa.map_(pa.string(), pa.decimal128(10, 3)))])),
    ),
}
"""Hive's type and Arrow's of each column."""
KEYS: Mapping[str, tuple[str, pa.DataType]] = {
    "ks": ("string", pa.string()),
    "ki": ("int", pa.int32()),
    "kd": ("date", pa.date32()),
}
"""The same of partition keys."""
_SCHEMA = pa.schema([(name, arrow) for name, (_, arrow) in {**TYPES, **KEYS}.items()])
_DAY = dt.date(2024, 2, 29)


def rows_of_every_type() -> pa.Table:
    """Rows with usual values, the least and the greatest, empty ones and NULLs; in three partitions."""
    usual: dict[str, object] = {
        "id": 1, "b": True, "ti": 1, "si": -2, "bi": 3, "f": 0.1, "d": 0.1, "m": Decimal("1.50"),
        "big": Decimal("-0.0000000001"), "s": "été, \\ \"日本\" 'x'", "vc": "vär", "ch": "ab", "bin": b"\x00\xff\n\x01",
        "dt": _DAY, "ts": dt.datetime(2024, 3, 10, 2, 30, 0, 123456), "l": [1, None, -3],
        "lt": [dt.datetime(2001, 1, 1, 0, 0, 0, 500000), None], "mp": [("a", 1), ("b b", None)],
        "st": {"a": 7, "b": "x"}, "deep": [{"k": "p", "v": [("one", Decimal("1.250")), ("2", Decimal("-3.000"))]}],
        "ks": "a b=c/d%", "ki": 7, "kd": _DAY,
    }  # fmt: skip
    least: dict[str, object] = {
        "id": 2, "b": False, "ti": -128, "si": -32768, "bi": -(2**63), "f": -math.inf, "d": -1.7976931348623157e308,
        "m": Decimal("-9999999.99"), "big": Decimal("-" + "9" * 28 + ".9999999999"), "s": " ", "vc": "1234567890",
        "ch": "abcde", "bin": b"a", "dt": dt.date(1583, 1, 1), "ts": dt.datetime(1901, 12, 31, 23, 59, 59),
        "l": [], "lt": [], "mp": [], "st": {"a": None, "b": "y"}, "deep": [{"k": "q", "v": []}],
        "ks": "a b=c/d%", "ki": -1, "kd": dt.date(1999, 12, 31),
    }  # fmt: skip
    greatest: dict[str, object] = {
        "id": 3, "b": True, "ti": 127, "si": 32767, "bi": 2**63 - 1, "f": math.nan, "d": math.inf,
        "m": Decimal("9999999.99"), "big": Decimal("9" * 28 + ".9999999999"), "s": "end", "vc": "z", "ch": "z z",
        "bin": bytes(range(256)), "dt": dt.date(9999, 12, 31), "ts": dt.datetime(2262, 4, 11, 23, 47, 16, 854775),
        "l": [2**31 - 1], "lt": [dt.datetime(1970, 1, 1)], "mp": [("k", 2**63 - 1)], "st": {"a": 1, "b": None},
        "deep": [{"k": None, "v": [("0", None)]}, None], "ks": "x", "ki": 0, "kd": dt.date(1999, 12, 31),
    }  # fmt: skip
    nothing: dict[str, object] = {"id": 4, "ks": "x", "ki": 0, "kd": dt.date(1999, 12, 31)}
    return pa.Table.from_pylist([usual, least, greatest, nothing], _SCHEMA)


def our_rows(hive: HiveConnector, name: SchemaTableName) -> Rows:
    """What Lakeport reads."""
    found = read_table(hive, name.schema, name.table)
    return _cut(canonical_rows(found), found.column_names)


def hive_rows(engine: HiveEngine, name: SchemaTableName, schema: pa.Schema) -> Rows:
    """What Hive reads of the columns of ``schema``."""
    columns = [f"base64({one.name})" if pa.types.is_binary(one.type) else f"`{one.name}`" for one in schema]
    found = engine.sql(f"SELECT {', '.join(columns)} FROM {name}")
    values = [[value_of_hive(cell, one.type) for cell, one in zip(row, schema, strict=True)] for row in found]
    return _cut(Rows(map(tuple, values), schema.names), schema.names)


def trino_rows(trino: Trino, name: SchemaTableName, schema: pa.Schema) -> Rows:
    """What Trino reads of the columns of ``schema``."""
    columns = ", ".join(f'"{one.name}"' for one in schema)
    found = trino.sql(f"SELECT {columns} FROM hive.{name}")
    values = [[_value_of_trino(cell, one.type) for cell, one in zip(row, schema, strict=True)] for row in found]
    return _cut(Rows(map(tuple, values), schema.names), schema.names)


def every_reader(
    hive: HiveConnector, engine: HiveEngine, trino: Trino | None, name: SchemaTableName, expected: pa.Table
) -> None:
    """Checks that all read the same rows.

    Args:
        hive: Our connector.
        engine: Hive.
        trino: Trino, where it runs and can read the table.
        name: The table.
        expected: Its rows, with all of its columns.
    """
    rows = _cut(canonical_rows(expected), expected.column_names)
    assert our_rows(hive, name) == rows, f"{name}, read by Lakeport"
    assert hive_rows(engine, name, expected.schema) == rows, f"{name}, read by Hive"
    if trino is not None:
        assert trino_rows(trino, name, expected.schema) == rows, f"{name}, read by Trino"


def _cut(rows: Rows, names: Sequence[str]) -> Rows:
    """Without the blanks at the end of ``char`` values, which some show and others do not."""
    if "ch" not in names:
        return rows
    at = list(names).index("ch")
    return Rows(
        (
            (*row[:at], row[at] if row[at] is None else str(row[at]).rstrip(" "), *row[at + 1 :])
            for row in rows.elements()
        ),
        names,
    )


def _value_of_trino(value: object, arrow: pa.DataType) -> object:
    """A value of Trino's JSON in the form of ``canonical_rows``."""
    if value is None:
        return None
    if pa.types.is_list(arrow):
        return tuple(_value_of_trino(item, arrow.value_type) for item in cast("list[object]", value))
    if pa.types.is_map(arrow):
        entries = cast("dict[str, object]", value).items()
        return frozenset((key, _value_of_trino(item, arrow.item_type)) for key, item in entries)
    if pa.types.is_struct(arrow):
        fields = zip(cast("list[object]", value), arrow, strict=True)
        return tuple(_value_of_trino(item, field.type) for item, field in fields)
    if pa.types.is_floating(arrow):
        return value_of_hive(str(value), arrow)
    if pa.types.is_decimal(arrow):
        return Decimal(str(value))
    return b64decode(str(value)) if pa.types.is_binary(arrow) else value
