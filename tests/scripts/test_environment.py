"""What a machine lacks is said in one line, before anything is downloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.paths import PROJECT

TOOLS = ("sh", "sed", "head", "dirname", "rm", "touch")


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A PATH with no Java and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    return folder


def add_program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def run(script: Path, path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(script)], env={"PATH": str(path), **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("version", "major"),
    [("1.8.0_402", 8), ("11.0.22", 11), ("16", 16), ("17.0.15", 17), ("21-ea", 21), ("25.0.1", 25)],
)
def test_a_java_is_new_enough_or_not(bare_path: Path, version: str, major: int) -> None:
    add_program(bare_path, "java", f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")
    done = run(PROJECT / "scripts" / "check-java", bare_path)
    if major >= 17:
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert done.returncode == 1
        assert f"is Java {major}: install Java 17 or later" in done.stderr
        assert done.stderr.count("\n") == 1


def test_no_java(bare_path: Path) -> None:
    done = run(PROJECT / "scripts" / "check-java", bare_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: Spark needs Java, and there is none: install Java 17 or later")
    assert done.stderr.count("\n") == 1


def test_a_java_home_that_is_none(bare_path: Path, tmp_path: Path) -> None:
    add_program(bare_path, "java", "echo 'openjdk version \"17.0.15\"' >&2")
    done = run(PROJECT / "scripts" / "check-java", bare_path, JAVA_HOME=str(tmp_path / "jdk"))
    assert done.returncode == 1
    assert f"JAVA_HOME is {tmp_path}/jdk, which has no bin/java" in done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the script alone, so that the test's own environment is not touched."""
    scripts = tmp_path / "project" / "scripts"
    scripts.mkdir(parents=True)
    shutil.copy(PROJECT / "scripts" / "make-environment", scripts)
    return scripts.parent


def test_no_python(bare_path: Path, project: Path) -> None:
    add_program(bare_path, "python3", "exit 1")
    done = run(project / "scripts" / "make-environment", bare_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: Lakeport needs Python 3.11 or later, and there is none: install it")
    assert done.stderr.count("\n") == 1


def test_a_python_without_its_venv_module(bare_path: Path, project: Path) -> None:
    refuse = 'case "$*" in *venv*) echo "ensurepip is not available"; exit 1;; *version_info\\[:2\\]*) echo 3.12;; esac'
    add_program(bare_path, "python3.12", refuse)
    done = run(project / "scripts" / "make-environment", bare_path)
    assert done.returncode == 1
    assert "python3.12 cannot make environments: install its venv module" in done.stderr
    assert "apt-get install python3.12-venv" in done.stderr
    assert not (project / ".venv").exists()


def test_scripts_can_be_run() -> None:
    scripts = [path for path in (PROJECT / "scripts").iterdir() if path.suffix == "" and path.is_file()]
    assert len(scripts) >= 3
    assert all(os.access(path, os.X_OK) for path in (*scripts, PROJECT / ".ci" / "run"))
