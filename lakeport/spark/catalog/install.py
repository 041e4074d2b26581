"""Installs Lakeport's catalogs in a Spark session.

Spark creates catalogs from class names, which Python objects do not have. So the objects go directly into the map of
the session's ``CatalogManager``: see docs/adr/0001. Sessions that Spark makes later have a class that asks for them:
see docs/adr/0025.
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
from lakeport.spark.catalog.catalog_class import NamedCatalogs, register_configured
from lakeport.spark.catalog_map import catalog_map, keep_catalogs
from lakeport.spark.grant_statements import grant_parsers
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
        registry: The catalogs; those that settings of Spark configure are added.

    Attributes:
        jvm: The JVM.

    Raises:
        InvalidPropertyError: A setting of Spark configures a catalog of a registry, too, or one with no valid name.
        NotSupportedError: See ``install``.
    """

    def __init__(self, spark: SparkSession, registry: CatalogRegistry) -> None:
        self.jvm = jvm_of(spark)
        check_version(self.jvm)
        task_python(self.jvm.context.pythonExec, self.jvm.context.master or "")
        self._registry = registry
        register_configured(spark.conf.getAll, registry)
        self._named = NamedCatalogs(self.jvm, registry)
        self._parsers = grant_parsers(self.jvm, registry)
        # Each session has its own catalog manager. Sessions that are gone need no updates.
        self._catalogs: WeakKeyDictionary[SparkSession, JavaObject] = WeakKeyDictionary()
        self._add(spark)
        registry.add_listener(self._follow)

    def remove(self) -> None:
        """Removes the catalogs from Spark."""
        self._named.close()
        for spark in list(self._catalogs):
            for name in self._registry.names():
                self._take(spark, name)
            if self._parsers is not None:
                self._parsers.take_from(spark._jsparkSession)
            spark.__dict__.pop("newSession", None)
        # The registry may outlive this, and notify about other catalogs.
        self._catalogs.clear()

    def _add(self, spark: SparkSession) -> None:
        observe_session(spark)
        catalogs = self._catalogs[spark] = catalog_map(spark._jsparkSession, spark.version)
        keep_catalogs(self.jvm, self._registry, catalogs)
        for name in self._registry.names():
            self._put(spark, name)
        if self._parsers is not None:
            self._parsers.put_into(spark._jsparkSession)
        self._hook(spark)

    def _hook(self, spark: SparkSession) -> None:
        plain = spark.newSession

        def new_session() -> SparkSession:
            made = plain()
            if not self._registry.is_closed:
                self._add(made)
            return made

        spark.newSession = functools.wraps(plain)(new_session)  # type: ignore[method-assign]

    def _follow(self, event: CatalogEvent, name: str) -> None:
        for spark in list(self._catalogs):
            if event is CatalogEvent.REGISTERED:
                self._put(spark, name)
            else:
                self._take(spark, name)

    def _put(self, spark: SparkSession, name: str) -> None:
        # The error of a file of that name is for `lakeport catalogs check`; Spark's own stays as it is.
        if name != _SPARKS_OWN:
            self._catalogs[spark].put(name, for_java(self.jvm, CatalogProxy(self.jvm, self._registry, name)))
            self._named.add(spark._jsparkSession, name)

    def _take(self, spark: SparkSession, name: str) -> None:
        if name != _SPARKS_OWN:
            self._catalogs[spark].remove(name)
            self._named.remove(spark._jsparkSession, name)


def install(
    spark: SparkSession,
    catalogs: CatalogRegistry | str | os.PathLike[str] | None = None,
) -> Installation:
    """Installs catalogs in a Spark session; ``lakeport.connect`` does this as well, and more.

    Args:
        spark: A classic session.
        catalogs: A registry, a directory of catalog files, or ``None`` for the default of ``lakeport.connect``; later
            registrations and drops are followed. Sessions that this application makes later have them, too.

    Raises:
        InvalidPropertyError: The directory does not exist, or a catalog is in it and in the settings of Spark.
        NotSupportedError: A Spark Connect session, an unsupported Spark version, or a Python of Spark's tasks without
            Lakeport.
    """
    registry = catalogs if isinstance(catalogs, CatalogRegistry) else load_catalogs(catalogs)
    return Installation(spark, registry)


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
