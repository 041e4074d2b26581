"""Groups from a file: ``group-provider.name=file``, as in Trino."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from connector_spi.errors import InvalidPropertyError
from connector_spi.security import GroupProvider

__all__ = ["FileGroupProvider", "NoGroups"]


class NoGroups(GroupProvider):
    """No one is in a group."""

    def get_groups(self, user: str) -> frozenset[str]:
        return frozenset()


class FileGroupProvider(GroupProvider):
    """Groups of a file with lines ``group:user,user``.

    Args:
        path: The file.
        refresh_seconds: It is read again after this.

    Raises:
        InvalidPropertyError: It cannot be read, or a line is not understood.
    """

    def __init__(self, path: Path, refresh_seconds: float = 5.0) -> None:
        self._path = path
        self._refresh_seconds = refresh_seconds
        self._lock = threading.Lock()
        self._read_at = time.monotonic()
        self._groups = _read(path)

    def get_groups(self, user: str) -> frozenset[str]:
        with self._lock:
            now = time.monotonic()
            if now - self._read_at >= self._refresh_seconds:
                self._groups = _read(self._path)
                self._read_at = now
            return self._groups.get(user, frozenset())


def _read(path: Path) -> dict[str, frozenset[str]]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise InvalidPropertyError(f"the group file {path} cannot be read: {error}") from error
    found: dict[str, set[str]] = {}
    seen = set()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        group, colon, users = line.partition(":")
        if not colon or not group.strip() or group in seen:
            raise InvalidPropertyError(f"line {number} of {path}: expected group:user,user with each group once")
        seen.add(group)
        for user in filter(None, (one.strip() for one in users.split(","))):
            found.setdefault(user, set()).add(group.strip())
    return {user: frozenset(groups) for user, groups in found.items()}
