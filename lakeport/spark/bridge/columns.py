"""Reader factories that hand batches of Python tasks to Spark as columns, and writer factories that hand rows to them.

Both are Java classes that Janino compiles.
"""

from __future__ import annotations

from functools import cache

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["arrow_writer_factory", "columnar_reader_factory", "columns_unavailable", "prepare_columns"]

_NAME = "PythonTasks"
_CLASS = java_classes.PACKAGE + _NAME
_CONSTRUCTOR = "constructor of readers of " + _CLASS
_WRITERS = "constructor of writers of " + _CLASS
_REASON = "why there is no " + _CLASS


def columns_unavailable(jvm: Jvm) -> str | None:
    """Why Spark cannot have columns from Python tasks; ``None`` where it can."""
    if _CONSTRUCTOR not in jvm.shared and _REASON not in jvm.shared:
        try:
            jvm.shared[_WRITERS], jvm.shared[_CONSTRUCTOR] = _load(jvm)
        except (Py4JError, OSError) as error:
            # Rows do as well, so what a Spark of another kind says is a reason to show, and no error.
            jvm.shared[_REASON] = f"{_CLASS} cannot be loaded: {java_classes.first_line(error)}"
    return jvm.shared.get(_REASON)


def columnar_reader_factory(jvm: Jvm, source: JavaObject, command: bytes, schema_json: str) -> JavaObject:
    """A ``PartitionReaderFactory`` that runs a pickled function in a task's Python, and gives columns.

    Only where ``columns_unavailable`` gives ``None``.
    """
    constructor = jvm.shared[_CONSTRUCTOR]
    java = java_classes.function(jvm, "TaskParts")
    if java is not None:
        return java.factory(constructor, source, bytearray(command), schema_json)
    values = [source, bytearray(command), jvm.data_type(schema_json)]
    return constructor.newInstance(jvm.array("java.lang.Object", values))


def prepare_columns(jvm: Jvm, source: JavaObject) -> None:
    """Has ``TaskParts.java`` make factories of words; only where ``columns_unavailable`` gives ``None``."""
    key = "TaskParts makes factories"
    java = java_classes.function(jvm, "TaskParts")
    if java is not None and key not in jvm.shared:
        java.use(jvm.shared[_CONSTRUCTOR], jvm.shared[_WRITERS], source)
        jvm.shared[key] = True


def arrow_writer_factory(
    jvm: Jvm, source: JavaObject, command: bytes, columns: str, given: str, few: int
) -> JavaObject:
    """A ``DataWriterFactory`` that runs a pickled function in a task's Python, and hands it batches of rows.

    Only where ``columns_unavailable`` gives ``None``.

    Args:
        jvm: The JVM.
        source: Says which Python runs.
        command: The function.
        columns: Spark's struct of the rows, as JSON text.
        given: The same with longs for decimals of up to 18 digits: the struct of the batches.
        few: So many rows of a task may be its message, as an Arrow stream.
    """
    constructor = jvm.shared[_WRITERS]
    java = java_classes.function(jvm, "TaskParts")
    if java is not None:
        return java.writers(constructor, source, bytearray(command), columns, given, few)
    values = [source, bytearray(command), jvm.data_type(columns), jvm.data_type(given), few]
    return constructor.newInstance(jvm.array("java.lang.Object", values))


@cache
def _source() -> str:
    return java_classes.source(_NAME)


def _load(jvm: Jvm) -> tuple[JavaObject, JavaObject]:
    """The constructors for writers and readers; executors get the classes with the jar."""
    jar = java_classes.class_jar(jvm, "tasks", _source())
    jvm.context._jsc.sc().addJar(str(jar))
    loaded = java_classes.load_class(jvm, jar, _NAME)
    # py4j finds neither static methods nor constructors of a class that its own loader does not know.
    loaded.getMethod("check", jvm.array("java.lang.Class", [])).invoke(None, jvm.array("java.lang.Object", []))
    classes = [java_classes.load_class(jvm, jar, f"{_NAME}${one}Factory") for one in ("Writer", "Reader")]
    writers, readers = (jvm.items(one.getConstructors())[0] for one in classes)
    return writers, readers
