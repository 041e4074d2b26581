"""Credentials of users from a file: ``credential-provider.name=file``."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

from connector_spi.errors import InvalidPropertyError

__all__ = ["FileCredentials"]


class FileCredentials:
    """Credentials of a JSON file: ``{"alice": {"s3.aws-access-key": "...", "s3.aws-secret-key": "..."}}``.

    Args:
        path: The file.
        refresh_seconds: It is read again after this.

    Raises:
        InvalidPropertyError: It cannot be read, others than its owner may read it, or it is not understood. No message
            shows what is in it.
    """

    def __init__(self, path: Path, refresh_seconds: float = 5.0) -> None:
        self._path = path
        self._refresh_seconds = refresh_seconds
        self._lock = threading.Lock()
        self._read_at = time.monotonic()
        self._known = _read(path)

    def get(self, user: str) -> tuple[tuple[str, str], ...]:
        """What a user gives along, by name; nothing for a user that the file does not name."""
        with self._lock:
            now = time.monotonic()
            if now - self._read_at >= self._refresh_seconds:
                self._known = _read(self._path)
                self._read_at = now
            return self._known.get(user, ())


def _read(path: Path) -> dict[str, tuple[tuple[str, str], ...]]:
    try:
        if path.stat().st_mode & 0o077:
            raise InvalidPropertyError(
                f"the file of credentials {path} may be read or written by others than its owner; take these rights "
                f"away: chmod 600 {path}"
            )
        text = path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        # Not chained where it is about the content.
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidPropertyError(f"the file of credentials {path} cannot be read: {reason}") from None
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(map(_is_understood, found.values())):
        raise InvalidPropertyError(
            f"the file of credentials {path} is not understood; expected JSON such as "
            '{"alice": {"s3.aws-access-key": "...", "s3.aws-secret-key": "..."}} with each name once'
        )
    return {user: tuple(sorted(given.items())) for user, given in found.items()}


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _is_understood(given: object) -> bool:
    return isinstance(given, dict) and all(isinstance(text, str) for text in given.values())
