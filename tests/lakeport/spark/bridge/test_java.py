"""A missing, wrong or old Java is one line that says what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from connector_spi.errors import ExternalError
from lakeport.spark.bridge.java import check_java


def fake_java(folder: Path, says: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    return folder


@pytest.mark.process
@pytest.mark.parametrize(
    ("says", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx="1"\nopenjdk version "25-ea" 2025-09-16', 25),
    ],
)
def test_a_java_that_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, major: int) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, says)))
    assert check_java() == major


@pytest.mark.process
@pytest.mark.parametrize(
    ("says", "met"), [('java version "1.8.0_392"', "is Java 8"), ('openjdk version "11.0.2"', "is Java 11")]
)
def test_an_old_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, met: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, says)))
    with pytest.raises(ExternalError, match=f"needs Java 17.*{met}; install Java 17"):
        check_java()


def test_a_java_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ExternalError, match=r"JAVA_HOME is .* which has no bin/java"):
        check_java()


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExternalError, match=r"found none; install Java 17.*connect\(engine='duckdb'\)"):
        check_java()


@pytest.mark.process
def test_something_else_called_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "No Java runtime present")))
    with pytest.raises(ExternalError, match="printed no version"):
        check_java()
