"""The public face: a session whose statements run in Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from catalog.registry import CatalogRegistry
from lakeport.catalog_session import CatalogSession
from lakeport.spark.bridge.options import SparkOptions
from lakeport.spark_on_demand import SparkOnDemand

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeport.spark.results import SparkResult  # noqa: F401 - of the base class

__all__ = ["Session"]


class Session(CatalogSession["SparkResult"]):
    """Catalogs, and SQL and Arrow over them. May be used by several threads.

    Args:
        catalogs: Shut down with the session.
        spark: See ``connect``.
        options: How to start a local Spark where none is given.
    """

    def __init__(
        self,
        catalogs: CatalogRegistry,
        spark: SparkSession | None = None,
        options: SparkOptions | None = None,
    ) -> None:
        self._spark = SparkOnDemand(catalogs, options)
        super().__init__(catalogs, self._spark)
        if spark is not None:
            self._spark.attach(spark)

    @property
    def spark(self) -> SparkSession:
        """The Spark session that sees the catalogs; the first use may start Spark.

        Raises:
            ExternalError: No Java, a wrong one, or Spark does not start.
        """
        return self._spark.session

    def sql(
        self,
        text: str,
        args: Mapping[str, object] | Sequence[object] | None = None,
        *,
        dialect: str | None = None,
    ) -> DataFrame:
        """Runs one SQL statement; a query runs when its rows are asked for.

        Args:
            text: SQL; also ``SHOW STATS FOR table``, ``EXPLAIN ANALYZE`` and ``EXPLAIN (FORMAT JSON)``.
            args: Values of ``:name`` or ``?`` parameters.
            dialect: ``spark``, or ``trino``, whose SQL is translated where both surely mean the same and refused else;
                ``None`` is the session's.

        Raises:
            ConnectorError: Ours: a catalog refused, or a name in one of our catalogs is not there (with what is close).
            PySparkException: Spark's own, for all else. The frame's actions raise only Spark's.

        Example:
            >>> session.sql("SELECT region, sum(amount) FROM hudi.sales.trips GROUP BY region").show()  # doctest: +SKIP
        """
        return self.plan(text, args, dialect=dialect).native

    def table(self, name: str) -> DataFrame:
        """A table as a DataFrame; filters, columns and limits put on it are pushed down. Raises as ``sql`` does."""
        return self._spark.table(name, self.read_lease).native
