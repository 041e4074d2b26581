"""Every supported minor version of Spark answers as the one that is installed does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.connectors.hudi.corpus import CASES
from tests.lakeport.spark.processes.test_masters import answers
from tests.paths import PROJECT

OLDER = ["4.0.1", "4.1.1", "4.2.1"]
CHANGES_SINCE = "4.2"

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def newest() -> dict[str, object]:
    return answers("local[2]")


@pytest.fixture(scope="module", params=OLDER)
def older(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An older version, and the folder that it is installed in."""
    version, folder = str(request.param), tmp_path_factory.mktemp("spark")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*command, "--target", str(folder), f"pyspark=={version}"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = f"pip cannot install pyspark {version}: {done.stderr.strip()[-300:]}"
        if os.environ.get("LAKEPORT_REQUIRE_INTEGRATION") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return version, folder


def test_an_older_spark(older: tuple[str, Path], newest: dict[str, object]) -> None:
    version, folder = older
    met = answers("local[2]", {"PYTHONPATH": str(folder)})
    assert met == {**newest, "spark": [[version]]}
    assert met["why tasks hand over rows, not columns"] == [[None]]


@pytest.mark.skipif(not CASES, reason="the corpus is not here")
def test_what_hudi_tables_can_be_asked_in_an_older_spark(older: tuple[str, Path]) -> None:
    version, folder = older
    command = [sys.executable, "-m", "tests.lakeport.spark.processes.hudi_smoke"]
    given = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=PROJECT, env=given, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    met: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    assert met.pop("spark") == version
    for question in ("change feed", "columns of the end"):
        assert "use Spark 4.3 or later" in met.pop(question)
    if version < CHANGES_SINCE:
        assert "PARSE_SYNTAX_ERROR" in met.pop("CHANGES")
    assert len(met) > 10
    assert set(met.values()) == {"same"}
