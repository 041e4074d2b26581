"""SQL over a registry's catalogs through one Spark session: statements, and errors in our words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pyarrow as pa
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from catalog.registry import CatalogRegistry
from connector_spi.names import parse_name
from lakeport.engine import FunctionUsage, Parameters
from lakeport.spark.catalog.catalog_class import CATALOG_CLASS
from lakeport.spark.catalog.install import Installation, install
from lakeport.spark.catalog.name_errors import add_suggestion, explain, refused
from lakeport.spark.explain.query import explain_query, planned_query
from lakeport.spark.functions import function_names, function_usages, table_function_names
from lakeport.spark.queries import stop_listening
from lakeport.spark.query_logs import no_query_logs
from lakeport.spark.statements import java_statement
from lakeport.sql.explain.documents import explained_json
from lakeport.sql.explain.observer import QueryObserver
from lakeport.sql.explain.request import ExplainRequest
from lakeport.sql.explain.text import explained_text
from lakeport.sql.show_stats import stats_table_name, table_stats
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.session_properties import check_set_statement
from lakeport.transactions.statement import Statement, statement_scope

__all__ = ["SparkEngine"]


class SparkEngine:
    """A Spark session that sees the catalogs of a registry.

    Args:
        spark: A classic session.
        registry: The catalogs.

    Raises:
        NotSupportedError: Spark Connect, a Spark version that Lakeport was not made for, or a Python of Spark's tasks
            that has no Lakeport.
    """

    def __init__(self, spark: SparkSession, registry: CatalogRegistry) -> None:
        self.spark = spark
        self._registry = registry
        self._installation: Installation = install(spark, registry)

    def sql(
        self,
        text: str,
        args: Parameters = None,
        lease: ReadLease | None = None,
    ) -> DataFrame:
        """Runs one statement; all its tables of a catalog share one transaction.

        Args:
            text: Spark SQL.
            args: Values of parameters.
            lease: On transactions that it shares with other statements.

        Raises:
            ConnectorError: Ours, where a catalog refused, or a name of one of our catalogs is not there.
            PySparkException: Spark's own, for all else.
        """
        check_set_statement(self._registry, text)
        given = list(args) if isinstance(args, Sequence) else None if args is None else dict(args)
        return self._in_statement(lambda statement: self.spark.sql(text, args=given), lease, text)

    def table(self, name: str, lease: ReadLease | None = None) -> DataFrame:
        """A table by its name; raises as ``sql`` does."""
        return self._in_statement(lambda statement: self.spark.table(name), lease)

    def show_stats(self, name: str, lease: ReadLease | None = None) -> DataFrame:
        """What ``SHOW STATS FOR name`` shows.

        Args:
            name: As written: of a table, of a schema and a table, or with the catalog.
            lease: On transactions that it shares with other statements.

        Raises:
            ConnectorError: The table is not there, cannot be read, or is Spark's own.
        """
        with self._statement(lease) as statement, statement_scope(statement):
            full = stats_table_name(name, self.current_catalog(), self.current_schema())
            return self.spark.createDataFrame(table_stats(statement, full))

    def rows_of(self, table: pa.Table) -> DataFrame:
        """Rows that are there."""
        if not table.column_names:
            return self.spark.createDataFrame([], StructType())
        return self.spark.createDataFrame(table)

    def explain(self, request: ExplainRequest, lease: ReadLease | None = None) -> DataFrame:
        """What ``EXPLAIN``, ``EXPLAIN ANALYZE`` and ``EXPLAIN (...)`` show: one text; raises as ``sql`` does."""
        jvm = self._installation.jvm
        observer = QueryObserver(runs=request.analyze)

        def run(statement: Statement) -> DataFrame:
            statement.observer = observer
            begun = time.perf_counter()
            if request.analyze:
                execution = self.spark.sql(request.query)._jdf.queryExecution()
            else:
                execution = planned_query(jvm, self.spark._jsparkSession, request.query)
            if request.kind == "VALIDATE":
                return self.spark.createDataFrame(pa.table({"valid": [True]}))
            found = explain_query(jvm, execution, statement, observer, begun=begun)
            statement.observer = None
            statement.commit()
            text = explained_json(found, request) if request.json else explained_text(found, request)
            return self.spark.createDataFrame(pa.table({"plan": [text]}))

        try:
            return self._in_statement(run, lease, request.query)
        finally:
            observer.close()

    @contextmanager
    def block(self, lease: ReadLease) -> Iterator[None]:
        """Has this thread's ``spark.sql``, too, read in these transactions."""
        with self._statement(lease):
            yield

    def current_catalog(self) -> str:
        """The catalog of names that say none."""
        return str(self._manager().currentCatalog().name())

    def current_schema(self) -> str:
        """The schema of names that say none, joined by dots; empty where the catalog has none."""
        return ".".join(str(part) for part in self._manager().currentNamespace())

    def function_names(self) -> list[str]:
        """Spark's own functions, in no order."""
        return function_names(self._installation.jvm)

    def function_usages(self, names: Iterable[str]) -> list[FunctionUsage]:
        """How functions of Spark are called, in the order of the names."""
        return function_usages(self._installation.jvm, names)

    def table_function_names(self) -> list[str]:
        """Spark's own functions whose results are tables, in no order."""
        return table_function_names(self._installation.jvm)

    def detach(self) -> None:
        """Takes the catalogs out of the Spark session again."""
        stop_listening(self._installation.jvm, self.spark)
        self._installation.remove()

    def _in_statement(
        self, run: Callable[[Statement], DataFrame], lease: ReadLease | None, text: str = ""
    ) -> DataFrame:
        try:
            with self._statement(lease) as statement, statement_scope(statement), no_query_logs():
                frame = _seen(run, statement)
            if statement.lease.takes_locks:
                # Whoever has the frame may read it any time.
                statement.lease.acquire_while_alive(frame)
            return frame
        except (PySparkException, Py4JJavaError) as error:
            # PySpark's and py4j's own frames tell nothing about the statement.
            error.with_traceback(None)
            current = (self.current_catalog(), self.current_schema())
            ours = explain(error, self._registry, current, self._is_sparks)
            ours = ours or refused(error, text, self._registry, current)
            if ours is None:
                if isinstance(error, PySparkException):
                    add_suggestion(error, self.function_names, self.table_function_names)
                raise error
            raise ours from error

    def _is_sparks(self, catalog: str) -> bool:
        made = self.spark.conf.get(f"spark.sql.catalog.{catalog}", None)
        return catalog == "spark_catalog" or made not in (None, CATALOG_CLASS)

    def _statement(self, lease: ReadLease | None) -> AbstractContextManager[Statement]:
        # Our catalogs read the settings of the session that is active in the thread; sql() itself activates too late.
        return java_statement(self._installation.jvm, self._registry, lease, self.spark._jsparkSession)

    def _manager(self) -> JavaObject:
        return self.spark._jsparkSession.sessionState().catalogManager()


def _seen(run: Callable[[Statement], DataFrame], statement: Statement) -> DataFrame:
    """What ``run`` gives; a column that Spark does not find may be one that the access control hides."""
    try:
        return run(statement)
    except PySparkException as error:
        written = (error.getMessageParameters() or {}).get("objectName")
        if written is not None and (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
            statement.lease.check_not_hidden(parse_name(written)[-1])
        raise
