"""The RC4 cipher of DIGEST-MD5, from the optional library ``cryptography``."""

from __future__ import annotations

from collections.abc import Callable

from catalog.metastore.security.errors import AuthenticationError

__all__ = ["StreamCipher", "rc4"]

StreamCipher = Callable[[bytes], bytes]
"""Encrypts or decrypts the next bytes of a stream; each call continues where the last one ended."""


def rc4(key: bytes) -> StreamCipher:
    """RC4 with a key of 128 bits.

    Raises:
        AuthenticationError: The library is not installed.
    """
    try:
        from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
        from cryptography.hazmat.primitives.ciphers import Cipher
    except ImportError as error:
        raise AuthenticationError(
            "the metastore requires encrypted frames of DIGEST-MD5 (auth-conf), which need the library cryptography: "
            "pip install 'lakeport[kerberos]'"
        ) from error
    stream: StreamCipher = Cipher(ARC4(key), mode=None).encryptor().update
    return stream
