"""Starts a real Hive metastore, 2.3.10, from the jars that PySpark ships, on an in-memory Derby.

With CONNECTOR_TEST_METASTORE_PORT the tests use a metastore that already listens on that port of loopback instead:
so they are run against Hive 3.1 and 4.x. CONNECTOR_TEST_METASTORE_RELEASE says which release it is.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from tests.java import server_options
from tests.marks import NO_JAVA
from tests.server_process import running_process

_OPENED = ("lang", "lang.reflect", "net", "util", "util.concurrent", "nio", "io")
_START_SECONDS = 180


@dataclass(frozen=True, slots=True)
class HiveMetastoreServer:
    """A running metastore; ``pid`` is ``None`` for one that somebody else started, ``release`` its version.

    ``log`` has a line for each call with its user; ``None`` where Hive's own settings of logs were not used.
    """

    port: int
    pid: int | None
    release: str = "2.3.10"
    log: Path | None = None

    @property
    def uri(self) -> str:
        """Its address, as ``hive.metastore.uri`` takes it."""
        return f"thrift://127.0.0.1:{self.port}"


@pytest.fixture(scope="session")
def hive_metastore_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveMetastoreServer]:
    """One metastore for all tests of a run: use database names of your own."""
    running = os.environ.get("CONNECTOR_TEST_METASTORE_PORT")
    if running:
        yield HiveMetastoreServer(int(running), None, os.environ["CONNECTOR_TEST_METASTORE_RELEASE"])
        return
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with running_metastore(tmp_path_factory.mktemp("hms")) as server:
        yield server


def why_not() -> str | None:
    """Why no metastore can be started here; ``None`` if it can."""
    if _java() is None:
        return "no Java: set JAVA_HOME or put java on the PATH"
    if not _jars().is_dir():
        return "PySpark's jars are not installed"
    return None


@contextmanager
def running_metastore(folder: Path, heap: str = "512m") -> Iterator[HiveMetastoreServer]:
    """Runs a metastore in ``folder`` until the block ends; ``heap`` as Java's ``-Xmx`` takes it."""
    port = free_port()
    warehouse = folder / "warehouse"
    warehouse.mkdir(parents=True)
    command = [f"-Xmx{heap}" if part.startswith("-Xmx") else part for part in _command(folder, warehouse, port)]
    with running_server(command, folder, port) as server:
        yield replace(server, log=folder / getpass.getuser() / "hive.log")


@contextmanager
def running_server(command: Sequence[str], folder: Path, port: int) -> Iterator[HiveMetastoreServer]:
    """Runs a metastore by its command, in ``folder``, from when it listens on ``port`` until the block ends."""
    log = folder / "hms.log"
    with running_process(command, folder, log) as process:
        _wait_until_listening(process, port, log)
        yield HiveMetastoreServer(port, process.pid)


def free_port() -> int:
    """A TCP port on loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def java_command(folder: Path) -> list[str]:
    """Java with what a metastore needs of it; its temporary files go to ``folder``."""
    return [
        str(_java()),
        *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED),
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        "-Xmx512m",
        "-XX:+UseSerialGC",
        *server_options(),
        f"-Dderby.stream.error.file={folder / 'derby.log'}",
        f"-Djava.io.tmpdir={folder}",
    ]


def _command(folder: Path, warehouse: Path, port: int) -> list[str]:
    settings = {
        "hive.async.log.enabled": "false",
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:memory:hms{uuid4().hex};create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": warehouse.as_uri(),
        "hive.metastore.uris": "",
        # The default pool is not among the jars; "in test" makes the tables of transactions, which drops look into.
        "datanucleus.connectionPoolingType": "NONE",
        "hive.in.test": "true",
    }
    return [
        *java_command(folder),
        "-cp",
        f"{_jars()}/*",
        "org.apache.hadoop.hive.metastore.HiveMetaStore",
        "-p",
        str(port),
        *(part for name, value in settings.items() for part in ("--hiveconf", f"{name}={value}")),
    ]


def _wait_until_listening(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        # Another process may have taken the port meanwhile: ours has to hold the socket.
        if _listens(process.pid, port):
            return
        time.sleep(0.1)
    raise RuntimeError("the metastore did not start; its log ends:\n" + log.read_text(errors="replace")[-3000:])


def _listens(pid: int, port: int) -> bool:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if Path(table).exists():
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and fields[1].endswith(f":{port:04X}"):
                    inodes.add(f"socket:[{fields[9]}]")
    try:
        return any(os.readlink(link) in inodes for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def _java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home == NO_JAVA:
        raise RuntimeError("a test that starts Java has no mark spark")
    return shutil.which("java", path=f"{home}/bin" if home else None)


def _jars() -> Path:
    spec = find_spec("pyspark")
    return Path(spec.origin or "").parent / "jars" if spec else Path("absent")
