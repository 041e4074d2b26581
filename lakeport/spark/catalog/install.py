"""Installs Lakeport's catalogs in a Spark session.

Spark creates catalogs from class names, which Python objects do not have. So the objects go directly into the map of
the session's ``CatalogManager``: see docs/adr/0001.
"""

from __future__ import annotations

import functools
import os
import threading
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaObject
from pyspark import SparkContext
from pyspark.sql import SparkSession

from catalog.registry import CatalogEvent, CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.default_catalogs import load_catalogs
from lakeport.error_codes import SPARK_CONNECT
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import for_java
from lakeport.spark.bridge.versions import check_version
from lakeport.spark.catalog.catalog import CatalogProxy
from lakeport.spark.catalog_map import catalog_map, keep_catalogs
from lakeport.spark.streaming.batch_ends import observe_session
from lakeport.spark.tasks.interpreter import task_python

__all__ = ["Installation", "install", "jvm_of"]

_jvms: WeakKeyDictionary[SparkContext, Jvm] = WeakKeyDictionary()
_lock = threading.Lock()
_SPARKS_OWN = "spark_catalog"


class Installation:
    """The catalogs of a registry in Spark sessions; follows later registrations and drops.

    Args:
        spark: A classic session.
        registry: The catalogs.
        new_sessions: Whether sessions made by ``newSession()``, directly or indirectly, get them as well.

    Attributes:
        jvm: The JVM.
    """

    def __init__(self, spark: SparkSession, registry: CatalogRegistry, *, new_sessions: bool = False) -> None:
        self.jvm = jvm_of(spark)
        check_version(self.jvm)
        task_python(self.jvm.context.pythonExec, self.jvm.context.master or "")
        self._registry = registry
        self._new_sessions = new_sessions
        # Each session has its own catalog manager. Sessions that are gone need no updates.
        self._catalogs: WeakKeyDictionary[SparkSession, JavaObject] = WeakKeyDictionary()
        self._add(spark)
        registry.add_listener(self._follow)

    def remove(self) -> None:
        """Removes the catalogs from Spark."""
        for spark, catalogs in list(self._catalogs.items()):
            for name in self._registry.names():
                self._take(catalogs, name)
            spark.__dict__.pop("newSession", None)
        # The registry may outlive this, and notify about other catalogs.
        self._catalogs.clear()

    def _add(self, spark: SparkSession) -> None:
        observe_session(spark)
        catalogs = self._catalogs[spark] = catalog_map(spark._jsparkSession, spark.version)
        keep_catalogs(self.jvm, self._registry, catalogs)
        for name in self._registry.names():
            self._put(catalogs, name)
        if self._new_sessions:
            self._hook(spark)

    def _hook(self, spark: SparkSession) -> None:
        plain = spark.newSession

        def new_session() -> SparkSession:
            made = plain()
            self._add(made)
            return made

        spark.newSession = functools.wraps(plain)(new_session)  # type: ignore[method-assign]

    def _follow(self, event: CatalogEvent, name: str) -> None:
        for catalogs in list(self._catalogs.values()):
            if event is CatalogEvent.REGISTERED:
                self._put(catalogs, name)
            else:
                self._take(catalogs, name)

    def _put(self, catalogs: JavaObject, name: str) -> None:
        # The error of a file of that name is for `lakeport catalogs check`; Spark's own stays as it is.
        if name != _SPARKS_OWN:
            catalogs.put(name, for_java(self.jvm, CatalogProxy(self.jvm, self._registry, name)))

    def _take(self, catalogs: JavaObject, name: str) -> None:
        if name != _SPARKS_OWN:
            catalogs.remove(name)


def install(
    spark: SparkSession,
    catalogs: CatalogRegistry | str | os.PathLike[str] | None = None,
    *,
    new_sessions: bool = False,
) -> Installation:
    """Installs catalogs in a Spark session; ``lakeport.connect`` does this as well, and more.

    Args:
        spark: A classic session.
        catalogs: A registry, a directory of catalog files, or ``None`` for the default of ``lakeport.connect``; later
            registrations and drops are followed.
        new_sessions: Whether sessions made by ``newSession()``, directly or indirectly, get them as well. Sessions made
            by Java code need their own call.

    Raises:
        InvalidPropertyError: The directory does not exist.
        NotSupportedError: A Spark Connect session, an unsupported Spark version, or a Python of Spark's tasks without
            Lakeport.
    """
    registry = catalogs if isinstance(catalogs, CatalogRegistry) else load_catalogs(catalogs)
    return Installation(spark, registry, new_sessions=new_sessions)


def jvm_of(spark: SparkSession) -> Jvm:
    """The JVM of a Spark application; raises ``NotSupportedError`` for a session of Spark Connect."""
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
