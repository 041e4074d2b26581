"""Compiled Java classes, kept from process to process: jars in the user's cache directory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

__all__ = ["cache_directory", "compiled_jar"]

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ALWAYS = (1980, 1, 1, 0, 0, 0)
"""The time of each member, so that equal classes make equal jars; the earliest that the zip format has."""


def cache_directory() -> Path:
    """``$XDG_CACHE_HOME/lakeport/java``, by default under ``~/.cache`` (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "lakeport", "java")


def compiled_jar(directory: Path, name: str, compiled: Callable[[], Mapping[str, bytes]]) -> Path:
    """A jar of classes, which is compiled where it is not kept yet or was damaged.

    Several processes may ask at once: each writes files of its own and renames them.

    Args:
        directory: Where jars are kept; made for this user alone where it is missing.
        name: Of the jar, without suffix. It tells all that the classes depend on.
        compiled: Gives the classes' bytes by their full names.

    Returns:
        The jar: in ``directory``, or in a directory of this process where others could change that one, or where
        nothing can be written.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(directory):
            raise PermissionError(directory)
        jar = directory / f"{name}.jar"
        if not _is_intact(jar):
            _write(jar, compiled())
    except OSError:
        jar = Path(tempfile.mkdtemp(prefix="lakeport-java-"), f"{name}.jar")
        _write(jar, compiled())
    return jar


def _is_ours(path: Path) -> bool:
    """Whether only this user, or root, can change what is there."""
    found = path.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS


def _is_intact(jar: Path) -> bool:
    try:
        wanted = _digest_of(jar).read_text("ascii").strip()
        return _is_ours(jar) and hashlib.sha256(jar.read_bytes()).hexdigest() == wanted
    except (OSError, ValueError):
        return False


def _write(jar: Path, classes: Mapping[str, bytes]) -> None:
    with _renamed_to(jar) as made, zipfile.ZipFile(made, "w") as archive:
        for name, code in sorted(classes.items()):
            archive.writestr(zipfile.ZipInfo(name.replace(".", "/") + ".class", _ALWAYS), code)
    with _renamed_to(_digest_of(jar)) as digest:
        digest.write_text(hashlib.sha256(jar.read_bytes()).hexdigest(), "ascii")


@contextlib.contextmanager
def _renamed_to(path: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    os.close(handle)
    try:
        yield Path(name)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _digest_of(jar: Path) -> Path:
    return jar.with_suffix(".jar.sha256")
