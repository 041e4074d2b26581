"""Starts the local Spark of ``lakeport.connect()`` and of the shell."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from connector_spi.errors import ConnectorError, ExternalError, InvalidPropertyError
from lakeport.error_codes import SPARK_DOES_NOT_START
from lakeport.spark.bridge.errors import first_cause
from lakeport.spark.bridge.java import check_java
from lakeport.spark.bridge.options import SparkOptions
from lakeport.spark.java_process import JavaProcess
from lakeport.spark.query_logs import silence_query_logs

__all__ = ["ARROW_OPTIONS", "DAEMON_MODULE", "LocalSpark", "local_spark"]

DAEMON_MODULE = "lakeport.spark.tasks.daemon"
"""Value of ``spark.python.daemon.module`` for a Spark that is started elsewhere, so that tasks start faster."""

ARROW_OPTIONS = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
"""Options of Java, of a driver or executor that is started elsewhere, so that columns of tasks are read faster."""

_SETTINGS: dict[str, str] = {
    "spark.app.name": "lakeport",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.python.daemon.module": DAEMON_MODULE,
    # Over TCP each Python task idles some 40 ms, which looks like a delayed acknowledgement. Spark 4.1 and later.
    "spark.python.unix.domain.socket.enabled": "true",
    # Spark asks whether a value is NULL before it takes it, and knows the number of rows. That Arrow checks both once
    # more for each value is a fifth of a query. A user's extraJavaOptions come beside these.
    "spark.driver.defaultJavaOptions": ARROW_OPTIONS,
    "spark.executor.defaultJavaOptions": ARROW_OPTIONS,
    # A thread that calls back into Python costs a connection there; Spark's own bound is 1024 threads each.
    "spark.sql.shuffleExchange.maxThreadThreshold": "64",
    "spark.sql.resultQueryStage.maxThreadThreshold": "64",
    # Spark's default of 200 is for clusters; AQE joins small partitions, but cannot split few into many.
    "spark.sql.shuffle.partitions": str(max(8, 2 * (os.cpu_count() or 1))),
}
_WAREHOUSE = "spark.sql.warehouse.dir"
_GIB = 1 << 30
_LONGEST_LINE = 200
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class LocalSpark:
    """A Spark session, and whether it was started here and has to be stopped here.

    Attributes:
        session: The session.
        started: Whether it was started here.
        log: Its log, if that is a file.
    """

    session: SparkSession
    started: bool
    log: Path | None = None

    def stop(self) -> None:
        """Stops Spark if it was started here, and removes its log; its Java ends with the process, as in PySpark."""
        if not self.started:
            return
        try:
            self.session.stop()
        finally:
            if self.log is not None:
                self.log.unlink(missing_ok=True)


def local_spark(options: SparkOptions, java: JavaProcess | None = None) -> LocalSpark:
    """The Spark of this process if there is one, else a new local one.

    Args:
        options: How to start it.
        java: Knows the process meanwhile, so that another thread can end it.

    Raises:
        ExternalError: There is no Java, it is too old, or Spark does not start; the message says what to install, or
            which log to read.
    """
    with _lock:
        running = SparkContext._active_spark_context
        if running is not None:
            active = SparkSession.getActiveSession()
            return LocalSpark(active or SparkSession(running), started=False)
        check_java()
        return LocalSpark(_start(options, java or JavaProcess()), started=True, log=options.log)


def _start(options: SparkOptions, java: JavaProcess) -> SparkSession:
    conf = SparkConf(loadDefaults=False)
    conf.setMaster(options.master)
    machine = {"spark.driver.memory": _driver_memory(), _WAREHOUSE: _spark_warehouse()}
    for key, value in {**_SETTINGS, **machine, **options.settings}.items():
        conf.set(key, value)
    context = None
    try:
        with _opened(options.log) as log, _worker_python(), java.watched():
            redirected = {"stderr": log, "stdout": log} if log else None
            gateway = SparkContext._gateway or launch_gateway(conf, redirected)  # type: ignore[no-untyped-call]
            context = SparkContext(conf=conf, gateway=gateway)
        silence_query_logs()
        session = SparkSession(context)
        # Spark reads the settings of SQL only here.
        session._jsparkSession.sessionState()
        return session
    except (PySparkException, Py4JError, OSError, RuntimeError) as error:
        found = _not_started(error, options)
        if java.is_ended:
            # PySpark keeps the connection to a Java for the next start; nothing can be told to this one.
            SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
            if options.log is not None:
                options.log.unlink(missing_ok=True)
        elif context is not None:
            context.stop()
        raise found from error


def _not_started(error: Exception, options: SparkOptions) -> ConnectorError:
    reason = first_cause(error)
    at_fault = next((name for name in options.settings if name in reason), None)
    if at_fault is not None:
        if options.log is not None:
            options.log.unlink(missing_ok=True)
        return InvalidPropertyError(f"Spark does not take the setting {at_fault}: {reason}")
    if options.log is not None:
        words = _first_words(options.log) if isinstance(error, PySparkRuntimeError) else ""
        reason = f"{reason.rstrip('.')}{words}; its log is {options.log}"
    return ExternalError(f"Spark did not start: {reason}", SPARK_DOES_NOT_START)


def _first_words(log: Path) -> str:
    """What Java says where it does not run at all."""
    try:
        with log.open(encoding="utf-8", errors="replace") as file:
            line = file.readline(_LONGEST_LINE).strip()
    except OSError:
        return ""
    return f" ({line})" if line else ""


@contextmanager
def _opened(log: Path | None) -> Iterator[IO[bytes] | None]:
    if log is None:
        yield None
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    # It may show the values of settings and the names of tables.
    log.unlink(missing_ok=True)
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        yield file


@contextmanager
def _worker_python() -> Iterator[None]:
    """Makes Spark's tasks use this Python: another ``python3`` in the PATH would lack the connectors."""
    if "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        os.environ.pop("PYSPARK_PYTHON", None)


def _driver_memory() -> str:
    """A quarter of the machine, 1 to 8 GiB: in local mode this one heap does all the work."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{min(max(total // 4, _GIB), 8 * _GIB) >> 20}m"


def _spark_warehouse() -> str:
    """The directory of Spark's own catalog, which Spark creates at start, by default in the current directory."""
    return str(Path(tempfile.gettempdir(), f"lakeport-spark-warehouse-{os.getuid()}"))
