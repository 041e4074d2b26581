"""Metastores of other releases, started once for all tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from tests.integration.corpus_in_metastore import put_history
from tests.integration.servers import (
    RELEASES,
    TRANSACTIONAL_RELEASES,
    Release,
    fetch,
    running_release,
    why_no_release,
    why_no_servers,
)
from tests.paths import PROJECT

REQUIRED = "LAKEPORT_REQUIRE_INTEGRATION"
NO_PARAMS = SimpleNamespace(params={})


@dataclass(frozen=True, slots=True)
class RunningRelease:
    """A metastore that answers.

    Attributes:
        release: Which one.
        port: Its port on loopback.
    """

    release: Release
    port: int

    @property
    def uri(self) -> str:
        """Its address, as ``hive.metastore.uri`` takes it."""
        return f"thrift://127.0.0.1:{self.port}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All that is here starts real servers."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.integration)


def skip_or_fail(reason: str | None) -> None:
    """Skips where servers cannot be had for a reason, or fails where they are required; goes on without one."""
    if reason is not None:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED}=1, but there is {reason}")
        pytest.skip(reason)


@pytest.fixture(scope="session")
def dbt_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with dbt, which wants other releases of libraries than our tests have."""
    return _environment(tmp_path_factory.mktemp("dbt"), sysconfig.get_path("purelib"), _packages("dbt.md"))


@pytest.fixture(scope="session")
def clients_python(dbt_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with dbt and clients of the Thrift port, which want other releases of libraries than dbt alone."""
    [below] = dbt_python.parent.parent.glob("lib/python*/site-packages")
    return _environment(tmp_path_factory.mktemp("clients"), str(below), _packages("server.md"))


@pytest.fixture(scope="session")
def connect_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the client of Spark Connect that has no Java, and nothing of ours beside it."""
    return _environment(tmp_path_factory.mktemp("connect"), None, ["pyspark-client>=4.1"])


def _packages(page: str) -> list[str]:
    """What a page has its readers install in an environment of its own."""
    text = (PROJECT / "docs" / page).read_text("utf-8")
    [wanted] = re.findall(r'^pip install (".*?"(?: ".*?")+)', text, re.MULTILINE)
    return re.findall(r'"(.*?)"', wanted)


def _environment(folder: Path, below: str | None, packages: list[str]) -> Path:
    """An environment with packages; after them come those of another folder, where one is given."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    found = folder / "bin" / "python"
    [own] = folder.glob("lib/python*/site-packages")
    if below is not None:
        (own / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n", "utf-8")
    command = [str(found), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    skip_or_fail(f"no {packages[0]}: {done.stderr[-2000:]}" if done.returncode else None)
    return found


@pytest.fixture(scope="session")
def metastore_jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The metastores, unpacked; skips where they cannot be had, or fails where they are required."""
    skip_or_fail(why_no_servers())
    folder = tmp_path_factory.mktemp("metastores")
    fetch(folder)
    return folder


# A transaction without a heartbeat is aborted soon: settings of 3.1 and of 4.0. What does it also removes old rows of
# the table that commits write to, and can deadlock with them: not too often (its own interval is 45 s).
TIMEOUT_SECONDS = 15
TRANSACTIONAL = {
    "metastore.txn.timeout": f"{TIMEOUT_SECONDS}s",
    "metastore.timedout.txn.reaper.interval": "5s",
    "metastore.acid.housekeeper.interval": "5s",
    # Else 4.0 makes external tables of what clients without its words for it create.
    "metastore.metadata.transformer.class": " ",
}


@pytest.fixture(scope="session")
def starting_releases(
    request: pytest.FixtureRequest, metastore_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Future[int]]]:
    """Ports of the releases that this run's tests ask for, which start two at a time while others are tested."""
    wanted = [
        release
        for release in RELEASES
        if why_no_release(release) is None
        and any(getattr(item, "callspec", NO_PARAMS).params.get("metastore_release") == release
                for item in request.session.items)
    ]  # fmt: skip

    def start(release: Release) -> int:
        folder = tmp_path_factory.mktemp(f"hms-{release.version}") / "run"
        return stack.enter_context(running_release(release, metastore_jars, folder)).port

    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        yield {release.version: pool.submit(start, release) for release in wanted}
        # None may start after the others were stopped.
        pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="session", params=RELEASES, ids=lambda release: release.version)
def metastore_release(request: pytest.FixtureRequest, starting_releases: Mapping[str, Future[int]]) -> RunningRelease:
    """Each release in turn: use database names of your own."""
    release: Release = request.param
    reason = why_no_release(release)
    if reason is not None:
        pytest.skip(reason)
    return RunningRelease(release, starting_releases[release.version].result())


@pytest.fixture(scope="session", params=TRANSACTIONAL_RELEASES, ids=lambda release: release.version)
def transactional_release(
    request: pytest.FixtureRequest, metastore_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningRelease]:
    """Each release in turn, ready for full ACID tables, with a short timeout of transactions.

    The corpus's history comes first: a test that aborted one of its transactions would hide what that one compacted.
    """
    release: Release = request.param
    folder = tmp_path_factory.mktemp(f"acid-{release.version}") / "run"
    settings = {**TRANSACTIONAL, "metastore.task.threads.always": release.housekeeper}
    with running_release(release, metastore_jars, folder, settings) as server:
        with closing(TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", server.port))) as transport:
            transport.open()
            put_history(ThriftHiveMetastore.Client(TBinaryProtocol(transport)))
        yield RunningRelease(release, server.port)
