"""The engine Spark, which is started when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from catalog.registry import CatalogRegistry
from lakeport.engine import Engine, FunctionUsage, Parameters, Work
from lakeport.spark.bridge.options import SparkOptions
from lakeport.sql.explain.request import ExplainRequest
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.session_properties import PREFIX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeport.spark.engine import SparkEngine
    from lakeport.spark.java_process import JavaProcess
    from lakeport.spark.results import SparkResult
    from lakeport.spark.session_factory import LocalSpark

__all__ = ["SparkOnDemand"]


class SparkOnDemand(Engine["SparkResult"]):
    """A given Spark session with the catalogs in it, or a local Spark. May be used by several threads.

    Args:
        catalogs: The catalogs.
        options: How to start a local Spark.
    """

    name = "spark"
    title = "Spark"
    own_catalogs = ("spark_catalog",)

    def __init__(self, catalogs: CatalogRegistry, options: SparkOptions | None) -> None:
        self._catalogs = catalogs
        self._options = options or SparkOptions()
        self._local: LocalSpark | None = None
        self._engine: SparkEngine | None = None
        self._starting: JavaProcess | None = None
        self._lock = threading.Lock()

    def attach(self, spark: SparkSession) -> None:
        """Takes a session that is there."""
        self._engine = self._engine_of(spark)

    @property
    def session(self) -> SparkSession:
        """The Spark session that sees the catalogs; raises as ``start``."""
        return self._started().spark

    @property
    def is_started(self) -> bool:
        return self._engine is not None

    def start(self) -> None:
        """Starts a local Spark, or takes the one that is active in the process, where there is none yet."""
        self._started()

    def facts(self) -> list[str]:
        engine = self._engine
        if engine is None:
            return ["Spark: not started"]
        context = engine.spark.sparkContext
        return [
            f"Spark: {context.version} on {context.master}, application {context.applicationId}",
            f"Spark's page: {context.uiWebUrl or 'off'}",
        ]

    def setting(self, name: str) -> str | None:
        return self._started().spark.conf.get(name, None)

    def session_properties(self) -> dict[str, str]:
        engine = self._engine
        settings = self._options.settings if engine is None else engine.spark.conf.getAll
        return {key.removeprefix(PREFIX): text for key, text in settings.items() if key.startswith(PREFIX)}

    def keep_session_properties(self, properties: Mapping[str, str]) -> None:
        with self._lock:
            known, engine = self.session_properties(), self._engine
            if engine is None:
                others = {key: text for key, text in self._options.settings.items() if not key.startswith(PREFIX)}
                ours = {PREFIX + name: text for name, text in properties.items()}
                self._options = replace(self._options, settings={**others, **ours})
                return
            for name in known.keys() - properties.keys():
                engine.spark.conf.unset(PREFIX + name)
            for name, text in properties.items():
                engine.spark.conf.set(PREFIX + name, text)

    def plan(self, text: str, args: Parameters = None, lease: ReadLease | None = None) -> SparkResult:
        return _result(self._started().sql(text, args, lease))

    def table(self, name: str, lease: ReadLease | None = None) -> SparkResult:
        return _result(self._started().table(name, lease))

    def show_stats(self, name: str, lease: ReadLease | None = None) -> SparkResult:
        return _result(self._started().show_stats(name, lease))

    def rows_of(self, table: pa.Table) -> SparkResult:
        return _result(self._started().rows_of(table))

    def explain(self, request: ExplainRequest, lease: ReadLease | None = None) -> SparkResult:
        return _result(self._started().explain(request, lease))

    def block(self, lease: ReadLease) -> AbstractContextManager[None]:
        """Where Spark runs, its own ``spark.sql`` of this thread, too, reads in the transactions."""
        return nullcontext() if self._engine is None else self._engine.block(lease)

    def work(self, label: str) -> Work:
        context = self._started().spark.sparkContext
        from lakeport.spark.work import SparkWork  # PySpark, which reading Arrow must not need

        return SparkWork(context, label)

    def current_catalog(self) -> str:
        return self._started().current_catalog()

    def current_schema(self) -> str:
        return self._started().current_schema()

    def function_names(self) -> list[str]:
        return self._started().function_names()

    def function_usages(self, names: Iterable[str]) -> list[FunctionUsage]:
        return self._started().function_usages(names)

    def close(self) -> None:
        """Stops Spark where it was started here, also while it still starts, else takes the catalogs out of it."""
        starting = self._starting
        if starting is not None:
            starting.end()
        with self._lock:
            engine, self._engine = self._engine, None
            local, self._local = self._local, None
        if local is not None and local.started:
            local.stop()
        elif engine is not None:
            engine.detach()

    def _started(self) -> SparkEngine:
        with self._lock:
            if self._engine is None:
                self._catalogs.names()  # says so when the session is closed
                self._engine = self._start()
            return self._engine

    def _engine_of(self, spark: SparkSession) -> SparkEngine:
        # Imported here, since reading Arrow must need neither PySpark nor Java.
        from lakeport.spark.engine import SparkEngine

        return SparkEngine(spark, self._catalogs)

    def _start(self) -> SparkEngine:
        from lakeport.spark.java_process import JavaProcess

        self._starting = JavaProcess()
        try:
            from lakeport.spark.session_factory import local_spark

            local = local_spark(self._options, self._starting)
        finally:
            self._starting = None
        try:
            engine = self._engine_of(local.session)
        except BaseException:
            local.stop()
            raise
        self._local = local
        return engine


def _result(frame: DataFrame) -> SparkResult:
    from lakeport.spark.results import SparkResult  # PySpark, which reading Arrow must not need

    return SparkResult(frame)
