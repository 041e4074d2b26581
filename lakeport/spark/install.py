"""Puts Lakeport's catalogs into a Spark session.

Spark makes catalogs from class names; a Python object has none. So the objects go straight into the map of the
session's ``CatalogManager``, which has no other way in: see docs/adr/0001.
"""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from catalog.registry import CatalogEvent, CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.error_codes import SPARK_CONNECT, UNSUPPORTED_SPARK_VERSION
from lakeport.spark.catalog import CatalogProxy
from lakeport.spark.jvm import Jvm
from lakeport.spark.stream_ends import know_session
from lakeport.spark.versions import check_version

__all__ = ["Installation", "install"]

_jvms: WeakKeyDictionary[SparkContext, Jvm] = WeakKeyDictionary()
_lock = threading.Lock()
_RESERVED = "spark_catalog"


class Installation:
    """The catalogs of a registry inside of one Spark session; follows what is registered and dropped.

    Attributes:
        jvm: The door to the JVM.
    """

    def __init__(self, spark: SparkSession, registry: CatalogRegistry) -> None:
        self.jvm = _jvm(spark)
        check_version(self.jvm)
        self._registry = registry
        self._catalogs = _catalog_map(spark)
        for name in registry.names():
            self._put(name)
        registry.add_listener(self._follow)
        know_session(spark)

    def remove(self) -> None:
        """Takes the catalogs out of Spark again."""
        for name in self._registry.names():
            self._catalogs.remove(name)

    def _follow(self, event: CatalogEvent, name: str) -> None:
        if event is CatalogEvent.REGISTERED:
            self._put(name)
        else:
            self._catalogs.remove(name)

    def _put(self, name: str) -> None:
        if name == _RESERVED:
            raise NotSupportedError(
                f"a catalog cannot be named '{_RESERVED}', which is Spark's own: rename its properties file"
            )
        self._catalogs.put(name, CatalogProxy(self.jvm, self._registry, name))


def install(spark: SparkSession, registry: CatalogRegistry) -> Installation:
    """Shows the catalogs of a registry to a Spark session.

    Args:
        spark: A classic session; ``spark.newSession()`` has catalogs of its own and needs a call of its own.
        registry: The catalogs; later changes follow.

    Raises:
        NotSupportedError: Spark Connect, or a Spark version that Lakeport was not made for.
    """
    return Installation(spark, registry)


def _jvm(spark: SparkSession) -> Jvm:
    if not hasattr(spark, "_jsparkSession"):
        raise NotSupportedError(
            "this is a Spark Connect session; Lakeport needs a classic one: "
            "start it with .master('local[*]') or through spark-submit, not with .remote(...)",
            SPARK_CONNECT,
        )
    with _lock:
        context = spark.sparkContext
        if context not in _jvms:
            _jvms[context] = Jvm(spark)
        return _jvms[context]


def _catalog_map(spark: SparkSession) -> JavaObject:
    manager = spark._jsparkSession.sessionState().catalogManager()
    try:
        field = manager.getClass().getDeclaredField("catalogs")
        field.setAccessible(True)
        return field.get(manager)
    except Py4JError as error:
        raise NotSupportedError(
            f"Spark {spark.version} keeps its catalogs in a place that Lakeport does not know "
            "(CatalogManager has no map 'catalogs'); use Spark 4.0 to 4.3",
            UNSUPPORTED_SPARK_VERSION,
        ) from error
