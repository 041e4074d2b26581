"""A catalog's settings for the security of its connections to the metastore."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

__all__ = ["Authentication", "HttpAuthentication", "QualityOfProtection", "SecuritySettings", "Verification"]


class Authentication(Enum):
    """How to authenticate to a Thrift metastore (``hive.metastore.authentication.type``)."""

    NONE = "NONE"
    PLAIN = "PLAIN"
    KERBEROS = "KERBEROS"
    TOKEN = "TOKEN"


class HttpAuthentication(Enum):
    """How requests over HTTP authenticate (``hive.metastore.http.client.authentication.type``)."""

    NONE = "NONE"
    BASIC = "BASIC"
    BEARER = "BEARER"


class QualityOfProtection(Enum):
    """How SASL protects the bytes of a connection (``hadoop.rpc.protection`` on the server)."""

    AUTH = "auth"
    INTEGRITY = "auth-int"
    CONFIDENTIALITY = "auth-conf"

    @property
    def layer_bit(self) -> int:
        """Its bit in GSSAPI's security layers (RFC 4752, section 3.3)."""
        return {"auth": 1, "auth-int": 2, "auth-conf": 4}[self.value]


class Verification(Enum):
    """Which checks a TLS server's certificate must pass."""

    FULL = "FULL"
    CA = "CA"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """How connections to a metastore are secured; ``repr`` leaves out secrets.

    Each field is a property of the catalog, with its meaning there: see ``SECURITY_FIELDS`` of
    ``catalog.metastore.security.properties``. An empty text means not set.
    """

    authentication: Authentication = Authentication.NONE
    password: str = field(default="", repr=False)
    impersonation: bool = False
    protection: tuple[QualityOfProtection, ...] = (
        QualityOfProtection.CONFIDENTIALITY,
        QualityOfProtection.INTEGRITY,
        QualityOfProtection.AUTH,
    )
    service_principal: str = ""
    client_principal: str = ""
    keytab: str = ""
    credential_cache: str = ""
    delegation_token: str = field(default="", repr=False)
    delegation_token_file: str = ""
    delegation_token_service: str = ""
    delegation_token_ttl: float = 3600.0
    delegation_token_cache_size: int = 1000
    tls: bool = False
    tls_key: str = ""
    tls_key_password: str = field(default="", repr=False)
    tls_certificate: str = ""
    tls_trust: str = ""
    tls_trust_password: str = field(default="", repr=False)
    tls_verification: Verification = Verification.FULL
    http_authentication: HttpAuthentication = HttpAuthentication.NONE
    http_username: str = ""
    http_password: str = field(default="", repr=False)
    bearer_token: str = field(default="", repr=False)
    bearer_token_file: str = ""
    http_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
