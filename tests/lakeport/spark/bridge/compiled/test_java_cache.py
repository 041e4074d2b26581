"""Jars of compiled classes, kept from process to process."""

from __future__ import annotations

import os
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakeport.spark.bridge.compiled.java_cache import cache_directory, compiled_jar

CLASSES = {"lakeport.spark.A": b"\xca\xfe\xba\xbe a", "lakeport.spark.A$B": b"\xca\xfe\xba\xbe b"}


class Compiler:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> dict[str, bytes]:
        self.calls += 1
        return CLASSES


def test_a_jar_is_compiled_once_and_for_this_user_alone(tmp_path: Path) -> None:
    compiler, directory = Compiler(), tmp_path / "made" / "java"
    first, second = (compiled_jar(directory, "columns", compiler) for _ in range(2))
    assert first == second == directory / "columns.jar"
    assert compiler.calls == 1
    assert [path.stat().st_mode & 0o077 for path in (directory, first)] == [0, 0]
    with zipfile.ZipFile(first) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {"lakeport/spark/A.class": b"\xca\xfe\xba\xbe a", "lakeport/spark/A$B.class": b"\xca\xfe\xba\xbe b"}


@pytest.mark.parametrize("harm", ["cut", "emptied", "without its digest", "writable by others"])
def test_a_jar_that_was_changed_is_compiled_again(tmp_path: Path, harm: str) -> None:
    compiler = Compiler()
    jar = compiled_jar(tmp_path, "columns", compiler)
    whole = jar.read_bytes()
    if harm == "without its digest":
        jar.with_suffix(".jar.sha256").unlink()
    elif harm == "writable by others":
        jar.chmod(0o666)
    else:
        jar.write_bytes(whole[:20] if harm == "cut" else b"")
    assert compiled_jar(tmp_path, "columns", compiler).read_bytes() == whole
    assert compiler.calls == 2
    assert jar.stat().st_mode & 0o022 == 0


@pytest.mark.parametrize("kind", ["writable by others", "a file", "not writable"])
def test_a_directory_that_cannot_be_trusted_is_not_used(tmp_path: Path, kind: str) -> None:
    directory = tmp_path / "java"
    if kind == "a file":
        directory.write_text("")
    else:
        directory.mkdir()
        directory.chmod(0o777 if kind == "writable by others" else 0o500)
    if kind == "not writable" and os.geteuid() == 0:
        directory = Path("/proc/lakeport-java")  # root may write to any directory, but not to this one
    jar = compiled_jar(directory, "columns", Compiler())
    assert not jar.is_relative_to(directory)
    assert zipfile.is_zipfile(jar)
    assert jar.parent.stat().st_mode & 0o077 == 0


def test_many_at_once_leave_one_intact_jar(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        jars = set(pool.map(lambda _: compiled_jar(tmp_path, "columns", Compiler()), range(40)))
    assert jars == {tmp_path / "columns.jar"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["columns.jar", "columns.jar.sha256"]
    compiler = Compiler()
    compiled_jar(tmp_path, "columns", compiler)
    assert compiler.calls == 0


def test_the_cache_is_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "lakeport" / "java"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home" / ".cache" / "lakeport" / "java"
