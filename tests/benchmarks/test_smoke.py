"""The benchmarks run and print figures; what the figures say is not looked at."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.figures import Figure
from benchmarks.timing import Timings
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


def test_a_figure_at_its_aim_meets_it() -> None:
    assert Figure("g", "n", 3, "calls", 3).verdict == "met"
    assert Figure("g", "n", 3.01, "calls", 3).verdict == "missed"
    assert Figure("g", "n", 3, "calls").verdict == ""


def test_rounds_are_compared_pair_by_pair() -> None:
    # The machine was ten times slower in the last two rounds: the ratio is still that of the contenders.
    timings = Timings({"base": (1.0, 1.0, 10.0, 10.0), "other": (2.0, 2.0, 20.0, 20.0)})
    assert timings.ratio("other", "base") == 2.0
    assert timings.difference("base", "base") == 0.0
