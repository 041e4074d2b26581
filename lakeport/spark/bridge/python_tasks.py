"""Reader factories and partitions of scans in Python tasks, through Spark's own Python data sources."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from py4j.java_gateway import JavaObject
from pyspark import SparkContext
from pyspark.serializers import CloudPickleSerializer
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType
from pyspark.sql.udf import _wrap_function

from connector_spi.handles import ColumnHandle, Split, TableHandle
from lakeport.spark.bridge.columns import columnar_reader_factory
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.versions import python_reader_factory
from lakeport.spark.tasks.interpreter import task_python
from lakeport.spark.tasks.task import BatchReader, TaskReader

__all__ = [
    "TaskRows",
    "arrow_partitions",
    "arrow_reader_factory",
    "batch_partitions",
    "batch_reader_factory",
    "split_partitions",
    "split_reader_factory",
]

_PYTHON = "org.apache.spark.sql.execution.datasources.v2.python."
_WORKER_MODULE = "pyspark.sql.worker.plan_data_source_read"
"""The worker runs a function of this module as the read of a data source."""

_exec_lock = threading.Lock()
_Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class TaskRows:
    """What Python tasks give to Spark.

    Attributes:
        schema: Spark's ``StructType``.
        schema_json: The same as JSON text.
        columnar: As columns, else row by row; only where ``columns_unavailable`` gives ``None``.
    """

    schema: JavaObject
    schema_json: str
    columnar: bool


def split_reader_factory(jvm: Jvm, reader: TaskReader, given: TaskRows) -> JavaObject:
    """The reader factory of a scan's Python tasks."""
    return _reader_factory(jvm, reader, given)


def batch_reader_factory(jvm: Jvm, reader: BatchReader, given: TaskRows) -> JavaObject:
    """The reader factory of a stream's Python tasks."""
    return _reader_factory(jvm, reader, given)


def batch_partitions(
    jvm: Jvm, table: TableHandle, columns: tuple[ColumnHandle, ...], tasks: Sequence[Sequence[Split]]
) -> JavaObject:
    """One ``InputPartition`` for each task of a stream's batch."""
    return _partitions(jvm, [pickle.dumps((table, columns, tuple(task))) for task in tasks])


def arrow_reader_factory(jvm: Jvm, schema: pa.Schema, given: TaskRows) -> JavaObject:
    """The reader factory of partitions that hold Arrow streams."""

    def read(batches: _Batches) -> Iterator[pa.RecordBatch]:
        from lakeport.spark.tasks.task import read_tables as worker_read_tables

        return worker_read_tables(batches, schema)

    return _factory(jvm, read, given)


def split_partitions(jvm: Jvm, tasks: Sequence[Sequence[Split]]) -> JavaObject:
    """One ``InputPartition`` for each task."""
    return _partitions(jvm, [pickle.dumps(tuple(task)) for task in tasks])


def arrow_partitions(jvm: Jvm, table: pa.Table) -> JavaObject:
    """One ``InputPartition`` that holds the rows themselves."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return _partitions(jvm, [sink.getvalue().to_pybytes()])


def _reader_factory(jvm: Jvm, reader: TaskReader | BatchReader, given: TaskRows) -> JavaObject:
    pickled = pickle.dumps(reader)

    def read(batches: _Batches) -> Iterator[pa.RecordBatch]:
        import pickle as worker_pickle  # the function travels by value: what it needs is imported where it runs

        task: TaskReader | BatchReader = worker_pickle.loads(pickled)
        return task.read(batches)

    return _factory(jvm, read, given)


def _partitions(jvm: Jvm, payloads: Sequence[bytes]) -> JavaObject:
    partition = jvm.cls(_PYTHON + "PythonInputPartition")
    made = [partition(index, bytearray(payload)) for index, payload in enumerate(payloads)]
    return jvm.array(READ + "InputPartition", made)


def _factory(jvm: Jvm, read: Callable[[_Batches], Iterator[pa.RecordBatch]], given: TaskRows) -> JavaObject:
    def checked(batches: _Batches) -> Iterator[pa.RecordBatch]:
        import sys as worker_sys

        try:
            import lakeport.spark.tasks.task  # noqa: F401
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"[TASK_PYTHON] {worker_sys.executable}, which runs Spark's tasks, lacks the module {error.name}: "
                "it must have Lakeport and its dependencies; set PYSPARK_PYTHON, or send a Python by spark.archives",
                name=error.name,
            ) from None
        return read(batches)

    # The functions no longer belong to an importable module, so cloudpickle sends them by value.
    checked.__module__ = read.__module__ = _WORKER_MODULE
    serializer = CloudPickleSerializer()  # type: ignore[no-untyped-call]
    command = serializer.dumps((checked, StructType.fromJson(json.loads(given.schema_json))))  # type: ignore[no-untyped-call]
    made = columnar_reader_factory if given.columnar else python_reader_factory
    return made(jvm, _source(jvm), command, given.schema)


class _Unused(DataSource):
    """A data source from which Spark only takes the Python for its tasks."""


def _source(jvm: Jvm) -> JavaObject:
    if jvm.python_source is None:
        wrapped = _wrapped(jvm.context)
        jvm.python_source = jvm.cls(_PYTHON + "UserDefinedPythonDataSource")(wrapped)
    return jvm.python_source


def _wrapped(context: SparkContext) -> JavaObject:
    """An empty function with the Python of Lakeport's tasks, which may differ from that of Spark's other tasks."""
    with _exec_lock:
        chosen = context.pythonExec
        context.pythonExec = task_python(chosen, context.master or "")
        try:
            return _wrap_function(context, _Unused)
        finally:
            context.pythonExec = chosen
