"""Hadoop's delegation tokens: as text, and in token files.

Sources: ``Token``, ``Credentials`` and ``WritableUtils`` of Hadoop 3 (``org.apache.hadoop``), ``Security.proto``.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from pathlib import Path

from catalog.metastore.security.errors import AuthenticationError

__all__ = ["HIVE_KIND", "DelegationToken", "decode_token", "find_token", "read_token_file"]

HIVE_KIND = "HIVE_DELEGATION_TOKEN"
"""What tokens of metastores, and of HiveServer2, call themselves."""

_MAGIC = b"HDTS"
_MAX_FILE = 16 << 20


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token; its secret is kept out of ``repr``.

    Attributes:
        identifier: Who it is for, and when it was made.
        password: The proof.
        kind: Whose tokens these are.
        service: Where it is for; often empty.
    """

    identifier: bytes = field(repr=False)
    password: bytes = field(repr=False)
    kind: str
    service: str

    @property
    def username(self) -> str:
        """Its user in DIGEST-MD5."""
        return base64.b64encode(self.identifier).decode()

    @property
    def secret(self) -> str:
        """Its password in DIGEST-MD5."""
        return base64.b64encode(self.password).decode()


def decode_token(text: str) -> DelegationToken:
    """Reads a token as the metastore and ``Token.encodeToUrlString`` give it.

    Raises:
        AuthenticationError: It is not one.
    """
    stripped = "".join(text.split()).rstrip("=")
    try:
        data = base64.b64decode(stripped + "=" * (-len(stripped) % 4), altchars=b"-_", validate=True)
        reader = _Reader(data)
        token = reader.token()
        if reader.left:
            raise ValueError("bytes are left")
    except (ValueError, binascii.Error):
        # Neither the text nor the reason, which may quote it, is shown.
        token = None
    if token is None:
        raise AuthenticationError("the delegation token cannot be read: expected a token of Hadoop in URL-safe base64")
    return token


def read_token_file(path: Path) -> list[DelegationToken]:
    """All tokens of a Hadoop token file, of either of its two formats.

    Raises:
        AuthenticationError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_FILE)
    except OSError as error:
        raise AuthenticationError(f"the token file {path} cannot be read: {error.strerror}") from error
    if data[:4] != _MAGIC or len(data) < 5 or data[4] not in (0, 1):
        raise AuthenticationError(f"{path} is not a token file of Hadoop of version 0 or 1")
    try:
        return _Reader(data[5:]).tokens() if data[4] == 0 else _protobuf_tokens(data[5:])
    except ValueError:
        pass
    raise AuthenticationError(f"the token file {path} is damaged")


def find_token(path: Path, service: str = "") -> DelegationToken:
    """The metastore's token of a file.

    Args:
        path: The token file.
        service: Which service's, where the file has several.

    Raises:
        AuthenticationError: The file cannot be read, has none, or has several.
    """
    tokens = read_token_file(path)
    found = [token for token in tokens if token.kind == HIVE_KIND and (not service or token.service == service)]
    if len(found) == 1:
        return found[0]
    held = ", ".join(sorted(f"{token.kind} for {token.service or 'no service'}" for token in tokens)) or "none"
    wanted = f" for {service}" if service else ""
    raise AuthenticationError(
        f"{path} has {len(found)} tokens of kind {HIVE_KIND}{wanted}, expected one (it holds: {held}); "
        "set hive.metastore.client.delegation-token-service"
    )


class _Reader:
    """Reads what ``Writable`` classes of Hadoop write; ValueError where it ends too early."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._position

    def tokens(self) -> list[DelegationToken]:
        found = []
        for _ in range(self.number()):
            self.field()
            found.append(self.token())
        return found

    def token(self) -> DelegationToken:
        identifier, password, kind, service = self.field(), self.field(), self.field(), self.field()
        return DelegationToken(identifier, password, kind.decode(), service.decode())

    def field(self) -> bytes:
        return self.take(self.number())

    def number(self) -> int:
        """A whole number of 1 to 9 bytes; a first byte below -112 says how many follow, and the sign."""
        first = self.take(1)[0]
        if first < 128:
            return first
        if first >= 144:
            return first - 256
        negative, size = (True, 136 - first) if first < 136 else (False, 144 - first)
        value = int.from_bytes(self.take(size), "big")
        return ~value if negative else value

    def varint(self) -> int:
        """A number of protobuf."""
        value = 0
        for shift in range(0, 64, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("too long")

    def take(self, size: int) -> bytes:
        if not 0 <= size <= self.left:
            raise ValueError("the data ends too early")
        self._position += size
        return self._data[self._position - size : self._position]

    def message(self) -> dict[int, list[bytes]]:
        """The fields of a protobuf message whose fields are all bytes, texts or messages."""
        found: dict[int, list[bytes]] = {}
        while self.left:
            key = self.varint()
            if key & 7 != 2:
                raise ValueError("not a field of bytes")
            found.setdefault(key >> 3, []).append(self.take(self.varint()))
        return found


def _protobuf_tokens(data: bytes) -> list[DelegationToken]:
    reader = _Reader(data)
    found = []
    for entry in _Reader(reader.take(reader.varint())).message().get(1, []):
        for token in _Reader(entry).message().get(2, []):
            parts = _Reader(token).message()
            identifier, password, kind, service = (parts[number][0] for number in (1, 2, 3, 4) if number in parts)
            found.append(DelegationToken(identifier, password, kind.decode(), service.decode()))
    return found
