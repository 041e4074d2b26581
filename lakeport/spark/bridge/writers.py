"""Writer factories of Python tasks: for rows, and for changes of rows, by Java classes that Janino compiles."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.sql.types import BinaryType, StructType

from connector_spi.errors import NotSupportedError
from connector_spi.optional.page_sink import OPERATION_COLUMN
from lakeport.spark.bridge.columns import arrow_writer_factory, columns_unavailable
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.python_tasks import python_source, worker_command
from lakeport.spark.bridge.versions import python_writer_factory
from lakeport.spark.tasks.writing import MESSAGE_COLUMN, TaskWriter

__all__ = ["merge_writer_factory", "row_writer_factory"]

_MODULE = "pyspark.sql.worker.write_into_data_source"
"""The worker runs functions of this module as the write into a data source."""
_MERGES = "MergeWriterFactory"
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_MOST_DIGITS = 18
"""Of a decimal that a Spark row has as a long (``Decimal.MAX_LONG_DIGITS``)."""


def row_writer_factory(jvm: Jvm, writer: TaskWriter, schema: JavaObject, *, streaming: bool = False) -> JavaObject:
    """The writer factory of an insert's Python tasks.

    Args:
        jvm: The JVM.
        writer: What the tasks share.
        schema: Spark's struct of the rows.
        streaming: The rows are a batch of a streaming query.
    """
    if streaming or columns_unavailable(jvm) is not None:
        return python_writer_factory(jvm, python_source(jvm), _command(writer), schema, streaming=streaming)
    fields = json.loads(str(schema.json()))["fields"]
    decimals = _short_decimals(fields)
    given = [{**field, "type": "long"} if index in decimals else field for index, field in enumerate(fields)]
    command = _command(replace(writer, decimals=tuple(decimals.items())))
    return arrow_writer_factory(jvm, python_source(jvm), command, schema, _struct(jvm, given) if decimals else schema)


def merge_writer_factory(jvm: Jvm, writer: TaskWriter, ids: JavaObject, columns: JavaObject) -> JavaObject:
    """A ``DeltaWriterFactory`` whose tasks write with Python.

    Args:
        jvm: The JVM.
        writer: What the tasks share.
        ids: Spark's struct of row ids.
        columns: Spark's struct of rows to insert; of no fields where rows are only deleted.

    Raises:
        NotSupportedError: This Spark cannot compile the class.
    """
    constructor = _merge_constructor(jvm)
    fields = [{"name": OPERATION_COLUMN, "type": "byte", "nullable": True, "metadata": {}}]
    for struct in (ids, columns):
        # A row to insert has no id, one to delete no columns.
        fields += [{**field, "nullable": True} for field in json.loads(str(struct.json()))["fields"]]
    rows = row_writer_factory(jvm, writer, _struct(jvm, fields))
    return constructor.newInstance(jvm.array("java.lang.Object", [rows, ids, columns]))


def _command(writer: TaskWriter) -> bytes:
    """What a worker runs."""
    pickled = pickle.dumps(writer)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle as worker_pickle

        task: TaskWriter = worker_pickle.loads(pickled)
        return task.write(batches)

    return worker_command(write, _MODULE, StructType().add(MESSAGE_COLUMN, BinaryType()))


def _struct(jvm: Jvm, fields: list[dict[str, object]]) -> JavaObject:
    return jvm.data_type(json.dumps({"type": "struct", "fields": fields}))


def _short_decimals(fields: list[dict[str, object]]) -> dict[int, pa.DataType]:
    """The columns, by position, whose values a Spark row has as longs."""
    found = {index: _DECIMAL.fullmatch(str(field["type"])) for index, field in enumerate(fields)}
    digits = {index: (int(match[1]), int(match[2])) for index, match in found.items() if match is not None}
    return {index: pa.decimal128(*both) for index, both in digits.items() if both[0] <= _MOST_DIGITS}


def _merge_constructor(jvm: Jvm) -> JavaObject:
    try:
        return java_classes.shared_constructor(jvm, _MERGES)
    except (Py4JError, OSError) as error:
        raise NotSupportedError(
            f"rows cannot be changed in this Spark, since {java_classes.PACKAGE}{_MERGES} cannot be loaded: "
            f"{java_classes.first_line(error)}"
        ) from error
