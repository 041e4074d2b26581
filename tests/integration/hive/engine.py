"""Real Hive 4.0.1: its SQL, its compactor and its metastore in one process."""

from __future__ import annotations

import base64
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

from tests.hms import free_port
from tests.integration.maven import run_maven
from tests.integration.servers import RELEASES, schema
from tests.java import server_options

__all__ = ["HiveEngine", "fetch_engine", "running_engine"]

_HERE = Path(__file__).parent
_START_SECONDS = 240
_STATEMENT_SECONDS = 240
# Two loggers, two shells and two Hadoops do not go together.
_LEFT_OUT = ("slf4j-reload4j", "jline-3.9", "hive-exec-", "hadoop-client-api", "hadoop-client-runtime")
_OPENED = (
    "java.lang", "java.lang.reflect", "java.net", "java.util", "java.util.concurrent", "java.util.concurrent.atomic",
    "java.util.regex", "java.nio", "java.io", "java.time", "java.text", "java.math", "sun.nio.ch",
)  # fmt: skip
_LOGGING = (
    "status = WARN\nappender.c.type = Console\nappender.c.name = c\nappender.c.target = SYSTEM_ERR\n"
    "appender.c.layout.type = PatternLayout\nappender.c.layout.pattern = %d{HH:mm:ss} %p %c{2}: %m%n\n"
    "rootLogger.level = WARN\nrootLogger.appenderRef.c.ref = c\n"
)


class HiveError(Exception):
    """What Hive says of a statement that failed."""


class HiveEngine:
    """A running Hive; one thread at a time.

    Args:
        process: Its process.
        port: That of its metastore on loopback.
        warehouse: Where its tables are.

    Attributes:
        port, warehouse: The same.
    """

    def __init__(self, process: subprocess.Popen[str], port: int, warehouse: Path) -> None:
        self._process = process
        self.port = port
        self.warehouse = warehouse
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._answer(_START_SECONDS)

    @property
    def uri(self) -> str:
        """The address of its metastore, as ``hive.metastore.uri`` takes it."""
        return f"thrift://127.0.0.1:{self.port}"

    def sql(self, statement: str) -> list[tuple[str | None, ...]]:
        """Runs a statement.

        Returns:
            Its rows, each value as Hive's text of it.

        Raises:
            HiveError: Hive refuses it.
        """
        return self._ask(base64.b64encode(statement.encode()).decode())

    def compact(self, table: str, kind: str) -> None:
        """Has Hive compact a table, and delete what is obsolete."""
        self.sql(f"ALTER TABLE {table} COMPACT '{kind}'")
        self._ask("worker")
        self._ask("cleaner")

    def work(self) -> None:
        """Has Hive make the compactions that wait."""
        self._ask("worker")

    def clean(self) -> None:
        """Has Hive delete what compactions have made obsolete."""
        self._ask("cleaner")

    def expire(self) -> None:
        """Has the metastore end transactions that had no heartbeat for two seconds, as it does after its timeout."""
        self._ask("expire")

    def _ask(self, line: str) -> list[tuple[str | None, ...]]:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._answer(_STATEMENT_SECONDS)

    def _answer(self, seconds: float) -> list[tuple[str | None, ...]]:
        rows: list[tuple[str | None, ...]] = []
        while True:
            word, *cells = self._lines.get(timeout=seconds).split(" ")
            if word == "ok":
                return rows
            if word == "error":
                raise HiveError(_text(cells[0]))
            rows.append(tuple(_text(cell) for cell in cells))

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put("error =" + base64.b64encode(b"Hive has ended").decode())


def fetch_engine(folder: Path) -> None:
    """Has Maven fetch Hive's jars, some 300 MB, and compiles what runs it."""
    wanted = (f"-DoutputDirectory={folder / 'jars'}", "-DincludeScope=runtime")
    run_maven("-f", str(_HERE / "pom.xml"), "dependency:copy-dependencies", *wanted)
    compile_engine(folder)


def compile_engine(folder: Path) -> None:
    """Compiles what runs Hive, over the jars in ``folder / "jars"``."""
    (folder / "classes").mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["javac", "-nowarn", "-cp", _jars(folder), "-d", str(folder / "classes"), str(_HERE / "HiveEngine.java")],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip


@contextmanager
def running_engine(fetched: Path, metastores: Path, folder: Path) -> Iterator[HiveEngine]:
    """Runs Hive until the block ends.

    Args:
        fetched: What ``fetch_engine`` filled.
        metastores: What ``servers.fetch`` filled, which has the schema of its database.
        folder: For its database, its warehouse and its log; made here.
    """
    conf = folder / "conf"
    conf.mkdir(parents=True)
    [release] = [one for one in RELEASES if one.version == "4.0.1"]
    shutil.copytree(schema(release, metastores), folder / "metastore_db")
    for name in ("hive-site.xml", "metastore-site.xml"):
        (conf / name).write_text(_site(folder))
    (conf / "log4j2.properties").write_text(_LOGGING)
    for name in ("scratch", "scratch-local"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
    port = free_port()
    command = [
        "java",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        "--add-exports=java.base/sun.net.dns=ALL-UNNAMED",
        "--add-opens=java.base/sun.net.dns=ALL-UNNAMED",
        "-Xmx1500m", "-XX:+UseSerialGC", *server_options(), "-Duser.timezone=UTC", "-Dlog4j2.disable.jmx=true",
        f"-Dderby.stream.error.file={folder / 'derby.log'}", f"-Djava.io.tmpdir={folder}",
        f"-Dlog4j.configurationFile={conf / 'log4j2.properties'}",
        "-cp", f"{conf}:{fetched / 'classes'}:{_jars(fetched)}", "HiveEngine", str(port),
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    with process:
        try:
            yield HiveEngine(process, port, folder / "warehouse")
        finally:
            process.kill()


def _jars(folder: Path) -> str:
    jars = sorted((folder / "jars").glob("*.jar"))
    first = [str(jar) for jar in jars if jar.name.startswith("hive-exec-")]
    return ":".join([*first, *(str(jar) for jar in jars if not jar.name.startswith(_LEFT_OUT))])


def _text(cell: str) -> str | None:
    return None if cell == "-" else base64.b64decode(cell[1:]).decode()


def _site(folder: Path) -> str:
    uri = folder.as_uri()
    settings = {
        "fs.defaultFS": "file:///",
        "hadoop.tmp.dir": str(folder / "hadoop"),
        "mapreduce.framework.name": "local",
        "metastore.thrift.uris": "",
        "hive.metastore.uris": "",
        **{f"{prefix}metastore.warehouse.dir": f"{uri}/warehouse" for prefix in ("hive.", "")},
        **{f"{prefix}metastore.warehouse.external.dir": f"{uri}/external" for prefix in ("hive.", "")},
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "metastore.schema.verification": "false",
        "hive.metastore.schema.verification": "false",
        "hive.exec.scratchdir": f"{uri}/scratch",
        "hive.exec.local.scratchdir": str(folder / "scratch-local"),
        "hive.downloaded.resources.dir": str(folder / "resources"),
        "hive.querylog.location": str(folder / "querylog"),
        "hive.user.install.directory": f"{uri}/install",
        "hive.jar.directory": f"{uri}/jars",
        "hive.server2.logging.operation.enabled": "false",
        "hive.server2.enable.doAs": "false",
        "hive.server2.materializedviews.registry.impl": "DUMMY",
        "hive.notification.event.poll.interval": "0",
        "hive.metastore.event.db.notification.api.auth": "false",
        "hive.support.concurrency": "true",
        "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
        # Compactions are made when a test says so.
        **{f"{prefix}compactor.{thread}": "false" for prefix in ("hive.", "metastore.")
           for thread in ("initiator.on", "cleaner.on")},
        **{f"{prefix}compactor.worker.threads": "0" for prefix in ("hive.", "metastore.")},
        # Else 4.0 makes external tables of what clients without its words for it create.
        **{f"{prefix}metastore.metadata.transformer.class": " " for prefix in ("hive.", "")},
        "metastore.metadata.transformer.class": " ",
        "hive.create.as.acid": "false",
        "hive.exec.dynamic.partition.mode": "nonstrict",
        "hive.stats.autogather": "false",
        "hive.stats.column.autogather": "false",
        # Histograms are kept where ANALYZE makes them, and given.
        **{f"{prefix}stats.fetch.kll": "true" for prefix in ("hive.", "metastore.")},
        "hive.execution.engine": "tez",
        "tez.local.mode": "true",
        "tez.local.mode.without.network": "true",
        "tez.ignore.lib.uris": "true",
        "tez.runtime.optimize.local.fetch": "true",
        "tez.staging-dir": str(folder / "tez-staging"),
        "tez.am.resource.memory.mb": "512",
        "hive.tez.container.size": "512",
        "tez.runtime.io.sort.mb": "32",
        "tez.runtime.unordered.output.buffer.size-mb": "16",
        "hive.tez.exec.inplace.progress": "false",
        "hive.server2.tez.initialize.default.sessions": "false",
    }  # fmt: skip
    properties = [
        f"<property><name>{name}</name><value>{escape(value)}</value></property>" for name, value in settings.items()
    ]
    return "\n".join(["<configuration>", *properties, "</configuration>", ""])
