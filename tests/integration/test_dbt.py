"""The project of docs/dbt.md: its files, its program, and what dbt makes of the sample tables."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.lakeport.sample_session import sample_session
from tests.paths import PROJECT

# The program of the page starts Spark.
pytestmark = [pytest.mark.spark, pytest.mark.slow]

_PAGE = (PROJECT / "docs" / "dbt.md").read_text("utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, beside the sample tables."""
    folder = tmp_path_factory.mktemp("project")
    sample_session(folder / "lakeport-warehouse").close()
    files = re.findall(r"```[\w+]+\n(?:#|--) (\S+\.\w+)\n(.*?)```", _PAGE, re.DOTALL)
    assert len(files) == 6
    for name, text in files:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def test_the_page(dbt_python: Path, project: Path) -> None:
    [command] = re.findall(r"^python (run_dbt\.py .*)$", _PAGE, re.MULTILINE)
    assert "PASS=3 WARN=0 ERROR=0" in _run(dbt_python, project, *command.split())
    revenue = pq.read_table(project / "spark-warehouse" / "analytics.db" / "revenue")
    assert revenue.column_names == ["region", "visits", "revenue"]
    assert {"apac", "eu", "us"} <= set(revenue["region"].to_pylist())


def _run(python: Path, project: Path, *arguments: str) -> str:
    given = {**os.environ, "DBT_PROFILES_DIR": str(project), "PYSPARK_PYTHON": str(python)}
    done = subprocess.run(
        [str(python), *arguments], cwd=project, env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout
