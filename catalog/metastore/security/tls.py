"""TLS to a metastore: trusted certificates and the client's own key, from PEM files or Java's key stores."""

from __future__ import annotations

import base64
import os
import socket
import ssl
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from catalog.metastore.security.errors import AuthenticationError, SecureChannelError
from catalog.metastore.security.key_stores import StoredKey, is_key_store, read_key_store
from catalog.metastore.security.settings import SecuritySettings, Verification

__all__ = ["secured", "tls_context"]

_MAX_FILE = 64 << 20


def tls_context(settings: SecuritySettings) -> ssl.SSLContext:
    """The context of a TLS connection; files are read again each time, so that renewed certificates are used.

    Raises:
        AuthenticationError: A file cannot be read, or its password is wrong.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Java trusts each certificate of a trust store, including intermediate ones.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if settings.tls_verification is not Verification.FULL:
        context.check_hostname = False
    if settings.tls_verification is Verification.NONE:
        context.verify_mode = ssl.CERT_NONE
    elif settings.tls_trust:
        _trust(context, Path(settings.tls_trust), settings.tls_trust_password)
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    if settings.tls_key:
        _identify(context, settings)
    return context


def secured(handle: socket.socket, host: str, settings: SecuritySettings) -> ssl.SSLSocket:
    """Wraps a connected socket; its timeout applies to each step of the handshake.

    Raises:
        AuthenticationError: The server's certificate is invalid, or the server refused the client's.
        SecureChannelError: The server does not use TLS.
        OSError: The connection broke.
    """
    context = tls_context(settings)
    try:
        return context.wrap_socket(handle, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        raise AuthenticationError(
            f"the certificate of {host} is not valid: {error.verify_message}; "
            "check hive.metastore.thrift.client.ssl.trust-certificate"
        ) from error
    except ssl.SSLError as error:
        if "ALERT" not in str(error.reason):
            raise SecureChannelError(f"no TLS with {host} ({error}); does it use TLS?") from error
        raise AuthenticationError(
            f"{host} refused the client's certificate: {error.reason}; check hive.metastore.thrift.client.ssl.key"
        ) from error


def _trust(context: ssl.SSLContext, path: Path, password: str) -> None:
    data = _read(path)
    if is_key_store(data):
        trusted = read_key_store(path, data, password, with_keys=False).trusted
        pem = "".join(map(ssl.DER_cert_to_PEM_cert, trusted))
    else:
        pem = data.decode("ascii", "replace")
    if "-----BEGIN" not in pem:
        raise AuthenticationError(f"{path} holds no certificate; expected PEM, JKS or PKCS12")
    try:
        context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError) as error:
        raise AuthenticationError(f"the certificates of {path} cannot be read") from error


def _identify(context: ssl.SSLContext, settings: SecuritySettings) -> None:
    path = Path(settings.tls_key)
    data = _read(path)
    if is_key_store(data):
        keys = read_key_store(path, data, settings.tls_key_password, with_keys=True).keys
        if len(keys) != 1:
            raise AuthenticationError(f"{path} holds {len(keys)} private keys; expected one")
        data = _pem(keys[0])
    if settings.tls_certificate:
        data = data.rstrip() + b"\n" + _read(Path(settings.tls_certificate))
    try:
        with _as_file(data) as name:
            # Always pass a password: else OpenSSL would prompt at the terminal.
            context.load_cert_chain(name, password=lambda: settings.tls_key_password)
    except (ssl.SSLError, ValueError) as error:
        reason = f" ({error.reason})" if isinstance(error, ssl.SSLError) and error.reason else ""
        raise AuthenticationError(
            f"{path} has no matching key and certificate, or its password is wrong{reason}"
        ) from error


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE)
    except OSError as error:
        raise AuthenticationError(f"{path} cannot be read: {error.strerror}") from error


def _pem(key: StoredKey) -> bytes:
    text = "\n".join(textwrap.wrap(base64.b64encode(key.pkcs8).decode(), 64))
    chain = "".join(map(ssl.DER_cert_to_PEM_cert, key.chain))
    return f"-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n{chain}".encode()


@contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    """A file with the bytes, since OpenSSL reads keys from files only; in memory where the system supports it."""
    if hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd"):
        descriptor = os.memfd_create("lakeport", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            yield f"/proc/self/fd/{descriptor}"
        return
    # Created with mode 0600.
    descriptor, name = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        yield name
    finally:
        os.unlink(name)
