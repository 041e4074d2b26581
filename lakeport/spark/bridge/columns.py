"""Reader factories that hand batches of Python tasks to Spark as columns, by a Java class that Janino compiles."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from lakeport.spark.bridge.java_cache import cache_directory, compiled_jar
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["columnar_reader_factory", "columns_unavailable"]

_CLASS = "lakeport.spark.ColumnarReaderFactory"
_CONSTRUCTOR = "constructor of " + _CLASS
_REASON = "why there is no " + _CLASS


def columns_unavailable(jvm: Jvm) -> str | None:
    """Why Spark cannot have columns from Python tasks; ``None`` where it can."""
    if _CONSTRUCTOR not in jvm.shared and _REASON not in jvm.shared:
        try:
            jvm.shared[_CONSTRUCTOR] = _load(jvm)
        except (Py4JError, OSError) as error:
            # Rows do as well, so whatever a Spark of another kind says is told, and is no error.
            jvm.shared[_REASON] = f"{_CLASS} cannot be loaded: {_first_line(error)}"
    return jvm.shared.get(_REASON)


def columnar_reader_factory(jvm: Jvm, source: JavaObject, command: bytes, schema: JavaObject) -> JavaObject:
    """A ``PartitionReaderFactory`` that runs a pickled function in a task's Python, and gives columns.

    Only where ``columns_unavailable`` gives ``None``.
    """
    values = jvm.array("java.lang.Object", [source, bytearray(command), schema])
    return jvm.shared[_CONSTRUCTOR].newInstance(values)


@cache
def _source() -> str:
    return files("lakeport.spark.bridge").joinpath("ColumnarReaderFactory.java").read_text("utf-8")


def _load(jvm: Jvm) -> JavaObject:
    """The class's constructor; executors get the class with the jar."""
    name = f"columns-spark-{jvm.version}-{hashlib.sha256(_source().encode()).hexdigest()[:16]}"
    jar = compiled_jar(cache_directory(), name, lambda: _compiled(jvm))
    jvm.context._jsc.sc().addJar(str(jar))
    urls = jvm.array("java.net.URL", [jvm.cls("java.io.File")(str(jar)).toURI().toURL()])
    loader = jvm.cls("java.net.URLClassLoader")(urls, _parent(jvm))
    loaded = loader.loadClass(_CLASS)
    # py4j finds neither static methods nor constructors of a class that its own loader does not know.
    loaded.getMethod("check", jvm.array("java.lang.Class", [])).invoke(None, jvm.array("java.lang.Object", []))
    return jvm.items(loaded.getConstructors())[0]


def _compiled(jvm: Jvm) -> dict[str, bytes]:
    compiler = jvm.cls("org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(_parent(jvm))
    compiler.cook(_source())
    return {str(name): bytes(code) for name, code in compiler.getBytecodes().items()}


def _parent(jvm: Jvm) -> JavaObject:
    return jvm.cls("org.apache.spark.util.Utils").getContextOrSparkClassLoader()


def _first_line(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    return str(error if java is None else java.toString()).strip().partition("\n")[0]
