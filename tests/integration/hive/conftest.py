"""Hive itself, started once for all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import skip_or_fail
from tests.integration.hive.engine import HiveEngine, fetch_engine, running_engine
from tests.integration.servers import why_no_servers


@pytest.fixture(scope="session")
def hive_engine(tmp_path_factory: pytest.TempPathFactory, metastore_jars: Path) -> Iterator[HiveEngine]:
    """A running Hive; use database names of your own."""
    skip_or_fail(why_no_servers())
    folder = tmp_path_factory.mktemp("hive-engine")
    fetch_engine(folder)
    with running_engine(folder, metastore_jars, folder / "run") as engine:
        yield engine
