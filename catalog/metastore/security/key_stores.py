"""Reads Java's key stores: JKS directly, PKCS12 with the optional library ``cryptography``.

The format of JKS and its encryption of keys are those of ``sun.security.provider.JavaKeyStore`` and ``KeyProtector``.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass, field
from pathlib import Path

from catalog.metastore.security.errors import AuthenticationError

__all__ = ["KeyStore", "StoredKey", "is_key_store", "read_key_store"]

_JKS = b"\xfe\xed\xfe\xed"
_JCEKS = b"\xce\xce\xce\xce"
_SEQUENCE, _OCTETS, _OBJECT = 0x30, 0x04, 0x06
_SUN_KEY_PROTECTOR = bytes.fromhex("2b060104012a02110101")
_WHITENER = b"Mighty Aphrodite"


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A private key with its certificates; ``repr`` leaves out the key.

    Attributes:
        pkcs8: The key, PKCS #8 in DER.
        chain: Its certificates in DER, its own first.
    """

    pkcs8: bytes = field(repr=False)
    chain: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class KeyStore:
    """The content of a key store.

    Attributes:
        trusted: Trusted certificates in DER. As in Java, they include those of the store's own keys.
        keys: Private keys.
    """

    trusted: tuple[bytes, ...]
    keys: tuple[StoredKey, ...]


def is_key_store(data: bytes) -> bool:
    """Whether a file is a Java key store, and not PEM."""
    return data[:4] in (_JKS, _JCEKS) or data[:1] == b"\x30"


def read_key_store(path: Path, data: bytes, password: str, *, with_keys: bool) -> KeyStore:
    """Reads a JKS or PKCS12 store.

    Args:
        path: Its name, for messages.
        data: Its content.
        password: Password of the store and of its keys. Without one, a JKS store of certificates is not verified, as in
            Java.
        with_keys: Whether to decrypt the keys.

    Raises:
        AuthenticationError: The password is wrong, or the store is damaged or of another type.
    """
    if data[:4] == _JCEKS:
        raise AuthenticationError(
            f"{path} is a JCEKS store, which is not supported; convert it with keytool -importkeystore"
        )
    if data[:4] != _JKS:
        return _read_pkcs12(path, data, password)
    try:
        return _read_jks(path, data, password, with_keys)
    except (struct.error, UnicodeDecodeError, IndexError):
        pass
    raise AuthenticationError(f"the JKS store {path} is damaged")


def _read_jks(path: Path, data: bytes, password: str, with_keys: bool) -> KeyStore:
    secret = password.encode("utf-16-be")
    body, digest = data[:-20], data[-20:]
    if password and not hmac.compare_digest(hashlib.sha1(secret + _WHITENER + body).digest(), digest):
        raise AuthenticationError(f"the JKS store {path} is damaged, or its password is wrong")
    version, count = struct.unpack_from(">II", body, 4)
    if version not in (1, 2):
        raise AuthenticationError(f"the JKS store {path} has version {version}; expected 1 or 2")
    reader = _Reader(body, 12)
    trusted: list[bytes] = []
    keys: list[StoredKey] = []
    for _ in range(count):
        tag = reader.number()
        reader.text()
        reader.take(8)
        if tag == 2:
            trusted.append(reader.certificate(version))
        elif tag == 1:
            hidden = reader.take(reader.number())
            chain = tuple(reader.certificate(version) for _ in range(reader.number()))
            trusted.extend(chain[:1])
            if with_keys:
                keys.append(StoredKey(_unhidden(path, hidden, secret), chain))
        else:
            raise AuthenticationError(f"the JKS store {path} has an entry of kind {tag}; expected 1 or 2")
    return KeyStore(tuple(trusted), tuple(keys))


def _unhidden(path: Path, hidden: bytes, secret: bytes) -> bytes:
    """Decrypts a key: JKS XORs it with a stream of SHA-1 hashes, each of the password and the hash before."""
    content = _inside(hidden, _SEQUENCE)[0]
    algorithm, rest = _inside(content, _SEQUENCE)
    if _inside(algorithm, _OBJECT)[0] != _SUN_KEY_PROTECTOR:
        raise AuthenticationError(f"a key of the JKS store {path} does not have the encryption of JKS")
    octets = _inside(rest, _OCTETS)[0]
    salt, body, check = octets[:20], octets[20:-20], octets[-20:]
    stream = bytearray()
    block = salt
    while len(stream) < len(body):
        block = hashlib.sha1(secret + block).digest()
        stream += block
    key = bytes(one ^ other for one, other in zip(body, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + key).digest(), check):
        raise AuthenticationError(f"a key of the JKS store {path} has another password")
    return key


def _inside(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The content of the first DER element, and the bytes after it."""
    size, start = data[1], 2
    if size >= 128:
        start += size - 128
        size = int.from_bytes(data[2:start], "big")
    if data[0] != tag or start + size > len(data):
        raise IndexError
    return data[start : start + size], data[start + size :]


class _Reader:
    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position

    def take(self, size: int) -> bytes:
        self._position += size
        if self._position > len(self._data):
            raise IndexError
        return self._data[self._position - size : self._position]

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def text(self) -> str:
        return self.take(int.from_bytes(self.take(2), "big")).decode("utf-8", "replace")

    def certificate(self, version: int) -> bytes:
        if version == 2 and self.text() != "X.509":
            raise IndexError
        return self.take(self.number())


def _read_pkcs12(path: Path, data: bytes, password: str) -> KeyStore:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.serialization import pkcs12
    except ImportError as error:
        raise AuthenticationError(
            f"{path} is a PKCS12 store, which needs the library cryptography: pip install 'lakeport[keystores]'"
        ) from error
    try:
        store = pkcs12.load_pkcs12(data, password.encode() if password else None)
    except ValueError as error:
        raise AuthenticationError(f"the PKCS12 store {path} is damaged, or its password is wrong") from error
    der = serialization.Encoding.DER
    others = tuple(one.certificate.public_bytes(der) for one in store.additional_certs)
    if store.key is None or store.cert is None:
        return KeyStore(others, ())
    own = store.cert.certificate.public_bytes(der)
    private = store.key.private_bytes(der, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return KeyStore((own, *others), (StoredKey(private, (own, *others)),))
