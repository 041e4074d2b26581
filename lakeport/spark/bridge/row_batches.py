"""Sends many rows to Catalyst in a few round trips."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

__all__ = ["MANY_ROWS", "are_plain", "many_internal_rows"]

MANY_ROWS = 300
"""Above this number, sending rows one by one takes longer than a small Spark job."""

_PLAIN = frozenset({pa.string(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.date32()})


def are_plain(types: Sequence[pa.DataType]) -> bool:
    """Whether rows of these types can be sent together."""
    return all(data_type in _PLAIN for data_type in types)


def many_internal_rows(schema_json: str, schema: pa.Schema, rows: Sequence[tuple[object, ...]]) -> JavaObject:
    """An array of ``InternalRow``, in order: sent as Arrow, and converted to rows by a Spark plan.

    Args:
        schema_json: The rows' Spark ``StructType``.
        schema: The Arrow schema of the same fields, of plain types.
        rows: Python values, ``None`` for NULL.
    """
    columns = list(zip(*rows, strict=True))
    table = pa.Table.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema
    )
    spark = SparkSession.active()
    frame = spark.createDataFrame(table, StructType.fromJson(json.loads(schema_json)))
    collected: JavaObject = frame._jdf.queryExecution().executedPlan().executeCollect()
    return collected
