"""Which types of files can be read as which types of columns, by Hive's rules of each kind of format.

Found out by giving Hive 4.0.1 itself files of every type to read as every other: its answers are kept with the tests.
What Hive refuses is refused, and so is what it reads as garbage. On purpose other than Hive: a number out of range is
NULL everywhere, where Hive's row SerDes cut its upper bits off; bytes in ORC files come as text, not as hexadecimal
digits; a float that Parquet's reader takes for an overflow (0, NaN, infinity) comes as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pyarrow as pa

from connectors.hive.formats.coercions import number_casts as numbers
from connectors.hive.formats.coercions import text_casts as words
from connectors.hive.formats.coercions import time_casts as times
from connectors.hive.formats.text.times import parse_dates
from connectors.hive.formats.text.values import parse_decimals, parse_floats, parse_integers
from connectors.toolkit.orc.types import CHAR
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import CastRules
from connectors.toolkit.schema.value_casts import leaf_cast, refused_cast

__all__ = ["ORC_RULES", "PARQUET_POSITION_RULES", "PARQUET_RULES", "ROW_RULES"]

_Make = Callable[[pa.DataType, pa.DataType], ArrayFunction]
_Table = dict[tuple[str, str], _Make]

_NUMBERS = ("integer", "float", "decimal")
_KINDS: tuple[tuple[str, Callable[[pa.DataType], bool]], ...] = (
    ("null", pa.types.is_null),
    ("boolean", pa.types.is_boolean),
    ("decimal", lambda arrow: pa.types.is_decimal(arrow) or pa.types.is_uint64(arrow)),
    ("integer", pa.types.is_integer),
    ("float", pa.types.is_floating),
    ("text", lambda arrow: arrow in (pa.string(), pa.large_string(), pa.string_view())),
    ("date", pa.types.is_date),
    ("instant", lambda arrow: pa.types.is_timestamp(arrow) and arrow.tz is not None),
    ("timestamp", pa.types.is_timestamp),
    ("binary", lambda arrow: pa.types.is_fixed_size_binary(arrow) or arrow in (pa.binary(), pa.large_binary())),
)
_CANONICAL = {
    "integer": pa.int64(),
    "text": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "binary": pa.binary(),
}


def _plain(function: ArrayFunction) -> _Make:
    return lambda source, target: function


def _to(function: Callable[[pa.Array, pa.DataType], pa.Array]) -> _Make:
    return lambda source, target: lambda array: function(array, target)


def _whole(make: _Make) -> _Make:
    return lambda source, target: numbers.whole_numbers_only(make(source, target))


def _wide_digits(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    return numbers.floats_to_decimals(pa.float64(), target)


# Numbers as numbers and as texts: all formats agree.
_COMMON: _Table = {
    ("integer", "integer"): numbers.integers_to_integers,
    ("integer", "float"): numbers.integers_to_floats,
    ("integer", "decimal"): numbers.integers_to_decimals,
    ("integer", "text"): _plain(numbers.integers_to_texts),
    ("float", "float"): numbers.integers_to_floats,
    ("float", "integer"): numbers.floats_to_integers,
    ("float", "decimal"): _wide_digits,
    ("decimal", "decimal"): numbers.integers_to_decimals,
    ("decimal", "integer"): numbers.decimals_to_integers,
    ("decimal", "float"): numbers.decimals_to_floats,
    ("decimal", "text"): lambda source, target: numbers.decimals_to_texts(stripped=True),
    ("timestamp", "text"): _plain(times.timestamps_to_texts),
    ("date", "text"): _plain(times.dates_to_texts),
    ("binary", "text"): _plain(words.binary_to_texts),
    ("text", "binary"): _plain(lambda array: array.cast(pa.binary())),
}
_TO_ALL: _Table = _COMMON | {
    **{("boolean", kind): numbers.booleans_to_numbers for kind in ("integer", "float")},
    ("boolean", "decimal"): lambda source, target: _chain(
        lambda array: array.cast(pa.int64()), numbers.integers_to_decimals(pa.int64(), target)
    ),
    ("boolean", "text"): lambda source, target: numbers.booleans_to_texts("TRUE", "FALSE"),
    ("integer", "boolean"): _plain(numbers.integers_to_booleans),
    ("float", "boolean"): _plain(numbers.floats_to_booleans),
    ("decimal", "boolean"): _plain(numbers.decimals_to_booleans),
    ("timestamp", "boolean"): _plain(times.timestamps_to_booleans),
    ("timestamp", "integer"): times.timestamps_to_integers,
    ("timestamp", "float"): times.timestamps_to_floats,
    ("timestamp", "decimal"): times.timestamps_to_decimals,
    ("timestamp", "date"): _plain(times.timestamps_to_dates),
    ("date", "timestamp"): _plain(times.dates_to_timestamps),
    ("decimal", "timestamp"): _plain(times.decimals_to_timestamps),
    ("text", "float"): _to(parse_floats),
    ("text", "decimal"): _to(parse_decimals),
}
_ORC: _Table = _TO_ALL | {
    ("float", "text"): lambda source, target: numbers.floats_to_texts(pa.float64(), nan=False),
    ("boolean", "timestamp"): lambda source, target: _chain(
        lambda array: array.cast(pa.int64()), times.integers_to_timestamps(1_000_000)
    ),
    ("integer", "timestamp"): lambda source, target: times.integers_to_timestamps(1_000_000),
    ("float", "timestamp"): lambda source, target: times.floats_to_timestamps(millis=True),
    ("text", "boolean"): _plain(words.strict_booleans),
    ("text", "integer"): _to(words.strict_integers),
    ("text", "date"): _plain(words.strict_dates),
    ("text", "timestamp"): _plain(words.strict_timestamps),
}
_ROWS: _Table = _TO_ALL | {
    ("float", "boolean"): _plain(numbers.floats_to_saturated_booleans),
    ("float", "text"): lambda source, target: numbers.floats_to_texts(source, nan=True),
    ("float", "decimal"): numbers.floats_to_decimals,
    ("decimal", "text"): lambda source, target: numbers.decimals_to_texts(stripped=False),
    ("boolean", "timestamp"): lambda source, target: _chain(
        lambda array: array.cast(pa.int64()), times.integers_to_timestamps(1000)
    ),
    ("integer", "timestamp"): lambda source, target: times.integers_to_timestamps(1000),
    ("float", "timestamp"): lambda source, target: times.floats_to_timestamps(millis=False),
    ("text", "boolean"): _plain(words.lenient_booleans),
    ("text", "integer"): _to(parse_integers),
    ("text", "date"): _plain(parse_dates),
    ("text", "timestamp"): _plain(words.lenient_timestamps),
}
_PARQUET: _Table = _COMMON | {
    ("boolean", "text"): lambda source, target: numbers.booleans_to_texts("true", "false"),
    ("float", "float"): numbers.bounded_floats,
    ("float", "integer"): _whole(numbers.floats_to_integers),
    ("decimal", "integer"): _whole(numbers.decimals_to_integers),
    ("float", "text"): lambda source, target: numbers.floats_to_texts(source, nan=True),
}


def _chain(first: ArrayFunction, second: ArrayFunction) -> ArrayFunction:
    return lambda array: second(first(array))


def _leaf(
    table: _Table, source: pa.DataType, target: pa.DataType, conventions: TimeConventions, where: str
) -> ArrayFunction | None:
    if pa.types.is_dictionary(source):
        inner = _leaf(table, source.value_type, target, conventions, where)
        return (lambda array: array.dictionary_decode()) if inner is None else _decoded(inner)
    kinds = _kind(source), _kind(target)
    if "null" in kinds or (kinds[0] == kinds[1] and kinds[0] not in _NUMBERS) or kinds == ("instant", "timestamp"):
        return leaf_cast(source, target, conventions, where)
    if source == target:
        return None
    if kinds == ("instant", "text") and table is _PARQUET:
        clock = leaf_cast(source, pa.timestamp("us"), conventions, where)
        return _chain(clock, times.timestamps_to_texts) if clock else times.timestamps_to_texts
    make = table.get((kinds[0] or "", kinds[1] or ""))
    if make is None:
        raise refused_cast(source, target, where)
    canonical = _canonical(source, kinds[0] or "")
    first = None if canonical == source else leaf_cast(source, canonical, conventions, where)
    if first is None and kinds[0] in ("date", "timestamp"):
        first = leaf_cast(source, canonical, conventions, where)
    function = make(canonical, target)
    return function if first is None else _chain(first, function)


def _decoded(function: ArrayFunction) -> ArrayFunction:
    return lambda array: function(array.dictionary_decode())


def _kind(arrow: pa.DataType) -> str | None:
    return next((name for name, matches in _KINDS if matches(arrow)), None)


def _canonical(source: pa.DataType, kind: str) -> pa.DataType:
    """The type that the functions of a kind take."""
    if pa.types.is_uint64(source):
        return pa.decimal128(20, 0)
    if pa.types.is_float16(source):
        return pa.float32()
    return _CANONICAL.get(kind, source)


def _orc_leaf(
    source: pa.DataType, target: pa.DataType, conventions: TimeConventions, where: str
) -> ArrayFunction | None:
    function = _leaf(_ORC, pa.string() if source == CHAR else source, target, conventions, where)
    if source != CHAR or _kind(target) == "binary":
        return function
    # Blanks at the end are no part of a char's value in a column of any other type.
    return words.strip_blanks if function is None else _chain(words.strip_blanks, function)


ORC_RULES = CastRules(_orc_leaf)
"""ORC files (``SchemaEvolution``, ``ConvertTreeReaderFactory``)."""
PARQUET_RULES = CastRules(partial(_leaf, _PARQUET))
"""Parquet files (``ParquetDataColumnReaderFactory``)."""
PARQUET_POSITION_RULES = replace(PARQUET_RULES, fields_by_position=True)
"""The same where columns are found by position: so are fields then (``DataWritableReadSupport.getSchemaByIndex``)."""
ROW_RULES = CastRules(partial(_leaf, _ROWS), fields_by_position=True, unions_by_value=True)
"""Files whose columns the metastore declares: from a partition's types to the table's (``ObjectInspectorConverters``).

A value of a union keeps its number, and is brought to the table's type of that number."""
