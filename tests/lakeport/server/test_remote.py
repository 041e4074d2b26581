"""The shell and ``lakeport sql`` over a server; addresses that are none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from connector_spi.errors import ExternalError, InvalidArgumentError
from lakeport.remote.connection import connect_to_server, shown_address
from tests.lakeport.server.clients import RunningServer

_COMMAND = [sys.executable, "-c", "import sys; from lakeport.shell.main import main; sys.exit(main())"]


def run(folder: Path, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs ``lakeport`` with no Java in reach."""
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    return subprocess.run(
        [*_COMMAND, *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env={**environment, "PATH": "/nowhere"},
    )


@pytest.mark.parametrize("address", ["localhost:15002", "jdbc:hive2://localhost", "sc://", "sc://a b"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(InvalidArgumentError, match="expected sc://HOST:PORT"):
        connect_to_server(address)


def test_a_token_is_not_shown() -> None:
    assert shown_address("sc://host:1/;token=secret") == "sc://host:1"


@pytest.mark.slow
@pytest.mark.spark
def test_statements_of_the_command_line(server: RunningServer, tmp_path: Path) -> None:
    url = f"{server.connect_url}/;user_id=zoe"
    script = (
        "USE hive.sales; SELECT id, s FROM labels WHERE id < 3 ORDER BY id; "
        "SELECT current_user() AS who, array(1, 2) AS a, map('k', 1.50) AS m, timestamp '2024-01-02 03:04:05' AS at"
    )
    done = run(tmp_path, "sql", script, "--server", url, "--output-format", "csv")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == ["id,s", "1,one", "2,two"]
    assert lines[4].startswith("zoe,")
    assert "2024-01-02 03:04:05" in lines[4]
    commands = "\\d hive.sales.labels\n\\dt hive.sales\n\\conninfo\n"
    shown = run(tmp_path, "shell", "--server", url, "--catalog", "hive", "--schema", "sales", text=commands)
    assert shown.returncode == 0, shown.stderr
    assert "labels" in shown.stdout
    assert "id     | int" in shown.stdout
    assert "Server: sc://" in shown.stdout
    refused = run(tmp_path, "sql", "SELECT * FROM hive.sales.lables", "--server", url)
    assert refused.returncode == 1
    assert "lables" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_what_does_not_go_with_a_server(tmp_path: Path) -> None:
    done = run(tmp_path, "sql", "SELECT 1", "--server", "sc://localhost:1", "--catalogs", ".")
    assert (done.returncode, "leave out --catalogs and --engine" in done.stderr) == (1, True)


@pytest.mark.slow
def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ExternalError, match=r"the server sc://127\.0\.0\.1:1 cannot be used") as met:
        connect_to_server("sc://127.0.0.1:1/;token=some-secret-token")
    assert "some-secret-token" not in str(met.value)
