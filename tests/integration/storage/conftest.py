"""What HDFS is made of, fetched once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import skip_or_fail
from tests.integration.servers import why_no_servers
from tests.integration.storage.minidfs import fetch_hadoop


@pytest.fixture(scope="session")
def hadoop_jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hadoop's jars; skips where they cannot be had, or fails where they are required."""
    skip_or_fail(why_no_servers())
    folder = tmp_path_factory.mktemp("hadoop")
    fetch_hadoop(folder)
    return folder
