"""The rows of a DataFrame as a stream of Arrow batches, in order and in bounded memory.

``DataFrame.toArrow`` needs all rows in memory; ``toLocalIterator`` runs one partition after the other, row by row.
Here a few partitions at a time run as one job, so that all cores work, and only their rows are in memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from py4j.java_gateway import JavaObject
from pyspark import SparkContext
from pyspark.serializers import NoOpSerializer
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType
from pyspark.util import local_connect_and_auth

from connector_spi.errors import InvalidPropertyError, NotSupportedError
from lakeport.engine import LazyResult, ResultRows
from lakeport.spark.bridge.types import arrow_schema, arrow_type, task_schema

__all__ = ["SparkResult", "arrow_result"]

_LARGE_TYPES = "spark.sql.execution.arrow.useLargeVarTypes"
_WINDOW_BYTES = 64 << 20
"""Approximate bytes of rows of the partitions that run together."""


class SparkResult(LazyResult):
    """A statement that Spark has planned.

    Args:
        frame: The DataFrame, which is the native result.
    """

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    @property
    def columns(self) -> list[str]:
        return self._frame.columns

    @property
    def native(self) -> DataFrame:
        return self._frame

    def rows(self) -> ResultRows:
        return arrow_result(self._frame)

    def first(self, count: int) -> pa.Table:
        found = arrow_result(self._frame.limit(count))
        return pa.Table.from_batches(found.batches, found.schema)


def arrow_result(frame: DataFrame) -> ResultRows:
    """Streams a DataFrame. Types that Arrow does not have become text.

    Raises:
        InvalidPropertyError: Spark's batches cannot be read under a setting.
    """
    spark = frame.sparkSession
    if spark.conf.get(_LARGE_TYPES, "false") == "true":
        raise InvalidPropertyError(f"{_LARGE_TYPES} is true, expected false here; SET {_LARGE_TYPES} = false")
    names = frame.columns
    frame = frame.toDF(*(f"c{index}" for index in range(len(names))))
    frame = frame.select(
        [
            sql.col(field.name) if _in_arrow(field.dataType) else sql.col(field.name).cast("string")
            for field in frame.schema.fields
        ]
    )
    plain = task_schema(arrow_schema(frame.schema.json()))
    zone = spark.conf.get("spark.sql.session.timeZone", "UTC") or "UTC"
    shown = pa.schema([(name, _in_zone(field.type, zone)) for name, field in zip(names, plain, strict=True)])
    return ResultRows(shown, _batches(frame, plain, shown))


def _batches(frame: DataFrame, plain: pa.Schema, shown: pa.Schema) -> Iterator[pa.RecordBatch]:
    context = frame.sparkSession.sparkContext
    rdd = frame._jdf.toArrowBatchRdd().toJavaRDD()
    count = int(rdd.getNumPartitions())
    done, window = 0, context.defaultParallelism
    while done < count:
        partitions = list(range(done, min(done + window, count)))
        size = 0
        for message in _run(context, rdd, partitions):
            size += len(message)
            batch = pa.ipc.read_record_batch(pa.py_buffer(message), plain)
            yield pa.RecordBatch.from_arrays(
                [column.cast(field.type) for column, field in zip(batch.columns, shown, strict=True)], schema=shown
            )
        done += len(partitions)
        partition_bytes = max(size // len(partitions), 1)
        window = max(1, min(_WINDOW_BYTES // partition_bytes, 4 * window, 64 * context.defaultParallelism))


def _run(context: SparkContext, rdd: JavaObject, partitions: list[int]) -> Iterator[bytes]:
    """The Arrow messages of some partitions, in order."""
    served = context._jvm.PythonRDD.runJob(context._jsc.sc(), rdd, partitions)  # type: ignore[union-attr]
    file, socket = local_connect_and_auth(served[0], served[1])
    try:
        yield from NoOpSerializer().load_stream(file)  # type: ignore[no-untyped-call]
    finally:
        file.close()
        socket.close()


def _in_arrow(data_type: DataType) -> bool:
    try:
        arrow_type(data_type.jsonValue())
    except NotSupportedError:
        return False
    return True


def _in_zone(data_type: pa.DataType, zone: str) -> pa.DataType:
    instant = pa.types.is_timestamp(data_type) and data_type.tz is not None
    return pa.timestamp("us", zone) if instant else data_type
