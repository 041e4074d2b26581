"""Rows in Catalyst's internal form: constants of files, partition keys, arguments of procedures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.errors import NotSupportedError
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["internal_row", "python_value"]

_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SETTERS = {
    pa.bool_(): "setBoolean",
    pa.int8(): "setByte",
    pa.int16(): "setShort",
    pa.int32(): "setInt",
    pa.int64(): "setLong",
    pa.float32(): "setFloat",
    pa.float64(): "setDouble",
    pa.date32(): "setInt",
}


def internal_row(jvm: Jvm, schema: JavaObject, types: Sequence[pa.DataType], values: Sequence[object]) -> JavaObject:
    """An ``InternalRow``.

    Args:
        jvm: The JVM.
        schema: The row's Spark ``StructType``.
        types: The Arrow types of the same fields.
        values: Python values, ``None`` for NULL.
    """
    row = jvm.cls("org.apache.spark.sql.catalyst.expressions.SpecificInternalRow")(schema)
    for index, (data_type, value) in enumerate(zip(types, values, strict=True)):
        if value is None:
            row.setNullAt(index)
            continue
        setter = "setLong" if pa.types.is_timestamp(data_type) else _SETTERS.get(data_type)
        if setter is None:
            row.update(index, _object(jvm, data_type, value))
        else:
            getattr(row, setter)(index, _number(value))
    return row


def python_value(row: JavaObject, index: int, data_type: pa.DataType) -> object:
    """A field of an ``InternalRow`` as the Python value of an Arrow type.

    Raises:
        NotSupportedError: The type is nested, and not a list of strings.
    """
    types = pa.types
    if row.isNullAt(index):
        return None
    if types.is_boolean(data_type):
        return bool(row.getBoolean(index))
    if types.is_string(data_type):
        return str(row.getUTF8String(index).toString())
    if types.is_date32(data_type):
        return _EPOCH_DAY + timedelta(days=int(row.getInt(index)))
    if types.is_timestamp(data_type):
        moment = _EPOCH + timedelta(microseconds=int(row.getLong(index)))
        return moment if data_type.tz is not None else moment.replace(tzinfo=None)
    if types.is_decimal(data_type):
        return Decimal(str(row.getDecimal(index, data_type.precision, data_type.scale).toString()))
    if types.is_binary(data_type):
        return bytes(row.getBinary(index))
    if types.is_list(data_type) and types.is_string(data_type.value_type):
        texts = row.getArray(index)
        count = range(int(texts.numElements()))
        return [None if texts.isNullAt(at) else str(texts.getUTF8String(at).toString()) for at in count]
    getters = {
        pa.int8(): "getByte",
        pa.int16(): "getShort",
        pa.int32(): "getInt",
        pa.int64(): "getLong",
        pa.float32(): "getFloat",
        pa.float64(): "getDouble",
    }
    getter = getters.get(data_type)
    if getter is None:
        raise NotSupportedError(f"a value of type {data_type} cannot be an argument")
    return getattr(row, getter)(index)


def _number(value: object) -> object:
    if isinstance(value, datetime):
        utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value
        return (utc - _EPOCH) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (value - _EPOCH_DAY).days
    return value


def _object(jvm: Jvm, data_type: pa.DataType, value: object) -> object:
    if isinstance(value, str):
        return jvm.cls("org.apache.spark.unsafe.types.UTF8String").fromString(value)
    if isinstance(value, Decimal):
        decimal = jvm.cls("org.apache.spark.sql.types.Decimal")
        return decimal.apply(str(value)).toPrecision(
            data_type.precision, data_type.scale, decimal.ROUND_HALF_UP(), False, None
        )
    if isinstance(value, bytes):
        return bytearray(value)
    raise NotSupportedError(f"a {type(value).__name__} cannot be the value of a constant column of type {data_type}")
