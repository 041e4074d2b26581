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

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from connector_spi.errors import ExternalError
from lakeport.error_codes import SPARK_DOES_NOT_START
from lakeport.spark.bridge.java import check_java
from lakeport.spark.bridge.options import SparkOptions
from lakeport.spark.query_logs import silence_query_logs

__all__ = ["DAEMON_MODULE", "LocalSpark", "local_spark"]

DAEMON_MODULE = "lakeport.spark.tasks.daemon"
"""Value of ``spark.python.daemon.module`` for a Spark that is started elsewhere, so that tasks start faster."""

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
    # A thread that calls back into Python costs a connection there; Spark's own bound is 1024 threads each.
    "spark.sql.shuffleExchange.maxThreadThreshold": "64",
    "spark.sql.resultQueryStage.maxThreadThreshold": "64",
    # Spark's default of 200 is for clusters; AQE joins small partitions, but cannot split few into many.
    "spark.sql.shuffle.partitions": str(max(8, 2 * (os.cpu_count() or 1))),
}
_WAREHOUSE = "spark.sql.warehouse.dir"
_GIB = 1 << 30
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class LocalSpark:
    """A Spark session, and whether it was started here and has to be stopped here."""

    session: SparkSession
    started: bool

    def stop(self) -> None:
        """Stops Spark if it was started here; its Java ends with the process, as usual in PySpark."""
        if not self.started:
            return
        self.session.stop()


def local_spark(options: SparkOptions) -> LocalSpark:
    """The Spark of this process if there is one, else a new local one.

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
        return LocalSpark(_start(options), started=True)


def _start(options: SparkOptions) -> SparkSession:
    conf = SparkConf(loadDefaults=False)
    conf.setMaster(options.master)
    machine = {"spark.driver.memory": _driver_memory(), _WAREHOUSE: _spark_warehouse()}
    for key, value in {**_SETTINGS, **machine, **options.settings}.items():
        conf.set(key, value)
    try:
        with _opened(options.log) as log, _worker_python():
            redirected = {"stderr": log, "stdout": log} if log else None
            gateway = SparkContext._gateway or launch_gateway(conf, redirected)  # type: ignore[no-untyped-call]
            context = SparkContext(conf=conf, gateway=gateway)
        silence_query_logs()
        return SparkSession(context)
    except (PySparkException, OSError, RuntimeError) as error:
        where = f"; its log is {options.log}" if options.log else ""
        raise ExternalError(f"Spark did not start: {_first_line(error)}{where}", SPARK_DOES_NOT_START) from error


@contextmanager
def _opened(log: Path | None) -> Iterator[IO[bytes] | None]:
    if log is None:
        yield None
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as file:
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


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
