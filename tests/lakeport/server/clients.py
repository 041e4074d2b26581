"""A server in a process of its own, and JDBC clients: Hive's own driver, which PySpark ships."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.lakeport.sample_session import sample_session
from tests.server_process import running_process

COMMAND = [sys.executable, "-c", "import sys; from lakeport.shell.main import main; sys.exit(main())", "server"]
_ADDRESSES = re.compile(
    r"^JDBC: (jdbc:hive2://127\.0\.0\.1:\d+(?:/;\S+)?)\n"
    r"Spark Connect: (sc://(?:127\.0\.0\.1|localhost):\d+)$",
    re.MULTILINE,
)
QUERY_LOG = "queries.jsonl"
"""Name of the log of queries, beside the server's log, of a server that has one."""
_PATIENCE = 120
"""Seconds that a process has to say or do something; no test is about how long it takes."""


@dataclass(frozen=True)
class RunningServer:
    """A server that runs."""

    process: subprocess.Popen[bytes]
    folder: Path
    log: Path
    url: str
    connect_url: str

    @property
    def metrics_url(self) -> str:
        """Where health and metrics are, of a server that has them."""
        found = re.search(r"^Metrics: (http://127\.0\.0\.1:\d+)$", self.log.read_text("utf-8"), re.MULTILINE)
        assert found
        return found[1]

    def says(self, words: str) -> None:
        """Waits until the server has printed this."""
        wait_for(lambda: words in self.log.read_text("utf-8"), self.log)


class Client:
    """A JDBC connection."""

    def __init__(self, spark: SparkSession, url: str, user: str = "someone", password: str = "") -> None:
        self.java: JavaObject = spark._jvm.java.sql.DriverManager.getConnection(url, user, password)  # type: ignore[union-attr]

    def rows(self, text: str) -> list[tuple[str | None, ...]]:
        """The rows of a statement, as texts."""
        statement = self.java.createStatement()
        try:
            return read(statement.getResultSet()) if statement.execute(text) else []
        finally:
            statement.close()

    def error(self, text: str) -> str:
        """The message of a statement that fails."""
        try:
            self.rows(text)
        except Py4JJavaError as error:
            return str(error.java_exception.getMessage())
        raise AssertionError(f"{text} succeeds")


def read(result: JavaObject) -> list[tuple[str | None, ...]]:
    """The rows that a result still has, as texts."""
    count = result.getMetaData().getColumnCount()
    found = []
    while result.next():
        found.append(tuple(result.getString(index + 1) for index in range(count)))
    return found


def wait_for(holds: Callable[[], bool], log: Path) -> None:
    """Waits until something holds; fails with the log of the server."""
    end = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < end, log.read_text("utf-8")
        time.sleep(0.1)


@contextmanager
def running_server(folder: Path, *options: str) -> Iterator[RunningServer]:
    """Runs ``lakeport server`` over the sample warehouse until the block ends.

    Args:
        folder: A folder for the warehouse and the log, and the server's current directory.
        options: Further options of the command.
    """
    with sample_session(folder / "warehouse") as session:
        assert set(session.catalogs.names()) >= {"hive", "hudi"}
    current, log = folder / "current", folder / "server.log"
    current.mkdir()
    given = ["--catalogs", str(folder / "warehouse" / "catalogs"), "--thrift-port", "0", "--connect-port", "0"]
    with running_process([*COMMAND, *given, *options], current, log) as process:
        wait_for(lambda: bool(_ADDRESSES.search(log.read_text("utf-8"))) or process.poll() is not None, log)
        found = _ADDRESSES.search(log.read_text("utf-8"))
        assert found, log.read_text("utf-8")
        yield RunningServer(process, current, log, *found.groups())
