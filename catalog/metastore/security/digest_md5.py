"""SASL DIGEST-MD5 (RFC 2831): proves user and password by hashes; delegation tokens use it.

The two sides may also sign every frame (``auth-int``) or encrypt it (``auth-conf``). The only supported cipher is
``rc4`` with 128 bits, which every Java server offers.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import struct
from collections.abc import Callable, Sequence

from catalog.metastore.security.digest_cipher import StreamCipher, rc4
from catalog.metastore.security.errors import AuthenticationError, SecureChannelError
from catalog.metastore.security.sasl import SaslMechanism
from catalog.metastore.security.settings import QualityOfProtection

__all__ = ["DigestMd5Mechanism"]

_DIRECTIVE = re.compile(
    rb"[ \t\r\n,]*(?P<key>[!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t\r\n]*=[ \t\r\n]*"
    rb'(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<token>[^ \t\r\n,"]+))[ \t\r\n]*(?=,|$)',
    re.DOTALL,
)
_MAX_CHALLENGE = 2048
_OUR_LIMIT = (1 << 24) - 1
_DEFAULT_LIMIT = 65536
_SIGNATURE = 16
_HIDDEN_SIGNATURE = 26
_VERSION = b"\0\1"


class DigestMd5Mechanism(SaslMechanism):
    """The client's side, always with a fresh nonce.

    Args:
        username: The user; for a delegation token its identifier in base64.
        password: The secret; for a delegation token its password in base64.
        digest_uri: Service and host of the server: ``null/default`` for Hadoop's tokens.
        protection: Allowed qualities of protection, in order of preference.
        make_nonce: Makes the client's nonce; tests replace it.
    """

    name = "DIGEST-MD5"

    def __init__(
        self,
        username: str,
        password: str,
        digest_uri: str,
        protection: Sequence[QualityOfProtection],
        make_nonce: Callable[[], str] = lambda: secrets.token_urlsafe(32),
    ) -> None:
        self._username = username
        self._password = password
        self._digest_uri = digest_uri.encode()
        self._wanted = protection
        self._make_nonce = make_nonce
        self._expected_proof: bytes | None = None
        self._complete = False
        self._layer: _Layer | None = None
        self._limit: int | None = None

    def start(self) -> bytes:
        return b""

    def respond(self, challenge: bytes) -> bytes:
        if self._expected_proof is None:
            return self._answer(_parse(challenge))
        proof = _parse(challenge).get("rspauth", [b""])[0]
        if not hmac.compare_digest(proof, self._expected_proof):
            raise AuthenticationError("the metastore failed to prove that it knows the secret of DIGEST-MD5")
        self._complete = True
        return b""

    @property
    def complete(self) -> bool:
        return self._complete

    @property
    def longest(self) -> int | None:
        return self._limit

    def wrap(self, data: bytes) -> bytes:
        return self._layer.wrap(data) if self._layer else data

    def unwrap(self, data: bytes) -> bytes:
        return self._layer.unwrap(data) if self._layer else data

    def _answer(self, challenge: dict[str, list[bytes]]) -> bytes:
        nonce = _one(challenge, "nonce")
        if _one(challenge, "algorithm") != b"md5-sess":
            raise SecureChannelError("the challenge of DIGEST-MD5 does not have the algorithm md5-sess")
        charset = "utf-8" if challenge.get("charset") == [b"utf-8"] else "latin-1"
        protection = self._chosen(challenge)
        realm = challenge.get("realm", [b""])[0]
        cnonce = self._make_nonce().encode()
        username, password = self._encoded(charset)
        user = _md5(_hashed(username, charset), b":", _hashed(realm, charset), b":", _hashed(password, charset))
        session = _md5(user, b":", nonce, b":", cnonce)
        tail = b"" if protection is QualityOfProtection.AUTH else b":" + b"0" * 32
        middle = b":".join((nonce, b"00000001", cnonce, protection.value.encode()))

        def proof(verb: bytes) -> bytes:
            digest = _md5(verb, b":", self._digest_uri, tail)
            return _md5(session.hex().encode(), b":", middle, b":", digest.hex().encode()).hex().encode()

        self._expected_proof = proof(b"")
        parts = [
            *([b"charset=utf-8"] if charset == "utf-8" else []),
            b"username=" + _quoted(username),
            *([b"realm=" + _quoted(realm)] if "realm" in challenge else []),
            b"nonce=" + _quoted(nonce),
            b"nc=00000001",
            b"cnonce=" + _quoted(cnonce),
            b"digest-uri=" + _quoted(self._digest_uri),
            b"maxbuf=%d" % _OUR_LIMIT,
            b"response=" + proof(b"AUTHENTICATE"),
            b"qop=" + protection.value.encode(),
        ]
        if protection is QualityOfProtection.CONFIDENTIALITY:
            parts.append(b"cipher=rc4")
        self._secure(protection, session, _limit(challenge))
        return b",".join(parts)

    def _encoded(self, charset: str) -> tuple[bytes, bytes]:
        try:
            return self._username.encode(charset), self._password.encode(charset)
        except UnicodeEncodeError:
            # Its message would show the secret.
            pass
        raise AuthenticationError("user or password has characters that the metastore's DIGEST-MD5 does not support")

    def _chosen(self, challenge: dict[str, list[bytes]]) -> QualityOfProtection:
        offered = _list(challenge, "qop", b"auth")
        ciphers = _list(challenge, "cipher", b"")
        for one in self._wanted:
            if one.value in offered and (one is not QualityOfProtection.CONFIDENTIALITY or "rc4" in ciphers):
                return one
        wanted = ",".join(one.value for one in self._wanted)
        raise AuthenticationError(
            f"the metastore offers the protection {','.join(offered)} (ciphers {','.join(ciphers) or 'none'}), but "
            f"hive.metastore.client.sasl.qop allows {wanted} (cipher rc4)"
        )

    def _secure(self, protection: QualityOfProtection, session: bytes, limit: int) -> None:
        if protection is QualityOfProtection.AUTH:
            return
        hidden = protection is QualityOfProtection.CONFIDENTIALITY
        self._layer = _Layer(session, hidden)
        self._limit = limit - (_HIDDEN_SIGNATURE if hidden else _SIGNATURE)
        if self._limit <= 0:
            raise SecureChannelError(f"the metastore limits frames to {limit} bytes, shorter than a signature")


class _Layer:
    """Signs frames, or signs and encrypts them (RFC 2831, sections 2.3 and 2.4)."""

    def __init__(self, session: bytes, hidden: bool) -> None:
        signing = b"Digest session key to %s signing key magic constant"
        sealing = b"Digest H(A1) to %s sealing key magic constant"
        there, back = b"client-to-server", b"server-to-client"
        self._sign_key, self._check_key = _md5(session, signing % there), _md5(session, signing % back)
        self._encrypt: StreamCipher | None = rc4(_md5(session, sealing % there)) if hidden else None
        self._decrypt: StreamCipher | None = rc4(_md5(session, sealing % back)) if hidden else None
        self._sent = 0
        self._received = 0

    def wrap(self, data: bytes) -> bytes:
        sealed = data + _signature(self._sign_key, self._sent, data)
        if self._encrypt is not None:
            sealed = self._encrypt(sealed)
        number = struct.pack(">I", self._sent)
        self._sent = (self._sent + 1) & 0xFFFFFFFF
        return sealed + _VERSION + number

    def unwrap(self, data: bytes) -> bytes:
        sealed, trailer = data[:-6], data[-6:]
        if len(data) < _SIGNATURE or trailer != _VERSION + struct.pack(">I", self._received):
            raise SecureChannelError("a frame does not have the sequence number that DIGEST-MD5 expects next")
        if self._decrypt is not None:
            sealed = self._decrypt(sealed)
        text, signature = sealed[:-10], sealed[-10:]
        if not hmac.compare_digest(signature, _signature(self._check_key, self._received, text)):
            raise SecureChannelError("a frame's DIGEST-MD5 signature is wrong: its bytes were changed in transit")
        self._received = (self._received + 1) & 0xFFFFFFFF
        return text


def _signature(key: bytes, number: int, data: bytes) -> bytes:
    return hmac.new(key, struct.pack(">I", number) + data, hashlib.md5).digest()[:10]


def _md5(*parts: bytes) -> bytes:
    return hashlib.md5(b"".join(parts), usedforsecurity=False).digest()


def _hashed(text: bytes, charset: str) -> bytes:
    """The bytes to hash: ISO 8859-1 where it has all characters (section 2.1.2.1), else UTF-8."""
    if charset != "utf-8":
        return text
    try:
        return text.decode("utf-8").encode("latin-1")
    except UnicodeError:
        return text


def _quoted(text: bytes) -> bytes:
    return b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _parse(challenge: bytes) -> dict[str, list[bytes]]:
    if len(challenge) > _MAX_CHALLENGE:
        raise SecureChannelError(f"a challenge of DIGEST-MD5 has {len(challenge)} bytes; at most {_MAX_CHALLENGE}")
    found: dict[str, list[bytes]] = {}
    position = 0
    while position < len(challenge):
        match = _DIRECTIVE.match(challenge, position)
        if match is None:
            if challenge[position:].strip(b" \t\r\n,"):
                raise SecureChannelError("a challenge of DIGEST-MD5 cannot be read")
            break
        quoted = match["quoted"]
        value = match["token"] if quoted is None else re.sub(rb"\\(.)", rb"\1", quoted, flags=re.DOTALL)
        found.setdefault(match["key"].decode().lower(), []).append(value)
        position = match.end()
    return found


def _one(challenge: dict[str, list[bytes]], key: str) -> bytes:
    values = challenge.get(key, [])
    if len(values) != 1 or not values[0]:
        raise SecureChannelError(f"the challenge of DIGEST-MD5 has {len(values)} values of {key}; expected one")
    return values[0]


def _list(challenge: dict[str, list[bytes]], key: str, default: bytes) -> list[str]:
    text = b",".join(challenge.get(key, [default]))
    return [part for part in (one.strip() for one in text.decode("latin-1").split(",")) if part]


def _limit(challenge: dict[str, list[bytes]]) -> int:
    text = challenge.get("maxbuf", [str(_DEFAULT_LIMIT).encode()])[0]
    if not text.isdigit() or len(text) > 8:
        raise SecureChannelError("the longest frame in the challenge of DIGEST-MD5 is not a number")
    return int(text)
