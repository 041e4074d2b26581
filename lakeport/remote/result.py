"""Results of statements that a server runs."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.connect.dataframe import DataFrame as RemoteFrame
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.types import StructType

from connector_spi.errors import NotSupportedError
from lakeport.engine import LazyResult, ResultRows, Work
from lakeport.spark.bridge.types import arrow_schema, arrow_type, task_schema

__all__ = ["RemoteResult", "RemoteWork"]


class RemoteResult(LazyResult):
    """A statement that a server has planned.

    Args:
        frame: The DataFrame, which is the native result.
    """

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    @property
    def columns(self) -> list[str]:
        return list(self._frame.columns)

    @property
    def native(self) -> DataFrame:
        return self._frame

    def rows(self) -> ResultRows:
        return _rows(self._frame)

    def first(self, count: int) -> pa.Table:
        found = _rows(self._frame.limit(count))
        return pa.Table.from_batches(found.batches, found.schema)


class RemoteWork(Work):
    """What this thread has a server do: operations of a tag.

    Args:
        session: The session.
        tag: A tag that no other work has.
    """

    def __init__(self, session: SparkSession, tag: str) -> None:
        super().__init__()
        self._session = session
        self._tag = tag
        session.addTag(tag)

    def cancel(self) -> None:
        self._session.interruptTag(self._tag)


def _rows(frame: DataFrame) -> ResultRows:
    """Streams a result. Types that Arrow does not have become text, and names may be duplicate."""
    names, fields = frame.columns, frame.schema.fields
    session = frame.sparkSession
    numbered = frame.toDF(*(f"c{index}" for index in range(len(names))))
    columns = [
        numbered[f"c{index}"] if _is_in_arrow(field.dataType.jsonValue()) else numbered[f"c{index}"].cast("string")
        for index, field in enumerate(fields)
    ]
    numbered = numbered.select(*columns)
    plain = task_schema(arrow_schema(numbered.schema.json()))
    zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
    shown = pa.schema([(name, _in_zone(field.type, zone)) for name, field in zip(names, plain, strict=True)])
    return ResultRows(shown, _batches(numbered, shown))


def _batches(frame: DataFrame, shown: pa.Schema) -> Iterator[pa.RecordBatch]:
    assert isinstance(frame, RemoteFrame)
    client = frame.sparkSession.client
    for found in client.to_table_as_iterator(frame._plan.to_proto(client), {}):
        if not isinstance(found, StructType):
            columns = [column.cast(field.type) for column, field in zip(found.columns, shown, strict=True)]
            yield from pa.Table.from_arrays(columns, schema=shown).to_batches()


def _is_in_arrow(type_json: object) -> bool:
    try:
        arrow_type(type_json)
    except NotSupportedError:
        return False
    return True


def _in_zone(data_type: pa.DataType, zone: str) -> pa.DataType:
    instant = pa.types.is_timestamp(data_type) and data_type.tz is not None
    return pa.timestamp("us", zone) if instant else data_type
