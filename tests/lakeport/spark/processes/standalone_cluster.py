"""A cluster of Spark's own, of one master and two workers that Spark takes for two hosts."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

__all__ = ["standalone_cluster"]

_CLASS = "org.apache.spark.deploy."
_WORKERS = ("127.0.0.1", "127.0.0.2")
_MASTER_ADDRESS = re.compile(r"Starting Spark master at (spark://[\d.:]+)")
_REGISTERED = "Successfully registered with master"
_SECONDS = 60.0


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[str]:
    """Runs a cluster, each worker of which has two cores.

    Args:
        folder: For logs, and for what the workers keep.

    Yields:
        The master's address.
    """
    with ExitStack() as stack:
        master = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        log = stack.enter_context(_running("master.Master", master, "127.0.0.1", folder / "master"))
        address = _awaited(log, _MASTER_ADDRESS)[1]
        for host in _WORKERS:
            place = folder / host
            given = ("--host", host, "--webui-port", "0", "--cores", "2", "--memory", "1g", "--work-dir", str(place))
            log = stack.enter_context(_running("worker.Worker", (*given, address), host, place))
            _awaited(log, re.compile(_REGISTERED))
        yield address


@contextmanager
def _running(name: str, arguments: tuple[str, ...], host: str, folder: Path) -> Iterator[Path]:
    folder.mkdir()
    log = folder / "log"
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), _CLASS + name, *arguments]
    with log.open("wb") as output:
        # The web pages listen there too.
        environment = {**os.environ, "SPARK_LOCAL_IP": host}
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield log
    finally:
        process.terminate()
        process.wait(_SECONDS)


def _awaited(log: Path, words: re.Pattern[str]) -> re.Match[str]:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        found = words.search(log.read_text("utf-8", "replace"))
        if found is not None:
            return found
        time.sleep(0.1)
    raise AssertionError(f"no '{words.pattern}' in {log}: {log.read_text('utf-8', 'replace')[-3000:]}")
