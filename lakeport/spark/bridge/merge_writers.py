"""Writer factories for changes of rows, by a Java class that Janino compiles."""

from __future__ import annotations

import json

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from connector_spi.errors import NotSupportedError
from connector_spi.optional.page_sink import OPERATION_COLUMN
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.python_tasks import row_writer_factory
from lakeport.spark.tasks.writing import TaskWriter

__all__ = ["merge_writer_factory"]

_NAME = "MergeWriterFactory"


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
    constructor = _constructor(jvm)
    fields = [{"name": OPERATION_COLUMN, "type": "byte", "nullable": True, "metadata": {}}]
    for struct in (ids, columns):
        # A row to insert has no id, one to delete no columns.
        fields += [{**field, "nullable": True} for field in json.loads(str(struct.json()))["fields"]]
    rows = row_writer_factory(jvm, writer, jvm.data_type(json.dumps({"type": "struct", "fields": fields})))
    return constructor.newInstance(jvm.array("java.lang.Object", [rows, ids, columns]))


def _constructor(jvm: Jvm) -> JavaObject:
    try:
        return java_classes.shared_constructor(jvm, _NAME)
    except (Py4JError, OSError) as error:
        raise NotSupportedError(
            f"rows cannot be changed in this Spark, since {java_classes.PACKAGE}{_NAME} cannot be loaded: "
            f"{java_classes.first_line(error)}"
        ) from error
