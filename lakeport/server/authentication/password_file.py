"""A file of users and hashes of their passwords, in Trino's format."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError
from lakeport.error_codes import LIBRARY_NOT_INSTALLED

__all__ = ["PasswordFile"]

_log = logging.getLogger(__name__)
_BCRYPT = re.compile(r"\$2[aby]\$(?P<cost>\d\d)\$[./A-Za-z0-9]{53}")
_PBKDF2 = re.compile(r"(?P<iterations>\d{1,9}):(?P<salt>(?:[0-9a-fA-F]{2})+):(?P<hash>(?:[0-9a-fA-F]{2})+)")
_LEAST_COST = 8
_LEAST_ITERATIONS = 1000
_LEAST_HASH_BYTES = 16
_LONGEST_BCRYPT_PASSWORD = 72
_EXPECTED = "expected 'user:' and a hash as 'htpasswd -B -C 10' writes it, or 'user:iterations:salt:hash' of PBKDF2"


class _Hash(ABC):
    @abstractmethod
    def matches(self, password: bytes) -> bool:
        """Whether it is the hash of a password; takes the same time whatever of it is wrong."""


@dataclass(frozen=True, slots=True)
class _Bcrypt(_Hash):
    text: bytes = field(repr=False)

    def matches(self, password: bytes) -> bool:
        import bcrypt

        # bcrypt knows no more of a password, and two that begin alike are not the same.
        is_possible = len(password) <= _LONGEST_BCRYPT_PASSWORD and b"\0" not in password
        return is_possible and bcrypt.checkpw(password, self.text)


@dataclass(frozen=True, slots=True)
class _Pbkdf2(_Hash):
    iterations: int
    salt: bytes = field(repr=False)
    hash: bytes = field(repr=False)

    def matches(self, password: bytes) -> bool:
        # Trino hashes with SHA-1, Presto with either; the text does not say which.
        found = [
            hmac.compare_digest(
                hashlib.pbkdf2_hmac(kind, password, self.salt, self.iterations, len(self.hash)), self.hash
            )
            for kind in ("sha256", "sha1")
        ]
        return any(found)


class PasswordFile:
    """Users and their passwords; read anew when the file has changed. May be asked by many threads.

    Args:
        path: A line for each user; empty lines are left out.

    Raises:
        InvalidArgumentError: It cannot be read, has no user, or a line is not understood; no line is shown.
        NotSupportedError: It has hashes of bcrypt, and ``bcrypt`` is not installed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._read = _stamp(path)
        self._users = _load(path)

    def authenticate(self, user: str, password: str) -> bool:
        """Whether this is the user's password; no password is, while the file cannot be read."""
        users = self._current()
        # An unknown user costs as much time as a known one.
        known = users.get(user) or next(iter(users.values()), None)
        is_right = known is not None and known.matches(password.encode())
        return is_right and user in users

    def _current(self) -> Mapping[str, _Hash]:
        with self._lock:
            try:
                stamp = _stamp(self._path)
                if stamp != self._read:
                    self._users, self._read = _load(self._path), stamp
            except ConnectorError as error:
                _log.error("no user can log in: %s", error.message)
                # A user who was taken out must not come in by a file that was damaged after.
                self._users, self._read = {}, None
            return self._users


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError as error:
        raise InvalidArgumentError(f"the password file {path} cannot be read: {error.strerror}") from error
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _load(path: Path) -> dict[str, _Hash]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InvalidArgumentError(f"the password file {path} cannot be read: {reason}") from error
    users: dict[str, _Hash] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        user, _, hashed = line.strip().partition(":")
        where = f"line {number} of the password file {path}"
        if not user or user in users:
            raise InvalidArgumentError(f"{where}: {'a user twice' if user else 'no user'}; {_EXPECTED}, each user once")
        users[user] = _hash(hashed, where)
    if not users:
        raise InvalidArgumentError(f"the password file {path} has no user; {_EXPECTED}")
    return users


def _hash(text: str, where: str) -> _Hash:
    bcrypt, pbkdf2 = _BCRYPT.fullmatch(text), _PBKDF2.fullmatch(text)
    if bcrypt is not None:
        if (cost := int(bcrypt["cost"])) < _LEAST_COST:
            raise InvalidArgumentError(f"{where}: a bcrypt cost of {cost}; expected {_LEAST_COST} or more")
        _check_bcrypt(where)
        return _Bcrypt(text.encode())
    if pbkdf2 is None or len(pbkdf2["hash"]) < 2 * _LEAST_HASH_BYTES:
        raise InvalidArgumentError(f"{where} is not understood; {_EXPECTED}")
    if int(pbkdf2["iterations"]) < _LEAST_ITERATIONS:
        raise InvalidArgumentError(
            f"{where}: {int(pbkdf2['iterations'])} iterations; expected {_LEAST_ITERATIONS} or more"
        )
    return _Pbkdf2(int(pbkdf2["iterations"]), bytes.fromhex(pbkdf2["salt"]), bytes.fromhex(pbkdf2["hash"]))


def _check_bcrypt(where: str) -> None:
    try:
        import bcrypt  # noqa: F401 - whether it is there
    except ModuleNotFoundError as error:
        raise NotSupportedError(
            f"{where}: a hash of bcrypt, which needs bcrypt: pip install 'lakeport[server]', or use PBKDF2",
            LIBRARY_NOT_INSTALLED,
        ) from error
