"""The shell's files: who may read them, and when they go."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lakeport.shell.state import spark_log
from lakeport.spark.session_factory import _opened


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return spark_log().parent


def test_the_log_is_for_its_owner_alone(folder: Path) -> None:
    log = spark_log()
    log.touch(mode=0o644)
    with _opened(log) as file:
        assert file is not None
        file.write(b"secret")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_old_logs_of_ended_processes_go(folder: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    days = {f"spark-{ended.pid}.log": 2, f"spark-{os.getppid()}.log": 2, "spark-x.log": 2, "history": 2}
    for name, age in days.items():
        (folder / name).touch()
        seconds = (folder / name).stat().st_mtime - age * 86400
        os.utime(folder / name, (seconds, seconds))
    spark_log()
    assert sorted(file.name for file in folder.iterdir()) == sorted(set(days) - {f"spark-{ended.pid}.log"})


def test_the_log_of_a_start_that_has_just_failed_stays(folder: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (folder / f"spark-{ended.pid}.log").touch()
    spark_log()
    assert [file.name for file in folder.iterdir()] == [f"spark-{ended.pid}.log"]
