"""The session that the sessions of clients come from, each with the catalogs."""

from __future__ import annotations

from typing import ClassVar

from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from catalog.registry import CatalogRegistry
from lakeport.server.spark_support import needed_of_spark
from lakeport.spark.bridge.compiled.java_classes import new_instance
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.session_settings import read_statement_settings
from lakeport.spark.catalog_map import names_of_statements, share_catalogs

__all__ = ["served_session"]

_CLASS = "ServedSession"
_NO_SETTINGS = "spark.lakeport.none."


class NewSessionProxy(Proxy):
    """Puts the catalogs into each session that Spark makes for a client.

    Args:
        jvm: The JVM.
        registry: The catalogs.
    """

    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.Consumer"]

    def __init__(self, jvm: Jvm, registry: CatalogRegistry) -> None:
        super().__init__(jvm)
        self._registry = registry

    def accept(self, session: JavaObject) -> None:
        """A client has a new session."""
        share_catalogs(self._jvm, self._registry, session)


class ShownCatalogsProxy(Proxy):
    """Chooses what ``SHOW CATALOGS`` lists to the client of a thread.

    Args:
        jvm: The JVM.
        registry: The catalogs; others, such as Spark's own, are shown to all.
    """

    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.BiFunction"]

    def __init__(self, jvm: Jvm, registry: CatalogRegistry) -> None:
        super().__init__(jvm)
        self._registry = registry

    def _called_in_words(self, name: str, words: str) -> str:
        """Those of the names, one a line, that are shown."""
        security, known = self._registry.security, self._registry.names()
        user = read_statement_settings(self._jvm, _NO_SETTINGS).user
        identity = security.identity(security.own_user if user is None else user)
        hidden = {*known} - {*security.access_control.filter_catalogs(identity, known)} | names_of_statements()
        return "\n".join(name for name in words.split("\n") if name not in hidden)


def served_session(jvm: Jvm, spark: SparkSession, registry: CatalogRegistry) -> JavaObject:
    """A Java session whose ``newSession()`` has the catalogs.

    Args:
        jvm: The JVM.
        spark: A classic session that sees the catalogs.
        registry: The catalogs.

    Raises:
        NotSupportedError: This Spark's sessions are made otherwise.
    """
    proxies = (NewSessionProxy(jvm, registry), ShownCatalogsProxy(jvm, registry))
    with needed_of_spark(jvm, "sessions"):
        return new_instance(jvm, _CLASS, spark._jsparkSession, jvm.empty_map, *proxies)
