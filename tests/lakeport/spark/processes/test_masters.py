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
from tests.lakeport.spark.processes.tried_twice import ROWS
from tests.paths import PROJECT


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
    command = [sys.executable, "-m", "tests.lakeport.spark.processes.tried_twice"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    met = json.loads(done.stdout.splitlines()[-1])
    count = 4 * 20 * BATCH_ROWS
    read = [count, count, count * (count - 1) // 2, 1]
    assert met.pop("read") == {"columns true": read, "columns false": read}
    assert met == {"rows": ROWS, "distinct": ROWS, "files": 4, "tries of task 3": ["3-0", "3-1"]}


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
    assert met["transactions of a join of plain SQL"] == [[1]]
    in_one_process = ask(spark.newSession(), tmp_path)
    assert met == json.loads(json.dumps(in_one_process, default=str))
