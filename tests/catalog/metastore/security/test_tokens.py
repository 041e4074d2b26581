"""Delegation tokens: what a real metastore gave, token files in both formats, and the cache."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from catalog.metastore.error_codes import REFUSED_REQUEST
from catalog.metastore.security.errors import AuthenticationError
from catalog.metastore.security.token_cache import TokenCache
from catalog.metastore.security.tokens import DelegationToken, decode_token, find_token, read_token_file
from connector_spi.errors import MetastoreError

# What Hive 4.0.1 under Kerberos gave to alice for carl; its memory is gone.
REAL = (
    "MAAEY2FybAVhbGljZRNhbGljZUBMQUtFUE9SVC5URVNUigGh_2p2TYoBoiN2-k0FARRk8eXTFWd5GhbrgeQip0px9-kSuhVISVZFX0RFTEVH"
    "QVRJT05fVE9LRU4A"
)


def _delimited(data: bytes) -> bytes:
    return bytes([len(data)]) + data if len(data) < 128 else bytes([len(data) % 128 + 128, len(data) // 128]) + data


def _writable(*services: str) -> bytes:
    body = bytes([len(services)])
    for service in services:
        parts = (b"identifier", b"password", b"HIVE_DELEGATION_TOKEN", service.encode())
        body += b"".join(map(_delimited, (service.encode(), *parts)))
    return b"HDTS\0" + body


def test_a_real_token() -> None:
    token = decode_token(REAL)
    assert (token.kind, token.service) == ("HIVE_DELEGATION_TOKEN", "")
    assert token.identifier[:11] == b"\0\4carl\5alice"[:11]
    assert b"alice@LAKEPORT.TEST" in token.identifier
    assert base64.b64decode(token.username) == token.identifier
    assert len(token.password) == 20
    assert token.secret not in repr(token)


@pytest.mark.parametrize("text", ["", "planted secret", REAL[:50], REAL + "AAAA", "!" + REAL, "gICA"])
def test_texts_that_are_no_token(text: str) -> None:
    with pytest.raises(AuthenticationError) as caught:
        decode_token(text)
    assert "planted" not in str(caught.value)
    assert caught.value.__context__ is None


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(_writable("one", "two"))
    assert [token.service for token in read_token_file(file)] == ["one", "two"]
    assert find_token(file, "two").service == "two"
    with pytest.raises(AuthenticationError, match="delegation-token-service"):
        find_token(file)
    with pytest.raises(AuthenticationError, match="0 tokens"):
        find_token(file, "three")


@pytest.mark.parametrize(
    "data", [b"", b"HDTS", b"HDTS\2", b"HDTS\0\1\5ab", b"HDTS\1\x05", b"HDTS\0\x8f\xff", b"PK\3\4"]
)
def test_files_that_cannot_be_read(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(data)
    with pytest.raises(AuthenticationError, match="tokens"):
        read_token_file(file)
    with pytest.raises(AuthenticationError, match="nowhere"):
        read_token_file(tmp_path / "nowhere")


class Metastore:
    """Gives tokens, and renews the last one of each user until it is told not to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.renews = True
        self.asked: list[str] = []

    def fetch(self, user: str) -> str:
        self.asked.append(f"fetch {user}")
        parts = (user.encode(), str(len(self.asked)).encode(), b"HIVE_DELEGATION_TOKEN", b"")
        return base64.urlsafe_b64encode(b"".join(map(_delimited, parts))).decode()

    def renew(self, text: str) -> None:
        user = decode_token(text).identifier.decode()
        self.asked.append(f"renew {user}")
        if not self.renews:
            raise MetastoreError("too old", REFUSED_REQUEST)

    def cache(self, size: int = 10) -> TokenCache:
        return TokenCache(self.fetch, self.renew, 60.0, size, lambda: self.now)


def test_tokens_are_kept_renewed_and_fetched_anew() -> None:
    metastore = Metastore()
    cache = metastore.cache()

    def ask() -> DelegationToken:
        return cache.token("u")

    first = ask()
    metastore.now = 59
    assert ask() == first
    metastore.now = 61
    assert ask() == first
    metastore.now, metastore.renews = 130, False
    assert ask() != first
    cache.forget("u")
    ask()
    assert metastore.asked == ["fetch u", "renew u", "renew u", "fetch u", "fetch u"]


def test_no_more_users_than_allowed() -> None:
    metastore = Metastore()
    cache = metastore.cache(2)
    for user in ("a", "b", "a", "c", "a", "b"):
        cache.token(user)
    assert metastore.asked == ["fetch a", "fetch b", "fetch c", "fetch b"]
