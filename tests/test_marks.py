"""Marks follow from what a test names, and hold while it runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.marks import NO_JAVA
from tests.paths import CORPUS


def marks(request: pytest.FixtureRequest) -> set[str]:
    return {mark.name for mark in request.node.iter_markers()} - {"slow"}


@pytest.fixture
def started() -> int:
    return subprocess.run([sys.executable, "-c", ""], check=False).returncode


@pytest.fixture
def below_the_corpus() -> str:
    return str(CORPUS / "hive")


def test_a_test_that_needs_nothing(request: pytest.FixtureRequest) -> None:
    assert marks(request) == set()
    assert os.environ["JAVA_HOME"] == NO_JAVA


def test_a_test_whose_fixture_starts_a_process(request: pytest.FixtureRequest, started: int) -> None:
    assert started == 0
    assert marks(request) == {"process"}


def test_a_test_whose_fixture_reads_the_corpus(request: pytest.FixtureRequest, below_the_corpus: str) -> None:
    assert marks(request) == {"corpus"}


@pytest.mark.spark
def test_a_test_that_says_itself_that_it_needs_java(request: pytest.FixtureRequest) -> None:
    assert marks(request) == {"spark", "process"}
    assert os.environ.get("JAVA_HOME") != NO_JAVA


def test_a_process_that_no_mark_tells_of_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"test_a_process_that_no_mark_tells_of.*give it the mark process"):
        os.system("true")
