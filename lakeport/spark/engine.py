"""SQL over a registry's catalogs through one Spark session: statements, and errors in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from py4j.java_gateway import JavaObject
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from catalog.registry import CatalogRegistry
from lakeport.spark.install import Installation, install
from lakeport.spark.loading import java_statement_scope, new_statement
from lakeport.spark.name_errors import explain
from lakeport.statement import statement_scope

__all__ = ["SparkEngine"]

T = TypeVar("T")


class SparkEngine:
    """A Spark session that sees the catalogs of a registry.

    Args:
        spark: A classic session.
        registry: The catalogs.

    Raises:
        NotSupportedError: Spark Connect, or a Spark version that Lakeport was not made for.
    """

    def __init__(self, spark: SparkSession, registry: CatalogRegistry) -> None:
        self.spark = spark
        self._registry = registry
        self._installation: Installation = install(spark, registry)

    def sql(self, text: str, args: Mapping[str, object] | Sequence[object] | None = None) -> DataFrame:
        """Runs one statement; all its tables of a catalog share one transaction.

        Raises:
            ConnectorError: Ours, where a catalog refused, or a name of one of our catalogs is not there.
            PySparkException: Spark's own, for all else.
        """
        given = list(args) if isinstance(args, Sequence) else None if args is None else dict(args)
        return self._in_statement(lambda: self.spark.sql(text, args=given))

    def table(self, name: str) -> DataFrame:
        """A table by its name; raises as ``sql`` does."""
        return self._in_statement(lambda: self.spark.table(name))

    def current_catalog(self) -> str:
        """The catalog of names that say none."""
        return str(self._manager().currentCatalog().name())

    def current_schema(self) -> str:
        """The schema of names that say none, joined by dots; empty where the catalog has none."""
        return ".".join(str(part) for part in self._manager().currentNamespace())

    def detach(self) -> None:
        """Takes the catalogs out of the Spark session again."""
        self._installation.remove()

    def _in_statement(self, run: Callable[[], T]) -> T:
        self._activate()
        statement = new_statement(self._installation.jvm, self._registry)
        try:
            with statement_scope(statement), java_statement_scope(self._installation.jvm, statement):
                return run()
        except PySparkException as error:
            current = (self.current_catalog(), self.current_schema())
            ours = explain(error, self._registry, current, self._is_sparks)
            if ours is None:
                raise
            raise ours from error

    def _is_sparks(self, catalog: str) -> bool:
        return catalog == "spark_catalog" or self.spark.conf.get(f"spark.sql.catalog.{catalog}", None) is not None

    def _activate(self) -> None:
        # Our catalogs read the settings of the session that is active in the thread; sql() itself activates too late.
        session = self._installation.jvm.cls("org.apache.spark.sql.classic.SparkSession")
        session.setActiveSession(self.spark._jsparkSession)

    def _manager(self) -> JavaObject:
        return self.spark._jsparkSession.sessionState().catalogManager()
