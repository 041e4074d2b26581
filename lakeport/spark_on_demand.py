"""The Spark of a session, which is started when it is first needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from catalog.registry import CatalogRegistry
from lakeport.spark.bridge.options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeport.spark.engine import SparkEngine
    from lakeport.spark.java_process import JavaProcess
    from lakeport.spark.session_factory import LocalSpark

__all__ = ["SparkOnDemand"]


class SparkOnDemand:
    """A given Spark session with the catalogs in it, or a local Spark. May be used by several threads.

    Args:
        catalogs: The catalogs.
        options: How to start a local Spark.
        new_sessions: Whether sessions that the Spark session makes see the catalogs, too.
    """

    def __init__(self, catalogs: CatalogRegistry, options: SparkOptions | None, *, new_sessions: bool) -> None:
        self._catalogs = catalogs
        self._options = options
        self._new_sessions = new_sessions
        self._local: LocalSpark | None = None
        self._engine: SparkEngine | None = None
        self._starting: JavaProcess | None = None
        self._lock = threading.Lock()

    def attach(self, spark: SparkSession) -> None:
        """Takes a session that is there."""
        self._engine = self._engine_of(spark)

    @property
    def started(self) -> SparkEngine | None:
        """The engine, if there is a Spark."""
        return self._engine

    @property
    def engine(self) -> SparkEngine:
        """The engine; starts a local Spark, or takes the one that is active in the process, where there is none yet.

        Raises:
            UserError: The session is closed.
            ExternalError: No Java, a wrong one, or Spark does not start.
        """
        with self._lock:
            if self._engine is None:
                self._catalogs.names()  # says so when the session is closed
                self._engine = self._start()
            return self._engine

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

    def _engine_of(self, spark: SparkSession) -> SparkEngine:
        # Imported here, since reading Arrow must need neither PySpark nor Java.
        from lakeport.spark.engine import SparkEngine

        return SparkEngine(spark, self._catalogs, new_sessions=self._new_sessions)

    def _start(self) -> SparkEngine:
        from lakeport.spark.java_process import JavaProcess

        self._starting = JavaProcess()
        try:
            from lakeport.spark.session_factory import local_spark

            local = local_spark(self._options or SparkOptions(), self._starting)
        finally:
            self._starting = None
        try:
            engine = self._engine_of(local.session)
        except BaseException:
            local.stop()
            raise
        self._local = local
        return engine
