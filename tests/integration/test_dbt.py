"""The project of docs/dbt.md: its files, its program, and what dbt makes of the sample tables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.integration.conftest import skip_or_fail
from tests.lakeport.sample_session import sample_session
from tests.paths import PROJECT

# The program of the page starts Spark.
pytestmark = [pytest.mark.spark, pytest.mark.slow]

_PAGE = (PROJECT / "docs" / "dbt.md").read_text("utf-8")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with dbt, which wants other releases of libraries than our tests have."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    found = folder / "bin" / "python"
    [packages] = folder.glob("lib/python*/site-packages")
    # After its own packages come those of this Python.
    (packages / "this.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n", "utf-8")
    [wanted] = re.findall(r'pip install (".*?" ".*?")', _PAGE)
    command = [str(found), "-m", "pip", "install", "--quiet", *re.findall(r'"(.*?)"', wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    skip_or_fail(f"no dbt: {done.stderr[-2000:]}" if done.returncode else None)
    return found


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


def test_the_page(python: Path, project: Path) -> None:
    [command] = re.findall(r"^python (run_dbt\.py .*)$", _PAGE, re.MULTILINE)
    assert "PASS=3 WARN=0 ERROR=0" in _run(python, project, *command.split())
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
