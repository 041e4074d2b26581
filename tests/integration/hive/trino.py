"""Real Trino, assembled from its jars on Maven Central, over the metastore of the real Hive."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.error import URLError

from tests.hms import free_port
from tests.integration.hive.thrift_proxy import running_proxy
from tests.integration.maven import run_maven
from tests.integration.servers import find_java
from tests.server_process import running_process

__all__ = ["Trino", "TrinoError", "TrinoJars", "fetch_trino", "running_trino", "why_no_trino"]

_HERE = Path(__file__).parent
_VERSION = "483"
_JAVA = 25
_START_SECONDS = 240
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>lakeport.tests</groupId><artifactId>trino-{name}</artifactId><version>1</version><packaging>pom</packaging>
<dependencyManagement><dependencies><dependency><groupId>io.trino</groupId><artifactId>trino-root</artifactId>
<version>{version}</version><type>pom</type><scope>import</scope></dependency></dependencies></dependencyManagement>
<dependencies>{dependencies}</dependencies></project>
"""
_PARTS = {
    "server": ("io.trino:trino-main", "io.airlift:log-manager", "io.trino:trino-spi"),
    "hive": ("io.trino:trino-hive",),
}
_CONFIG = """coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port={port}
node.internal-address=127.0.0.1
discovery.uri=http://127.0.0.1:{port}
http-server.https.enabled=false
plugin.dir={plugins}
catalog.management=static
catalog.config-dir={catalogs}
task.concurrency=2
task.max-worker-threads=4
query.max-memory-per-node={memory}
query.max-memory={memory}
"""
# Trino knows local files as local:///path alone.
_CATALOG = """connector.name=hive
hive.metastore.uri={uri}
hive.security=allow-all
hive.timestamp-precision=MICROSECONDS
hive.non-managed-table-writes-enabled=true
fs.local.enabled=true
local.location=/
"""


class TrinoError(Exception):
    """What Trino says of a statement that failed."""


@dataclass(frozen=True, slots=True)
class TrinoJars:
    """The jars of the server, and those of its plugin for Hive."""

    server: tuple[Path, ...]
    hive: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Trino:
    """A running Trino with a catalog ``hive``.

    Attributes:
        port: Where it listens on loopback.
        pid: Its process.
    """

    port: int
    pid: int

    def sql(self, statement: str) -> list[list[object]]:
        """Runs a statement.

        Returns:
            Its rows, with values as Trino's JSON has them.

        Raises:
            TrinoError: Trino refuses it.
        """
        headers = {
            "X-Trino-User": "test",
            "X-Trino-Catalog": "hive",
            # Else times come in milliseconds.
            "X-Trino-Client-Capabilities": "PARAMETRIC_DATETIME",
        }
        rows: list[list[object]] = []
        answer = _answer(f"http://127.0.0.1:{self.port}/v1/statement", statement.encode(), headers)
        while True:
            if "error" in answer:
                raise TrinoError(cast(Mapping[str, object], answer["error"])["message"])
            rows += cast("list[list[object]]", answer.get("data", []))
            if "nextUri" not in answer:
                return rows
            answer = _answer(str(answer["nextUri"]), None, headers)


def why_no_trino() -> str | None:
    """Why it cannot be started here, Maven apart; ``None`` if it can."""
    if find_java(_JAVA) is None:
        return f"Trino {_VERSION} needs Java {_JAVA}: set JAVA_HOME, or install it below /usr/lib/jvm"
    return None


def fetch_trino(folder: Path) -> TrinoJars:
    """Has Maven fetch Trino's jars, some 500 MB, into its own repository.

    Raises:
        RuntimeError: Maven failed; its last lines.
    """
    return TrinoJars(*(_fetch_part(folder / name, name) for name in _PARTS))


@contextmanager
def running_trino(jars: TrinoJars, metastore: int, folder: Path, heap: str = "2g") -> Iterator[Trino]:
    """Runs Trino until the block ends.

    Args:
        jars: What ``fetch_trino`` gave.
        metastore: The port of a metastore.
        folder: For its settings and its log; made here.
        heap: Its memory, as Java's ``-Xmx`` takes it; a query has a quarter of it.
    """
    port = free_port()
    for name in ("plugins/hive", "catalogs", "data"):
        (folder / name).mkdir(parents=True)
    for jar in jars.hive:
        (folder / "plugins" / "hive" / jar.name).symlink_to(jar)
    with zipfile.ZipFile(folder / "plugins" / "hive" / "services.jar", "w") as services:
        services.writestr("META-INF/services/io.trino.spi.Plugin", "io.trino.plugin.hive.HivePlugin\n")
    memory = f"{int(heap[:-1]) * 256}MB"
    settings = {"port": port, "plugins": folder / "plugins", "catalogs": folder / "catalogs", "memory": memory}
    (folder / "config.properties").write_text(_CONFIG.format_map(settings))
    with running_proxy(metastore, asked=_as_hive_says, answered=_as_trino_says) as proxy:
        (folder / "catalogs" / "hive.properties").write_text(_CATALOG.format(uri=proxy.uri))
        with running_process(_command(jars, folder, heap), folder, folder / "log") as process:
            _wait(process, port, folder / "log")
            yield Trino(port, process.pid)


def _command(jars: TrinoJars, folder: Path, heap: str) -> Sequence[str]:
    return [
        str(find_java(_JAVA)), "-server", f"-Xmx{heap}", "-XX:ReservedCodeCacheSize=256M",
        "-XX:+EnableDynamicAgentLoading", "-Djdk.attach.allowAttachSelf=true",
        "--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED",
        "--add-modules=jdk.incubator.vector", f"-Dconfig={folder / 'config.properties'}",
        "-Dnode.environment=test", "-Dnode.id=test", "-Dnode.bind-ip=127.0.0.1", f"-Dnode.data-dir={folder / 'data'}",
        "-Duser.timezone=UTC", "-cp", ":".join(map(str, jars.server)), str(_HERE / "TrinoServer.java"), _VERSION,
    ]  # fmt: skip


def _fetch_part(folder: Path, name: str) -> tuple[Path, ...]:
    folder.mkdir(parents=True)
    # A library for logins that is not on Maven Central as a whole.
    left_out = "<exclusions><exclusion><groupId>org.pac4j</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>{left_out}</dependency>"
        for group, _, artifact in (part.partition(":") for part in _PARTS[name])
    )
    (folder / "pom.xml").write_text(_POM.format(name=name, version=_VERSION, dependencies=dependencies))
    listed = folder / "jars"
    wanted = ("-DincludeScope=runtime", f"-Dmdep.outputFile={listed}")
    run_maven("-f", str(folder / "pom.xml"), "dependency:build-classpath", *wanted)
    return tuple(map(Path, listed.read_text().strip().split(":")))


def _as_trino_says(text: bytes) -> bytes:
    return b"local:///" + text[5:].lstrip(b"/") if text.startswith(b"file:/") else text


def _as_hive_says(text: bytes) -> bytes:
    return b"file:/" + text[6:].lstrip(b"/") if text.startswith(b"local:/") else text


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if not _answer(f"http://127.0.0.1:{port}/v1/info", None, {})["starting"]:
                return
        except (URLError, ConnectionError):
            pass
        time.sleep(0.2)
    raise RuntimeError("Trino did not start; its log ends:\n" + log.read_text(errors="replace")[-3000:])


def _answer(address: str, content: bytes | None, headers: Mapping[str, str]) -> Mapping[str, object]:
    with urllib.request.urlopen(urllib.request.Request(address, content, dict(headers)), timeout=300) as answer:
        return cast(Mapping[str, object], json.load(answer))
