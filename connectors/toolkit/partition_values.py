"""Partition keys in paths and as typed constants (Hive's ``FileUtils``; Spark's ``PartitioningUtils``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext

import pyarrow as pa

from connector_spi.errors import ErrorCode, ErrorType, ExternalError
from connector_spi.partition_names import DEFAULT_PARTITION, unescape_path_name
from connector_spi.predicate import Value

__all__ = [
    "constant_array",
    "constant_batch",
    "parse_partition_path",
    "partition_value",
]

_BAD_PARTITION_VALUE = ErrorCode("BAD_PARTITION_VALUE", ErrorType.EXTERNAL)
"""The text of a partition value does not fit the type of its key. Rename or drop the partition."""
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?Infinity|NaN")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_TIMESTAMP = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?")
_INTEGER_BITS = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}


def parse_partition_path(path: str) -> tuple[tuple[str, str], ...]:
    """Reads the ``key=value`` folders at the end of a path or the whole of a partition's name.

    Args:
        path: Such as ``ds=2024-01-01/region=a%2Fb``; folders without ``=`` before them are ignored.

    Returns:
        Keys (lower case) and values, unescaped, in order.
    """
    pairs: list[tuple[str, str]] = []
    for part in path.strip("/").split("/"):
        key, equals, value = part.partition("=")
        if equals and key:
            pairs.append((unescape_path_name(key).lower(), unescape_path_name(value)))
        else:
            pairs.clear()
    return tuple(pairs)


def partition_value(text: str | None, arrow: pa.DataType, where: str) -> Value | None:
    """Types the text of a partition key.

    ``DEFAULT_PARTITION`` is NULL for every type of key, as in Spark and Trino. Hive itself returns the text for a key
    of type string.

    Args:
        text: Unescaped; ``None`` and ``DEFAULT_PARTITION`` are NULL.
        arrow: Type of the key.
        where: Names the key and partition for the message.

    Raises:
        ExternalError: The text is not a value of the type (code ``BAD_PARTITION_VALUE``).
    """
    if text is None or text == DEFAULT_PARTITION:
        return None
    try:
        return _read(text, arrow)
    except (ValueError, InvalidOperation, OverflowError) as error:
        raise ExternalError(
            f"{where}: {text!r} is not a value of type {arrow}; correct or drop the partition", _BAD_PARTITION_VALUE
        ) from error


def constant_array(value: Value | None, arrow: pa.DataType, rows: int) -> pa.Array:
    """A column that holds one value ``rows`` times."""
    if value is None:
        return pa.nulls(rows, arrow)
    return pa.repeat(pa.scalar(value, arrow), rows)


def constant_batch(schema: pa.Schema, constants: Mapping[str, Value | None], rows: int) -> pa.RecordBatch:
    """A batch in which every column is a constant; of no columns too, with a row count."""
    if not schema.names:
        empty = pa.StructArray.from_buffers(pa.struct([]), rows, [None])
        return pa.RecordBatch.from_struct_array(empty)
    arrays = [constant_array(constants[field.name], field.type, rows) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _read(text: str, arrow: pa.DataType) -> Value:
    for matches, read in _READERS:
        if matches(arrow):
            return read(text, arrow)
    raise ValueError(f"no partition key can be of type {arrow}")


def _read_boolean(text: str, _: pa.DataType) -> bool:
    lowered = text.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError(text)
    return lowered == "true"


def _read_integer(text: str, arrow: pa.DataType) -> int:
    if _INTEGER.fullmatch(text.strip()) is None:
        raise ValueError(text)
    value = int(text)
    bound = 1 << (_INTEGER_BITS[arrow] - 1)
    if not -bound <= value < bound:
        raise OverflowError(text)
    return value


def _read_float(text: str, arrow: pa.DataType) -> float:
    if _NUMBER.fullmatch(text.strip()) is None:
        raise ValueError(text)
    value: float = pa.scalar(float(text), arrow).as_py()
    return value


def _read_decimal(text: str, arrow: pa.DataType) -> Decimal:
    if _NUMBER.fullmatch(text.strip()) is None:
        raise ValueError(text)
    with localcontext() as context:
        context.prec = 78
        value = Decimal(text.strip()).quantize(Decimal(1).scaleb(-arrow.scale), ROUND_HALF_UP)
    pa.scalar(value, arrow)
    return value


def _read_date(text: str, _: pa.DataType) -> date:
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return date(*(int(part) for part in match.groups()))


def _read_timestamp(text: str, arrow: pa.DataType) -> datetime:
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    *whole, fraction = match.groups()
    micros = int((fraction or "0").ljust(6, "0")[:6])
    year, month, day, hour, minute, second = (int(part or 0) for part in whole)
    at = time(hour, minute, second, micros, tzinfo=UTC if arrow.tz else None)
    return datetime.combine(date(year, month, day), at)


_Reader = Callable[[str, pa.DataType], Value]
_READERS: tuple[tuple[Callable[[pa.DataType], bool], _Reader], ...] = (
    (pa.types.is_string, lambda text, _: text),
    (pa.types.is_binary, lambda text, _: text.encode()),
    (pa.types.is_boolean, _read_boolean),
    (lambda arrow: arrow in _INTEGER_BITS, _read_integer),
    (pa.types.is_floating, _read_float),
    (pa.types.is_decimal, _read_decimal),
    (pa.types.is_date, _read_date),
    (pa.types.is_timestamp, _read_timestamp),
)
