"""Which Python runs our tasks, and what is said of one that cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from connector_spi.errors import NotSupportedError
from lakeport.spark.tasks.interpreter import task_python


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)


def program(folder: Path, script: str) -> str:
    made = folder / "python"
    made.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    made.chmod(0o755)
    return str(made)


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local-cluster[1,1,1024]"])
def test_on_this_machine_it_is_this_python_unless_one_is_chosen(master: str) -> None:
    assert task_python("python3", master) == sys.executable


def test_a_cluster_has_programs_of_its_own() -> None:
    for master in ("yarn", "spark://host:7077", "k8s://https://host", "local-cluster[1,1,1024]"):
        assert task_python("./environment/bin/python", master) == "./environment/bin/python"
    assert task_python("python3", "yarn") == "python3"


@pytest.mark.process
def test_a_chosen_one_has_to_have_lakeport(tmp_path: Path) -> None:
    works = program(tmp_path, f'exec "{sys.executable}" "$@"')
    assert task_python(works, "local[2]") == works
    bare = program(tmp_path, f'cd / && exec "{sys.executable}" -S -E "$@"')
    with pytest.raises(NotSupportedError, match=r"cannot import Lakeport \(ModuleNotFoundError: .*PYSPARK_PYTHON="):
        task_python(bare, "local[2]")


@pytest.mark.process
def test_one_of_another_version_or_that_does_not_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotSupportedError, match=r"is Python 2\.7, and this is Python 3\."):
        task_python(program(tmp_path, "echo 2.7"), "local[2]")
    with pytest.raises(NotSupportedError, match="does not run"):
        task_python(str(tmp_path / "nowhere"), "local[2]")


@pytest.mark.process
def test_what_the_user_named_is_taken_even_if_it_is_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "python3")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotSupportedError, match="to run in python3, which does not run"):
        task_python("python3", "local[2]")
