"""Writer factories of Python tasks: for rows, and for changes of rows, by Java classes that Janino compiles."""

from __future__ import annotations

import base64
import json
import pickle
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.sql.types import BinaryType, StructType

from connector_spi.errors import NotSupportedError
from connector_spi.optional.page_sink import OPERATION_COLUMN
from lakeport.spark.bridge.columns import arrow_writer_factory, columns_unavailable, prepare_columns
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.python_tasks import python_source, worker_command
from lakeport.spark.bridge.versions import python_writer_factory
from lakeport.spark.tasks.writing import MESSAGE_COLUMN, TaskWriter

__all__ = ["FEW_ROWS", "RowWriting", "merge_writer_factory", "merge_writing", "row_writing"]

_MODULE = "pyspark.sql.worker.write_into_data_source"
"""The worker runs functions of this module as the write into a data source."""
_MERGES = "MergeWriterFactory"
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_MOST_DIGITS = 18
"""Of a decimal that a Spark row has as a long (``Decimal.MAX_LONG_DIGITS``)."""
FEW_ROWS = 100
"""A task of no more rows sends them to the driver, which writes them sooner than the task's Python has begun."""


@dataclass(frozen=True, slots=True)
class RowWriting:
    """How the rows of one write get from Spark to sinks.

    Attributes:
        writer: What tasks run; on the driver it writes the rows of tasks that send theirs.
        columns: Spark's struct of the rows, as JSON text.
        given: Spark's struct of what the writer gets; ``None`` where Spark's own factory hands the rows over.
    """

    writer: TaskWriter
    columns: str
    given: str | None

    def factory(self, jvm: Jvm, *, streaming: bool = False) -> JavaObject:
        """The writer factory of Python tasks, where ``streaming`` says so for a batch of a streaming query."""
        source, command = python_source(jvm), _command(self.writer)
        if self.given is None:
            struct = jvm.data_type(self.columns)
            return python_writer_factory(jvm, source, command, struct, streaming=streaming)
        return arrow_writer_factory(jvm, source, command, self.columns, self.given, few=FEW_ROWS)

    def words(self, jvm: Jvm) -> dict[str, str | int]:
        """What ``TaskParts.java`` makes the same factory of; empty where it does not."""
        if self.given is None:
            return {}
        prepare_columns(jvm, python_source(jvm))
        function = base64.b64encode(_command(self.writer)).decode()
        return {"function": function, "columns": self.columns, "given": self.given, "few": FEW_ROWS}


def row_writing(jvm: Jvm, writer: TaskWriter, columns: str, *, streaming: bool = False) -> RowWriting:
    """How rows are written that an insert adds.

    Args:
        jvm: The JVM.
        writer: What the tasks share.
        columns: Spark's struct of the rows, as JSON text.
        streaming: The rows are a batch of a streaming query.
    """
    if streaming or columns_unavailable(jvm) is not None:
        return RowWriting(writer, columns, None)
    fields = json.loads(columns)["fields"]
    decimals = _short_decimals(fields)
    if not decimals:
        return RowWriting(writer, columns, columns)
    given = [{**field, "type": "long"} if index in decimals else field for index, field in enumerate(fields)]
    return RowWriting(replace(writer, decimals=tuple(decimals.items())), columns, _struct(given))


def merge_writing(jvm: Jvm, writer: TaskWriter, ids: str, columns: str) -> RowWriting:
    """How changes of rows are written, as rows of an operation, an id and columns.

    Args:
        jvm: The JVM.
        writer: What the tasks share.
        ids: Spark's struct of row ids, as JSON text.
        columns: Spark's struct of rows to insert; of no fields where rows are only deleted.
    """
    fields = [{"name": OPERATION_COLUMN, "type": "byte", "nullable": True, "metadata": {}}]
    for struct in (ids, columns):
        # A row to insert has no id, one to delete no columns.
        fields += [{**field, "nullable": True} for field in json.loads(struct)["fields"]]
    return row_writing(jvm, writer, _struct(fields))


def merge_writer_factory(jvm: Jvm, writing: RowWriting, ids: JavaObject, columns: JavaObject) -> JavaObject:
    """A ``DeltaWriterFactory`` whose tasks write with Python.

    Args:
        jvm: The JVM.
        writing: As of ``merge_writing``.
        ids: Spark's struct of row ids.
        columns: Spark's struct of rows to insert.

    Raises:
        NotSupportedError: This Spark cannot compile the class.
    """
    constructor = _merge_constructor(jvm)
    return constructor.newInstance(jvm.array("java.lang.Object", [writing.factory(jvm), ids, columns]))


def _command(writer: TaskWriter) -> bytes:
    """What a worker runs."""
    pickled = pickle.dumps(writer)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle as worker_pickle

        task: TaskWriter = worker_pickle.loads(pickled)
        return task.write(batches)

    return worker_command(write, _MODULE, StructType().add(MESSAGE_COLUMN, BinaryType()))


def _struct(fields: list[dict[str, object]]) -> str:
    return json.dumps({"type": "struct", "fields": fields})


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
