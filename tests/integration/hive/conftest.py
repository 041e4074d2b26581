"""Hive itself, and Trino over its metastore, each started once for all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.hive.connector import HiveConnector
from tests.integration.conftest import skip_or_fail
from tests.integration.hive.engine import HiveEngine, fetch_engine, running_engine
from tests.integration.hive.trino import Trino, fetch_trino, running_trino, why_no_trino
from tests.integration.servers import why_no_servers
from tests.integration.test_transactions import make_hive


@pytest.fixture(scope="session")
def hive_engine(tmp_path_factory: pytest.TempPathFactory, metastore_jars: Path) -> Iterator[HiveEngine]:
    """A running Hive; use database names of your own."""
    skip_or_fail(why_no_servers())
    folder = tmp_path_factory.mktemp("hive-engine")
    fetch_engine(folder)
    with running_engine(folder, metastore_jars, folder / "run") as engine:
        yield engine


@pytest.fixture(scope="session")
def trino(tmp_path_factory: pytest.TempPathFactory, hive_engine: HiveEngine) -> Iterator[Trino | None]:
    """A running Trino over the metastore and the files of Hive; ``None`` where there is no Java for it."""
    if why_no_trino() is not None:
        yield None
        return
    folder = tmp_path_factory.mktemp("trino")
    with running_trino(fetch_trino(folder / "jars"), hive_engine.port, folder / "run") as running:
        yield running


@pytest.fixture(scope="module")
def hive(hive_engine: HiveEngine) -> Iterator[HiveConnector]:
    """Our connector over Hive's metastore."""
    connector = make_hive(hive_engine.uri)
    yield connector
    connector.shutdown()
