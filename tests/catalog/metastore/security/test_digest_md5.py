"""DIGEST-MD5 against the example of RFC 2831 and against a server of its own written from the same text."""

from __future__ import annotations

import hashlib
import hmac
import re
import struct

import pytest
from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher

from catalog.metastore.security.digest_md5 import DigestMd5Mechanism
from catalog.metastore.security.errors import AuthenticationError, SecureChannelError
from catalog.metastore.security.settings import QualityOfProtection

AUTH, INTEGRITY, CONFIDENTIALITY = QualityOfProtection
ALL = (CONFIDENTIALITY, INTEGRITY, AUTH)


def _h(text: bytes) -> bytes:
    return hashlib.md5(text, usedforsecurity=False).digest()


def test_the_example_of_the_rfc() -> None:
    client = DigestMd5Mechanism("chris", "secret", "imap/elwood.innosoft.com", ALL, lambda: "OA6MHXh6VqTrRk")
    assert client.start() == b""
    response = client.respond(
        b'realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8'
    )
    assert b"response=d388dad90d4bbd760a152321f2143af7" in response
    assert b'digest-uri="imap/elwood.innosoft.com"' in response
    assert not client.complete
    assert client.respond(b"rspauth=ea40f60335c427b5527b84dbabcdfffd") == b""
    assert client.complete
    assert client.longest is None
    assert client.wrap(b"as it is") == b"as it is"


def test_a_server_that_does_not_know_the_secret() -> None:
    client = DigestMd5Mechanism("chris", "secret", "imap/h", ALL)
    client.respond(b'realm="h",nonce="n",qop="auth",algorithm=md5-sess')
    with pytest.raises(AuthenticationError):
        client.respond(b"rspauth=ea40f60335c427b5527b84dbabcdfffd")
    assert not client.complete


@pytest.mark.parametrize("protection", [INTEGRITY, CONFIDENTIALITY])
def test_wrapped_frames_both_ways(protection: QualityOfProtection) -> None:
    client = DigestMd5Mechanism("me", "pass", "null/default", ALL)
    offer = f'realm="default",nonce="abc",qop="{protection.value}",algorithm=md5-sess,cipher="3des,rc4",maxbuf=1000'
    server = _Server(client.respond(offer.encode()).decode(), "pass")
    client.respond(b"rspauth=" + server.proof)
    assert client.longest is not None
    assert client.longest < 1000
    for number in range(3):
        text = bytes([number]) * (number * 100)
        assert server.opened(client.wrap(text)) == text
        assert len(client.wrap(b"x" * client.longest)) <= 1000
        server.opened_count += 1
        server.skip(client.longest)
        assert client.unwrap(server.sealed(text)) == text


@pytest.mark.parametrize("protection", [INTEGRITY, CONFIDENTIALITY])
def test_changed_repeated_and_cut_frames(protection: QualityOfProtection) -> None:
    def connected() -> tuple[DigestMd5Mechanism, _Server]:
        client = DigestMd5Mechanism("me", "pass", "null/default", ALL)
        offer = f'realm="default",nonce="abc",qop="{protection.value}",algorithm=md5-sess,cipher=rc4'
        server = _Server(client.respond(offer.encode()).decode(), "pass")
        client.respond(b"rspauth=" + server.proof)
        return client, server

    good = connected()[1].sealed(b"text")
    for position in range(len(good)):
        client, server = connected()
        frame = bytearray(server.sealed(b"text"))
        frame[position] ^= 1
        with pytest.raises(SecureChannelError):
            client.unwrap(bytes(frame))
    client, server = connected()
    frame_again = server.sealed(b"text")
    assert client.unwrap(frame_again) == b"text"
    with pytest.raises(SecureChannelError):
        client.unwrap(frame_again)
    with pytest.raises(SecureChannelError):
        connected()[0].unwrap(good[:10])


@pytest.mark.parametrize(
    ("challenge", "words"),
    [
        (b'nonce="n",qop="auth",algorithm=md5-sess,nonce="m"', "nonce"),
        (b'qop="auth",algorithm=md5-sess', "nonce"),
        (b'nonce="n",qop="auth",algorithm=md5', "md5-sess"),
        (b'nonce="n",qop="auth-conf",cipher="3des,des",algorithm=md5-sess', "sasl.qop"),
        (b'nonce="n",qop="auth-int",maxbuf=3,algorithm=md5-sess', "3 bytes"),
        (b'nonce="n" qop', "cannot be read"),
        (b"x=" + b"y" * 5000, "5002 bytes"),
    ],
)
def test_challenges_that_are_refused(challenge: bytes, words: str) -> None:
    client = DigestMd5Mechanism("me", "pass", "null/default", ALL)
    with pytest.raises((AuthenticationError, SecureChannelError), match=re.escape(words)):
        client.respond(challenge)


def test_no_secret_is_shown() -> None:
    client = DigestMd5Mechanism("me", "p\u0142anted", "null/default", ALL)
    with pytest.raises(AuthenticationError) as caught:
        client.respond(b'nonce="n",algorithm=md5-sess')
    assert "anted" not in repr(caught.value)
    assert caught.value.__context__ is None
    assert "anted" not in repr(client)


class _Server:
    """The other side, from RFC 2831: it knows the password, and reads the client's answer."""

    def __init__(self, response: str, password: str) -> None:
        said = dict(re.findall(r'([a-z-]+)="?([^",]*)"?', response))
        user = f"{said['username']}:{said['realm']}:{password}".encode()
        a1 = _h(_h(user) + f":{said['nonce']}:{said['cnonce']}".encode())
        tail = "" if said["qop"] == "auth" else ":" + "0" * 32
        middle = f"{said['nonce']}:{said['nc']}:{said['cnonce']}:{said['qop']}"

        def proof(verb: str) -> bytes:
            a2 = _h(f"{verb}:{said['digest-uri']}{tail}".encode()).hex()
            return _h(f"{a1.hex()}:{middle}:{a2}".encode()).hex().encode()

        assert said["response"].encode() == proof("AUTHENTICATE")
        self.proof = proof("")
        self._hidden = said["qop"] == "auth-conf"
        signing, sealing = "signing key magic constant", "sealing key magic constant"
        self._check = _h(a1 + f"Digest session key to client-to-server {signing}".encode())
        self._sign = _h(a1 + f"Digest session key to server-to-client {signing}".encode())
        opens = _h(a1 + f"Digest H(A1) to client-to-server {sealing}".encode())
        seals = _h(a1 + f"Digest H(A1) to server-to-client {sealing}".encode())
        self._open = Cipher(ARC4(opens), None).decryptor()
        self._seal = Cipher(ARC4(seals), None).encryptor()
        self.opened_count = 0
        self._sealed_count = 0

    def opened(self, frame: bytes) -> bytes:
        body, trailer = frame[:-6], frame[-6:]
        assert trailer == b"\0\1" + struct.pack(">I", self.opened_count)
        body = self._open.update(body) if self._hidden else body
        text, signature = body[:-10], body[-10:]
        number = struct.pack(">I", self.opened_count)
        assert signature == hmac.new(self._check, number + text, "md5").digest()[:10]
        self.opened_count += 1
        return text

    def skip(self, size: int) -> None:
        """Lets a frame of so many bytes of text pass unread."""
        if self._hidden:
            self._open.update(bytes(size + 10))

    def sealed(self, text: bytes) -> bytes:
        number = struct.pack(">I", self._sealed_count)
        body = text + hmac.new(self._sign, number + text, "md5").digest()[:10]
        self._sealed_count += 1
        return (self._seal.update(body) if self._hidden else body) + b"\0\1" + number
