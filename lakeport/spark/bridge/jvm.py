"""Access to the JVM: classes, arrays, options, default methods of interfaces. All calls into Java go through it.

Looking a class up by its dotted name is one round trip per part, so classes are looked up once and cached.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from functools import cached_property

from py4j.java_gateway import JavaGateway, JavaObject
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

__all__ = ["CATALOG", "READ", "WRITE", "JavaClass", "Jvm"]

CATALOG = "org.apache.spark.sql.connector.catalog."
READ = "org.apache.spark.sql.connector.read."
WRITE = "org.apache.spark.sql.connector.write."


class JavaClass:
    """A Java class whose static members are looked up once.

    Args:
        java: py4j's own class object.
    """

    def __init__(self, java: JavaObject) -> None:
        self._java = java

    def __call__(self, *args: object) -> JavaObject:
        """A new instance."""
        return self._java(*args)

    def __getattr__(self, name: str) -> JavaObject:
        member = getattr(self._java, name)
        setattr(self, name, member)
        return member


class Jvm:
    """The gateway of one Spark application, with cached classes.

    Args:
        spark: Any classic (not Connect) session of the application.

    Attributes:
        context: The application's ``SparkContext``.
        gateway: py4j's gateway.
        python_source: The Java object that determines the Python of the tasks.
        shared: Java objects shared by the whole application, by key.
    """

    def __init__(self, spark: SparkSession) -> None:
        context: SparkContext = spark.sparkContext
        self.context = context
        self.gateway: JavaGateway = context._gateway
        self._view = context._jvm
        self._classes: dict[str, JavaClass] = {}
        self._class_objects: dict[str, JavaObject] = {}
        self._empty_arrays: dict[str, JavaObject] = {}
        self._lock = threading.Lock()
        self.python_source: JavaObject | None = None
        self.shared: dict[object, JavaObject] = {}
        ensure_callback_server_started(self.gateway)  # type: ignore[no-untyped-call]
        for side in ("python_parameters", "callback_server_parameters"):
            # A Java exception from a proxy reaches Spark unchanged, not wrapped in a Py4JException.
            parameters = getattr(self.gateway, side, None)
            if parameters is not None:
                parameters.propagate_java_exceptions = True

    def cls(self, name: str) -> JavaClass:
        """A Java class by its full name; call it for a new instance, or use its static members."""
        found = self._classes.get(name)
        if found is None:
            java = self._view
            for part in name.split("."):
                java = getattr(java, part)
            found = JavaClass(java)
            with self._lock:
                self._classes[name] = found
        return found

    def scala_object(self, name: str) -> JavaObject:
        """The single instance of a Scala object."""
        return getattr(self.cls(name + "$"), "MODULE$")

    def array(self, element_class: str, items: Sequence[object]) -> JavaObject:
        """A Java array; items may be proxies. Empty arrays are shared."""
        if not items:
            found = self._empty_arrays.get(element_class)
            if found is None:
                found = self._empty_arrays[element_class] = self.new_array(element_class, 0)
            return found
        out = self.new_array(element_class, len(items))
        put = self.cls("java.lang.reflect.Array").set
        for index, item in enumerate(items):
            put(out, index, item)
        return out

    def items(self, array: JavaObject) -> list[JavaObject]:
        """The items of a Java array of objects."""
        reflect = self.cls("java.lang.reflect.Array")
        return [reflect.get(array, index) for index in range(reflect.getLength(array))]

    def texts(self, array: JavaObject) -> list[str]:
        """The items of a ``String[]``, in one round trip."""
        found: list[str] = json.loads(self.json_mapper.writeValueAsString(array))
        return found

    def strings(self, items: Sequence[str]) -> JavaObject:
        """A ``String[]``."""
        return self.array("java.lang.String", items)

    @cached_property
    def no_strings(self) -> JavaObject:
        """An empty ``String[]``."""
        return self.strings([])

    def string_rows(self, rows: Sequence[Sequence[str]]) -> JavaObject:
        """A ``String[][]``."""
        out = self.cls("java.lang.reflect.Array").newInstance(self.no_strings.getClass(), len(rows))
        for index, row in enumerate(rows):
            self.cls("java.lang.reflect.Array").set(out, index, self.strings(row))
        return out

    def string_map(self, items: Iterable[tuple[str, str]]) -> JavaObject:
        """A mutable ``Map<String, String>`` in the given order."""
        out = self.cls("java.util.LinkedHashMap")()
        for key, value in items:
            out.put(key, value)
        return out

    def data_type(self, json: str) -> JavaObject:
        """A Spark ``DataType`` from its JSON."""
        return self.cls("org.apache.spark.sql.types.DataType").fromJson(json)

    @cached_property
    def version(self) -> str:
        """Spark's version."""
        return str(self.context.version)

    @cached_property
    def none(self) -> JavaObject:
        """Scala's ``None``."""
        return self.cls("scala.Option").empty()

    def some(self, value: object) -> JavaObject:
        """Scala's ``Some(value)``; ``None`` for Python's."""
        return self.cls("scala.Option").apply(value)

    @cached_property
    def empty_seq(self) -> JavaObject:
        """An empty immutable Scala ``Seq``."""
        return self.cls("org.apache.spark.api.python.PythonUtils").toSeq([])

    @cached_property
    def empty_map(self) -> JavaObject:
        """An empty immutable Scala ``Map``."""
        return self.cls("org.apache.spark.api.python.PythonUtils").toScalaMap({})

    def class_name(self, value: JavaObject) -> str:
        """The simple name of a Java object's class."""
        return str(value.getClass().getSimpleName())

    def invoke_default(self, proxy: object, interfaces: Sequence[str], name: str, args: Sequence[object]) -> object:
        """Calls the default method of an interface.

        Raises:
            AttributeError: No interface has such a default method.
        """
        method = self._default_method(tuple(interfaces), name, len(args))
        if method is None:
            raise AttributeError(name)
        me = self.cls("java.util.Objects").requireNonNull(proxy)
        arguments = self.array("java.lang.Object", list(args))
        return self.cls("java.lang.reflect.InvocationHandler").invokeDefault(me, method, arguments)

    def sql_conf(self) -> JavaObject:
        """The configuration of this thread's active Spark session."""
        return self.cls("org.apache.spark.sql.internal.SQLConf").get()

    @cached_property
    def json_mapper(self) -> JavaObject:
        """Jackson's ``ObjectMapper``, which Spark includes."""
        return self.cls("com.fasterxml.jackson.databind.ObjectMapper")()

    def new_array(self, element_class: str, length: int) -> JavaObject:
        """A Java array of nulls."""
        found = self._class_objects.get(element_class)
        if found is None:
            found = self._class_objects[element_class] = self.cls("java.lang.Class").forName(element_class)
        return self.cls("java.lang.reflect.Array").newInstance(found, length)

    def _default_method(self, interfaces: tuple[str, ...], name: str, count: int) -> JavaObject | None:
        key = (interfaces, name, count)
        if key not in self._defaults:
            self._defaults[key] = next(iter(self._find_defaults(interfaces, name, count)), None)
        return self._defaults[key]

    @cached_property
    def _defaults(self) -> dict[tuple[tuple[str, ...], str, int], JavaObject | None]:
        return {}

    def _find_defaults(self, interfaces: tuple[str, ...], name: str, count: int) -> Iterable[JavaObject]:
        for interface in interfaces:
            for method in self.cls("java.lang.Class").forName(interface).getMethods():
                if method.getName() == name and method.getParameterCount() == count and method.isDefault():
                    yield method
