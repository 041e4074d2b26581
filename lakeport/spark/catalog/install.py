"""Puts Lakeport's catalogs into a Spark session.

Spark makes catalogs from class names; a Python object has none. So the objects go straight into the map of the
session's ``CatalogManager``, which has no other way in: see docs/adr/0001.
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
from lakeport.spark.bridge.versions import check_version
from lakeport.spark.catalog.catalog import CatalogProxy
from lakeport.spark.catalog_map import catalog_map, keep_catalogs
from lakeport.spark.streaming.ends import know_session
from lakeport.spark.tasks.interpreter import task_python

__all__ = ["Installation", "install"]

_jvms: WeakKeyDictionary[SparkContext, Jvm] = WeakKeyDictionary()
_lock = threading.Lock()
_RESERVED = "spark_catalog"


class Installation:
    """The catalogs of a registry inside of Spark sessions; follows what is registered and dropped.

    Args:
        spark: A classic session.
        registry: The catalogs.
        new_sessions: Whether ``newSession()`` of the session, and of those that it makes, installs them as well.

    Attributes:
        jvm: The door to the JVM.
    """

    def __init__(self, spark: SparkSession, registry: CatalogRegistry, *, new_sessions: bool = False) -> None:
        self.jvm = _jvm(spark)
        check_version(self.jvm)
        task_python(self.jvm.context.pythonExec, self.jvm.context.master or "")
        self._registry = registry
        self._new_sessions = new_sessions
        # Each session has a catalog manager of its own. Whoever has no session any more needs no news of catalogs.
        self._catalogs: WeakKeyDictionary[SparkSession, JavaObject] = WeakKeyDictionary()
        self._add(spark)
        registry.add_listener(self._follow)

    def remove(self) -> None:
        """Takes the catalogs out of Spark again."""
        for spark, catalogs in list(self._catalogs.items()):
            for name in self._registry.names():
                catalogs.remove(name)
            spark.__dict__.pop("newSession", None)
        # The registry may live on, and tell of others.
        self._catalogs.clear()

    def _add(self, spark: SparkSession) -> None:
        know_session(spark)
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
                catalogs.remove(name)

    def _put(self, catalogs: JavaObject, name: str) -> None:
        if name == _RESERVED:
            raise NotSupportedError(
                f"a catalog cannot be named '{_RESERVED}', which is Spark's own: rename its properties file"
            )
        catalogs.put(name, CatalogProxy(self.jvm, self._registry, name))


def install(
    spark: SparkSession,
    catalogs: CatalogRegistry | str | os.PathLike[str] | None = None,
    *,
    new_sessions: bool = False,
) -> Installation:
    """Shows catalogs to a Spark session; ``lakeport.connect`` does so, too, and has more to offer.

    Args:
        spark: A classic session.
        catalogs: A registry, a folder of catalog files, or ``None`` for what ``lakeport.connect`` takes; what is
            registered and dropped later follows.
        new_sessions: Whether ``newSession()`` of the session, and of those that it makes, installs them as well. Not
            those that Java code makes: these want a call of their own.

    Raises:
        InvalidPropertyError: The folder is not there.
        NotSupportedError: Spark Connect, a Spark version that Lakeport was not made for, or a Python of Spark's tasks
            that has no Lakeport.
    """
    registry = catalogs if isinstance(catalogs, CatalogRegistry) else load_catalogs(catalogs)
    return Installation(spark, registry, new_sessions=new_sessions)


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
