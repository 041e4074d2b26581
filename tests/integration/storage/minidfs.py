"""A real HDFS on loopback: Hadoop's NameNode and DataNode, from Maven Central, in one process."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hdfs_native import Client

from tests.hms import java_command
from tests.integration.maven import run_maven
from tests.server_process import running_process

__all__ = ["Hdfs", "fetch_hadoop", "running_hdfs"]

_POM = Path(__file__).with_name("pom.xml")
_START_SECONDS = 120
_ADMIN = "org.apache.hadoop.hdfs.tools.DFSAdmin"
_CLUSTER = "org.apache.hadoop.mapreduce.MiniHadoopClusterManager"


@dataclass(frozen=True, slots=True)
class Hdfs:
    """A cluster that runs; who runs it may do anything.

    Attributes:
        port: Its NameNode's.
    """

    port: int

    @property
    def url(self) -> str:
        """``hdfs://127.0.0.1:port``."""
        return f"hdfs://127.0.0.1:{self.port}"

    def client(self) -> Client:
        """A client of whoever runs the cluster."""
        return Client(self.url, {})

    def administer(self, jars: Path, folder: Path, *arguments: str) -> None:
        """Runs ``hdfs dfsadmin``, such as for quotas."""
        command = [*java_command(folder), "-cp", f"{jars}/*", _ADMIN, "-fs", self.url, *arguments]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def upload(self, folder: Path, target: str) -> None:
        """Copies a local folder."""
        client = self.client()

        def copy(path: Path) -> None:
            place = f"{target}/{path.relative_to(folder)}"
            if path.is_dir():
                client.mkdirs(place, create_parent=True)
            else:
                with client.create(place) as file:
                    file.write(path.read_bytes())

        # The client waits almost half a second for each file to be complete.
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(copy, folder.rglob("*")))


def fetch_hadoop(folder: Path) -> None:
    """Has Maven fetch the jars.

    Raises:
        RuntimeError: Maven failed; its last lines.
    """
    run_maven("-f", str(_POM), "dependency:copy-dependencies", f"-DoutputDirectory={folder}")


@contextmanager
def running_hdfs(
    jars: Path, folder: Path, settings: Mapping[str, str] | None = None, java_options: Sequence[str] = ()
) -> Iterator[Hdfs]:
    """Runs a cluster until the block ends.

    Args:
        jars: What ``fetch_hadoop`` filled.
        folder: For its blocks and its log; made here.
        settings: Of Hadoop.
        java_options: More options of Java.
    """
    folder.mkdir(parents=True)
    told, log = folder / "details.json", folder / "hdfs.log"
    given = {"hdfs.minidfs.basedir": str(folder), **(settings or {})}
    options = ["-nomr", "-format", "-nnport", "0", "-writeDetails", str(told)]
    options += [part for name, value in given.items() for part in ("-D", f"{name}={value}")]
    command = [*java_command(folder), *java_options, "-cp", f"{jars}/*", _CLUSTER, *options]
    with running_process(command, folder, log) as process:
        yield Hdfs(_port(process, told, log))


def _port(process: subprocess.Popen[bytes], told: Path, log: Path) -> int:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        # It is written when the DataNode has announced itself.
        if told.exists() and told.read_text().endswith("}"):
            return int(json.loads(told.read_text())["namenode_port"])
        time.sleep(0.1)
    raise RuntimeError("HDFS did not start; its log ends:\n" + log.read_text(errors="replace")[-3000:])
