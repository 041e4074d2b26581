from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector


@pytest.fixture
def hive(tmp_path: Path) -> Iterator[HiveConnector]:
    """A connector over an empty embedded metastore."""
    connector = make_connector(tmp_path)
    yield connector
    connector.shutdown()
