"""The benchmarks run and print figures; what the figures say is not looked at."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.data.tpch_tables import TABLES, make_tables
from benchmarks.harness.figures import Figure, read_figures
from benchmarks.harness.timing import Timings
from benchmarks.tpch.tpch import statements
from tests.paths import PROJECT


@pytest.mark.slow
@pytest.mark.spark
def test_fast_benchmarks_print_figures() -> None:
    command = [sys.executable, "-m", "benchmarks", "--small", "query_overhead", "planning"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    for words in ("machine: ", "Spark ", "hive, 1 small file, native", "hudi, 1 small file, python", "metastore calls"):
        assert any(words in line for line in printed), f"{words} is not in {done.stdout}"


@pytest.mark.slow
@pytest.mark.spark
def test_transactional_benchmarks_print_figures() -> None:
    command = [sys.executable, "-m", "benchmarks", "--small", "acid"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    for words in ("3 of 10 columns summed", "count(*)", "files opened while planning", "opens of a delete file"):
        assert words in done.stdout
    # These are counts, and hold for tables of any size.
    counted = [line for line in done.stdout.splitlines() if " opens " in line]
    assert len(counted) == 4
    assert all(" met" in line for line in counted), done.stdout


@pytest.mark.slow
@pytest.mark.spark
def test_the_benchmark_of_tpch_compares_answers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.tpch.tpch", "--small", "--folder", str(tmp_path), "--only", "6", "22"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BENCHMARK_HUDI")}
    done = subprocess.run(
        [*command, "--json", str(tmp_path / "figures.json")],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        timeout=280,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert "mor: left out" in done.stderr
    figures = {figure.name: figure for figure in read_figures(tmp_path / "figures.json")}
    for kind in ("orc", "parquet", "acid"):
        assert figures[f"{kind}, answers that are not Spark's"].value == 0
        assert f"{kind}, of Spark's own, CPU, geometric mean" in figures
    assert "cow, answers that are not Spark's" not in figures


@pytest.mark.slow
def test_the_local_benchmark_of_tpch_counts_our_memory_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHMARK_HUDI_PYTHON", raising=False)
    make_tables(tmp_path / "scale-0.01", 0.01)
    command = [sys.executable, "-m", "benchmarks.tpch.tpch_local", "--folder", str(tmp_path), "--only", "6", "18"]
    done = subprocess.run(
        [*command, "--scale", "0.01", "--memory", "500MB", "--rounds", "1", "--json", str(tmp_path / "figures.json")],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "mor: left out" in done.stderr
    figures = {figure.name: figure for figure in read_figures(tmp_path / "figures.json")}
    assert figures["parquet, answers that are not DuckDB's"].value == 0
    assert 0 < figures["acid, most memory of the process"].value < 2048


def test_the_queries_of_tpch_are_22() -> None:
    queries = statements(PROJECT / "benchmarks" / "tpch" / "tpch_queries.sql")
    assert len(queries) == 22
    for number, query in enumerate(queries, 1):
        assert f"-- {number}: " in query
        assert set(re.findall(r"\{(\w*)\}", query)) <= set(TABLES)


def test_a_figure_at_its_aim_meets_it() -> None:
    assert Figure("g", "n", 3, "calls", 3).verdict == "met"
    assert Figure("g", "n", 3.01, "calls", 3).verdict == "missed"
    assert Figure("g", "n", 3, "calls").verdict == ""


def test_rounds_are_compared_pair_by_pair() -> None:
    # The machine was ten times slower in the last two rounds: the ratio is still that of the contenders.
    timings = Timings({"base": (1.0, 1.0, 10.0, 10.0), "other": (2.0, 2.0, 20.0, 20.0)})
    assert timings.ratio("other", "base") == 2.0
    assert timings.difference("base", "base") == 0.0
