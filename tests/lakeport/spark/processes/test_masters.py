"""Executors in processes of their own give what local mode gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.lakeport.spark.bridge.unsteady import BATCH_ROWS
from tests.lakeport.spark.processes.smoke import ask
from tests.lakeport.spark.processes.tried_twice import FEW, ROWS
from tests.paths import PROJECT

COUNT = 4 * 20 * BATCH_ROWS
READ = [COUNT, COUNT, COUNT * (COUNT - 1) // 2, 1]
"""Rows of an unsteady table, different ids, their sum, and the greatest number of an attempt."""


def printed(module: str) -> dict[str, object]:
    """What a module of this package prints, run in a process of its own."""
    command = [sys.executable, "-m", f"tests.lakeport.spark.processes.{module}"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def answers(master: str, environment: Mapping[str, str] | None = None) -> dict[str, object]:
    """What ``smoke.py`` answers on a master, with further environment variables."""
    command = [sys.executable, "-m", "tests.lakeport.spark.processes.smoke", master]
    given = {**os.environ, **(environment or {})}
    done = subprocess.run(command, cwd=PROJECT, env=given, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.spark
def test_of_a_task_that_is_tried_twice_one_try_counts() -> None:
    met = printed("tried_twice")
    assert met.pop("read") == {"columns true": READ, "columns false": READ}
    tries = ["3-0", "3-1"]
    assert met == {
        "rows": {"rows": ROWS, "distinct": ROWS, "files": 4},
        "tries of rows": tries,
        "few": {"rows": FEW, "distinct": FEW, "files": 1},
        "tries of few": tries,
    }


@pytest.mark.slow
@pytest.mark.spark
def test_of_a_slow_task_and_its_copy_on_another_host_one_counts() -> None:
    met = printed("speculated")
    assert met.pop("read") == {"columns true": READ, "columns false": READ}
    written, tries = {"rows": ROWS, "distinct": ROWS, "files": 4}, ["3-0", "3-1"]
    assert met == {
        "first_wins": written,
        "tries of first_wins": tries,
        "copy_wins": written,
        "tries of copy_wins": tries,
    }


@pytest.mark.slow
def test_local_cluster(spark: SparkSession, tmp_path: Path) -> None:
    met = answers("local-cluster[2,1,1024]")
    assert met["SELECT count(*) FROM hive.s.parquet_table -- native true"] == [[12]]
    assert met["SELECT count(*) FROM hive.s.orc_table -- native false"] == [[12]]
    for name in ("parquet_table", "orc_table"):
        for native in ("true", "false"):
            query = f"SELECT p, sum(id) FROM hive.s.{name} WHERE p IN ('a', 'b') AND id > 2 GROUP BY p"
            assert met[f"{query} -- native {native}"] == [["a", 3 + 6 + 9], ["b", 4 + 7 + 10]]
    for name in ("inserted_parquet", "inserted_orc"):
        assert met[f"{name}, by ours"] == met[f"{name}, by Spark's own reader"]
        ids = sorted(row[0] for row in met[f"{name}, by ours"])  # type: ignore[attr-defined]
        assert ids == [*range(20), *range(100, 120, 3)]
    assert met["why tasks hand over rows, not columns"] == [[None]]
    assert met["transactions of a join of plain SQL"] == [[1]]
    in_one_process = ask(spark.newSession(), tmp_path)
    assert met == json.loads(json.dumps(in_one_process, default=str))
