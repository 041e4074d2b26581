"""Executors that have nothing but what ``spark.archives`` brings them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.lakeport.spark.processes.packed_environment import pack_environment
from tests.paths import PROJECT


@pytest.mark.slow
@pytest.mark.spark
def test_executors_find_lakeport_in_a_packed_environment(tmp_path: Path) -> None:
    archive = pack_environment(tmp_path)
    command = [sys.executable, "-m", "tests.lakeport.spark.processes.archive_smoke", str(archive)]
    # Executors get the environment of the driver; what it finds in its current folder they do not.
    given = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYSPARK_PYTHON")}
    done = subprocess.run(command, cwd=PROJECT, env=given, capture_output=True, text=True, timeout=300, check=False)
    archive.unlink()
    assert done.returncode == 0, done.stderr[-3000:]
    met = json.loads(done.stdout.splitlines()[-1])
    # Spark leaves the folders of its workers, and so the environment, where it is installed.
    shutil.rmtree(Path(pyspark.__file__).parent / "work" / met["application"])
    assert met["rows"] == [0, 3, 6, 9]
    file, prefix, *others = met["paths"]
    assert Path(prefix).name == "environment"
    assert Path(file).is_relative_to(prefix)
    own = [path for path in others if "pyspark" not in path and "py4j" not in path]
    assert [path for path in own if path == str(PROJECT) or path.startswith(sys.prefix)] == []
