"""One server for the tests that leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lakeport.server.clients import QUERY_LOG, RunningServer, running_server


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    options = ["--query-log", str(folder / QUERY_LOG), "--metrics-port", "0"]
    with running_server(folder, *options) as running:
        yield running
