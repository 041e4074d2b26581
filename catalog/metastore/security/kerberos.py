"""SASL GSSAPI (RFC 4752): Kerberos, by the library ``gssapi`` of the extra ``lakeport[kerberos]``.

Each identity has credentials of its own from its own keytab or ticket cache, so several live in one process.
"""

from __future__ import annotations

import hashlib
import ipaddress
import socket
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.metastore.security.errors import AuthenticationError, SecureChannelError
from catalog.metastore.security.sasl import SaslMechanism
from catalog.metastore.security.settings import QualityOfProtection

if TYPE_CHECKING:
    import gssapi

__all__ = ["KerberosMechanism", "acquire_credentials", "client_name", "service_name"]

_OUR_LIMIT = (1 << 24) - 1
_HOST = "_HOST"


def service_name(principal: str, host: str) -> str:
    """The metastore's principal: ``_HOST`` becomes the host of its address.

    Args:
        principal: ``hive/_HOST@REALM``, or one with a host of its own, taken as it is.
        host: Name or number; of a number the name is looked up.
    """
    if f"/{_HOST}" not in principal:
        return principal
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return principal.replace(_HOST, host.lower(), 1)
    return principal.replace(_HOST, socket.getfqdn(host).lower(), 1)


def acquire_credentials(principal: str, keytab: str, credential_cache: str) -> gssapi.Credentials:
    """Tickets of one identity; a keytab's are fetched, and fetched again when they expire.

    Args:
        principal: Whose; empty for the one of the keytab or cache.
        keytab: File with its key; empty to use a cache.
        credential_cache: Its tickets; empty for the cache of this process.

    Raises:
        AuthenticationError: There are none, or the library is not installed.
    """
    gss = _library()
    store: dict[str, str] = {}
    if keytab:
        # A cache in memory of its own for each identity: others, and the user's own, are left alone.
        digest = hashlib.sha256(f"{keytab}\0{principal}".encode()).hexdigest()[:16]
        store = {"client_keytab": keytab, "ccache": f"MEMORY:lakeport-{digest}"}
    elif credential_cache:
        store = {"ccache": credential_cache}
    source = f"the keytab {keytab}" if keytab else f"the ticket cache {credential_cache or 'of this process'}"
    try:
        name = gss.Name(principal, gss.NameType.kerberos_principal) if principal else None
        credentials = gss.Credentials(name=name, usage="initiate", store=store or None)
        # Only now a keytab's tickets are fetched.
        if credentials.lifetime == 0:
            raise AuthenticationError(f"the Kerberos tickets of {source} have expired: run kinit")
        return credentials
    except gss.exceptions.GSSError as error:
        who = f" for {principal}" if principal else ""
        raise AuthenticationError(f"no Kerberos tickets{who} from {source}: {_words(error)}") from error


def client_name(principal: str, keytab: str, credential_cache: str) -> str:
    """The full principal that the metastore will see of us."""
    return str(acquire_credentials(principal, keytab, credential_cache).name)


class KerberosMechanism(SaslMechanism):
    """The client's side.

    Args:
        service: The metastore's principal.
        credentials: Our tickets.
        protection: What may be done to the bytes, best first.
    """

    name = "GSSAPI"

    def __init__(
        self, service: str, credentials: gssapi.Credentials, protection: Sequence[QualityOfProtection]
    ) -> None:
        gss = _library()
        self._service = service
        self._wanted = protection
        self._chosen: QualityOfProtection | None = None
        self._limit: int | None = None
        known = gss.RequirementFlag
        flags = (known.mutual_authentication, known.integrity, known.confidentiality, known.out_of_sequence_detection)
        try:
            self._context = gss.SecurityContext(
                name=gss.Name(service, gss.NameType.kerberos_principal),
                creds=credentials,
                usage="initiate",
                flags=flags,
            )
        except gss.exceptions.GSSError as error:
            raise AuthenticationError(f"no Kerberos context for {service}: {_words(error)}") from error

    def start(self) -> bytes:
        return self._step(None)

    def respond(self, challenge: bytes) -> bytes:
        if not self._context.complete:
            return self._step(challenge)
        return self._choose_layer(self._opened(challenge, encrypted=False))

    @property
    def complete(self) -> bool:
        return self._chosen is not None

    @property
    def longest(self) -> int | None:
        return self._limit

    def wrap(self, data: bytes) -> bytes:
        if self._limit is None:
            return data
        return self._sealed(data, encrypted=self._chosen is QualityOfProtection.CONFIDENTIALITY)

    def unwrap(self, data: bytes) -> bytes:
        if self._limit is None:
            return data
        return self._opened(data, encrypted=self._chosen is QualityOfProtection.CONFIDENTIALITY)

    def _step(self, challenge: bytes | None) -> bytes:
        errors = _library().exceptions
        try:
            return self._context.step(challenge) or b""
        except errors.GSSError as error:
            raise AuthenticationError(
                f"Kerberos gives no way to {self._service}: {_words(error)}; "
                "check hive.metastore.service.principal and the clocks"
            ) from error

    def _choose_layer(self, offer: bytes) -> bytes:
        """Picks a security layer and sends our limit (RFC 4752, section 3.1); the other side's is in the offer."""
        if len(offer) != 4:
            raise SecureChannelError("the metastore's offer of security layers is not of four bytes")
        layers, limit = offer[0], int.from_bytes(offer[1:], "big")
        chosen = next((one for one in self._wanted if one.layer_bit & layers), None)
        if chosen is None:
            offered = ",".join(one.value for one in QualityOfProtection if one.layer_bit & layers) or "nothing known"
            wanted = ",".join(one.value for one in self._wanted)
            raise AuthenticationError(
                f"the metastore protects connections by {offered}, hive.metastore.client.sasl.qop allows {wanted}"
            )
        bare = chosen is QualityOfProtection.AUTH
        if not bare:
            self._limit = self._wrap_limit(limit, chosen)
        self._chosen = chosen
        return self._sealed(struct.pack(">I", chosen.layer_bit << 24 | (0 if bare else _OUR_LIMIT)), encrypted=False)

    def _wrap_limit(self, limit: int, chosen: QualityOfProtection) -> int:
        longest = int(self._context.get_wrap_size_limit(limit, chosen is QualityOfProtection.CONFIDENTIALITY))
        if not 0 < longest <= limit:
            raise SecureChannelError(f"the metastore takes frames of {limit} bytes at most, too short to be wrapped")
        return longest

    def _sealed(self, data: bytes, encrypted: bool) -> bytes:
        errors = _library().exceptions
        try:
            result = self._context.wrap(data, encrypted)
        except errors.GSSError as error:
            raise SecureChannelError(f"Kerberos cannot wrap a frame: {_words(error)}") from error
        if encrypted and not result.encrypted:
            raise SecureChannelError("Kerberos did not encrypt a frame")
        return bytes(result.message)

    def _opened(self, data: bytes, encrypted: bool) -> bytes:
        errors = _library().exceptions
        try:
            result = self._context.unwrap(data)
        except errors.GSSError as error:
            raise SecureChannelError(f"a frame of Kerberos was changed on the way: {_words(error)}") from error
        if encrypted and not result.encrypted:
            raise SecureChannelError("a frame of Kerberos came unencrypted")
        return bytes(result.message)


def _library() -> gssapi:
    try:
        import gssapi
    except (ImportError, OSError) as error:
        raise AuthenticationError(
            "hive.metastore.authentication.type=KERBEROS needs the library gssapi: pip install 'lakeport[kerberos]'"
        ) from error
    return gssapi


def _words(error: Exception) -> str:
    """The reason alone: the library's text with its numbers is long."""
    make = getattr(error, "gen_message", None)
    return str(make() if make is not None else error)[:500]
