"""Every supported minor version of Spark answers as the one that is installed does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lakeport.spark.test_masters import answers

OLDER = ["4.0.1", "4.1.1"]


@pytest.fixture(scope="module")
def newest() -> dict[str, object]:
    return answers("local[2]")


@pytest.mark.integration
@pytest.mark.parametrize("version", OLDER)
def test_an_older_spark(version: str, newest: dict[str, object], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*command, "--target", str(tmp_path), f"pyspark=={version}"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = f"pip cannot install pyspark {version}: {done.stderr.strip()[-300:]}"
        if os.environ.get("LAKEPORT_REQUIRE_INTEGRATION") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    met = answers("local[2]", {"PYTHONPATH": str(tmp_path)})
    assert met == {**newest, "spark": [[version]]}
