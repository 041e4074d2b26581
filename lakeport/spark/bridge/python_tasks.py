"""Reader factories and partitions of scans in Python tasks, through Spark's own Python data sources."""

from __future__ import annotations

import base64
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
from lakeport.spark.bridge.columns import columnar_reader_factory, prepare_columns
from lakeport.spark.bridge.compiled import java_classes
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
    "factory_words",
    "partition_words",
    "python_metrics",
    "python_source",
    "split_partitions",
    "split_reader_factory",
    "worker_command",
]

_PYTHON = "org.apache.spark.sql.execution.datasources.v2.python."
_READ_MODULE = "pyspark.sql.worker.plan_data_source_read"
"""The worker runs functions of this module as the read of a data source."""

_exec_lock = threading.Lock()
_Batches = Iterable[pa.RecordBatch]
_Function = Callable[[_Batches], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class TaskRows:
    """What Python tasks give to Spark.

    Attributes:
        schema_json: Spark's ``StructType``, as JSON text.
        columnar: As columns, else row by row; only where ``columns_unavailable`` gives ``None``.
    """

    schema_json: str
    columnar: bool


def python_metrics(jvm: Jvm) -> JavaObject:
    """The ``CustomMetric[]`` of what tasks that hand over columns count: bytes sent to Python, and back."""
    key = "metrics of Python tasks"
    if key not in jvm.shared:
        jvm.shared[key] = python_source(jvm).createPythonMetrics()
    return jvm.shared[key]


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


def factory_words(jvm: Jvm, reader: TaskReader, given: TaskRows) -> dict[str, str]:
    """What ``TaskParts.java`` makes the reader factory of a scan's Python tasks of, which hand over columns."""
    prepare_columns(jvm, python_source(jvm))
    return {"function": base64.b64encode(_read_command(reader, given)).decode(), "columns": given.schema_json}


def partition_words(tasks: Sequence[Sequence[Split]]) -> str:
    """What ``TaskParts.java`` makes the partitions of the tasks of."""
    return _partition_words([pickle.dumps(tuple(task)) for task in tasks])


def split_partitions(jvm: Jvm, tasks: Sequence[Sequence[Split]]) -> JavaObject:
    """One ``InputPartition`` for each task."""
    return _partitions(jvm, [pickle.dumps(tuple(task)) for task in tasks])


def arrow_partitions(jvm: Jvm, table: pa.Table) -> JavaObject:
    """One ``InputPartition`` that holds the rows themselves."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return _partitions(jvm, [sink.getvalue().to_pybytes()])


def python_source(jvm: Jvm) -> JavaObject:
    """The ``UserDefinedPythonDataSource`` that names the Python of tasks."""
    if jvm.python_source is None:
        wrapped = _wrapped(jvm.context)
        jvm.python_source = jvm.cls(_PYTHON + "UserDefinedPythonDataSource")(wrapped)
    return jvm.python_source


def worker_command(run: _Function, module: str, output: StructType) -> bytes:
    """A function for a worker, pickled.

    Args:
        run: From batches to batches; travels by value, so that it imports what it needs where it runs.
        module: What Spark's worker takes it for.
        output: The columns that it gives.
    """

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
        return run(batches)

    # The functions no longer belong to an importable module, so cloudpickle sends them by value.
    checked.__module__ = run.__module__ = module
    serializer = CloudPickleSerializer()  # type: ignore[no-untyped-call]
    command: bytes = serializer.dumps((checked, output))  # type: ignore[no-untyped-call]
    return command


def _reader_factory(jvm: Jvm, reader: TaskReader | BatchReader, given: TaskRows) -> JavaObject:
    command = _read_command(reader, given)
    return _factory_of(jvm, command, given)


def _read_command(reader: TaskReader | BatchReader, given: TaskRows) -> bytes:
    pickled = pickle.dumps(reader)

    def read(batches: _Batches) -> Iterator[pa.RecordBatch]:
        import pickle as worker_pickle  # the function travels by value: what it needs is imported where it runs

        task: TaskReader | BatchReader = worker_pickle.loads(pickled)
        return task.read(batches)

    return worker_command(read, _READ_MODULE, StructType.fromJson(json.loads(given.schema_json)))


def _partition_words(payloads: Sequence[bytes]) -> str:
    return json.dumps([base64.b64encode(payload).decode() for payload in payloads])


def _partitions(jvm: Jvm, payloads: Sequence[bytes]) -> JavaObject:
    java = java_classes.function(jvm, "TaskParts")
    if java is not None:
        return java.partitions(_partition_words(payloads))
    partition = jvm.cls(_PYTHON + "PythonInputPartition")
    made = [partition(index, bytearray(payload)) for index, payload in enumerate(payloads)]
    return jvm.array(READ + "InputPartition", made)


def _factory(jvm: Jvm, read: _Function, given: TaskRows) -> JavaObject:
    return _factory_of(
        jvm, worker_command(read, _READ_MODULE, StructType.fromJson(json.loads(given.schema_json))), given
    )


def _factory_of(jvm: Jvm, command: bytes, given: TaskRows) -> JavaObject:
    if given.columnar:
        return columnar_reader_factory(jvm, python_source(jvm), command, given.schema_json)
    return python_reader_factory(jvm, python_source(jvm), command, jvm.data_type(given.schema_json))


class _Unused(DataSource):
    """A data source from which Spark only takes the Python for its tasks."""


def _wrapped(context: SparkContext) -> JavaObject:
    """An empty function with the Python of Lakeport's tasks, which may differ from that of Spark's other tasks."""
    with _exec_lock:
        chosen = context.pythonExec
        context.pythonExec = task_python(chosen, context.master or "")
        try:
            return _wrap_function(context, _Unused)
        finally:
            context.pythonExec = chosen
