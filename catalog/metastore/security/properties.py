"""The catalog properties for security of the metastore connection: Trino's keys where it has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from catalog.metastore.security.settings import (
    Authentication,
    HttpAuthentication,
    QualityOfProtection,
    SecuritySettings,
    Verification,
)
from connector_spi.properties import (
    PropertyMetadata,
    PropertyValues,
    boolean_property,
    duration_property,
    enum_property,
    integer_property,
    string_property,
)

__all__ = ["SECURITY_FIELDS", "SECURITY_PROPERTIES", "security_settings"]

_DEFAULTS = SecuritySettings()
_CLIENT = "hive.metastore.client."
_TLS = "hive.metastore.thrift.client.ssl."
_HTTP = "hive.metastore.http.client."
_TOKENS = "hive.metastore.thrift.delegation-token."
_PAIR = re.compile(r"(?<!\\),")
_COLON = re.compile(r"(?<!\\):")
_HEADER_TEXT = re.compile(r"[ -~]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _choice(name: str, description: str, default: Enum) -> PropertyMetadata[str]:
    return enum_property(name, description, tuple(choice.value for choice in type(default)), default.value)


def _protection_property(name: str, description: str) -> PropertyMetadata[tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        chosen = tuple(QualityOfProtection(part.strip().lower()).value for part in text.split(","))
        if len(set(chosen)) != len(chosen):
            raise ValueError("a value is duplicate")
        return chosen

    kind = "list of auth, auth-int, auth-conf; the first that the metastore supports is used"
    return PropertyMetadata(name, description, kind, parse, tuple(one.value for one in _DEFAULTS.protection))


def _headers_property(name: str, description: str) -> PropertyMetadata[tuple[tuple[str, str], ...]]:
    def parse(text: str) -> tuple[tuple[str, str], ...]:
        return _parse_headers(text)

    kind = r"name:value,name:value, with \, and \: for these characters"
    return PropertyMetadata(name, description, kind, parse, (), sensitive=True)


SECURITY_FIELDS: Mapping[str, PropertyMetadata[object]] = {
    "authentication": _choice(
        "hive.metastore.authentication.type",
        "How to authenticate to the metastore: not at all, by user and password, Kerberos or a delegation token.",
        _DEFAULTS.authentication,
    ),
    "password": string_property(
        "hive.metastore.password", "Password of hive.metastore.username, for PLAIN.", sensitive=True
    ),
    "impersonation": boolean_property(
        "hive.metastore.thrift.impersonation.enabled",
        "Whether to access the metastore as the user of each query; with Kerberos by delegation tokens.",
        False,
    ),
    "protection": _protection_property(
        f"{_CLIENT}sasl.qop", "Protection by Kerberos and delegation tokens: none, signed or encrypted connections."
    ),
    "service_principal": string_property(
        "hive.metastore.service.principal",
        "Kerberos principal of the metastore, such as hive/_HOST@REALM; _HOST stands for the host in its address.",
    ),
    "client_principal": string_property(
        f"{_CLIENT}principal", "The client's Kerberos principal; that of the ticket cache or keytab if not set."
    ),
    "keytab": string_property(f"{_CLIENT}keytab", "File with the key of the client's Kerberos principal."),
    "credential_cache": string_property(
        f"{_CLIENT}credential-cache.location",
        "Kerberos ticket cache; that of this process if neither this nor a keytab is set.",
    ),
    "delegation_token": string_property(
        f"{_CLIENT}delegation-token", "Delegation token of the metastore, as text, for TOKEN.", sensitive=True
    ),
    "delegation_token_file": string_property(
        f"{_CLIENT}delegation-token-file", "Hadoop token file with a delegation token of the metastore, for TOKEN."
    ),
    "delegation_token_service": string_property(
        f"{_CLIENT}delegation-token-service", "Service of the token, if the file has several metastore tokens."
    ),
    "delegation_token_ttl": duration_property(
        f"{_TOKENS}cache-ttl",
        "Time after which a token that impersonation fetched is renewed.",
        _DEFAULTS.delegation_token_ttl,
        minimum=0,
    ),
    "delegation_token_cache_size": integer_property(
        f"{_TOKENS}cache-maximum-size",
        "Most users whose tokens are cached.",
        _DEFAULTS.delegation_token_cache_size,
        minimum=1,
    ),
    "tls": boolean_property(f"{_TLS}enabled", "Whether thrift:// addresses are accessed over TLS.", False),
    "tls_key": string_property(
        f"{_TLS}key", "The client's key and certificates for the metastore to check: PEM, JKS or PKCS12."
    ),
    "tls_key_password": string_property(f"{_TLS}key-password", "Password of that file.", sensitive=True),
    "tls_certificate": string_property(
        f"{_TLS}certificate", "The client's certificates, PEM, if the key's file does not contain them."
    ),
    "tls_trust": string_property(
        f"{_TLS}trust-certificate", "Trusted certificates: PEM, JKS or PKCS12; the system's if not set."
    ),
    "tls_trust_password": string_property(
        f"{_TLS}trust-certificate-password", "Password of that file.", sensitive=True
    ),
    "tls_verification": _choice(
        f"{_TLS}verification",
        "Checks of the metastore's certificate: issuer and host name, issuer only, or none.",
        _DEFAULTS.tls_verification,
    ),
    "http_authentication": _choice(
        f"{_HTTP}authentication.type",
        "How requests to an http(s):// metastore authenticate.",
        _DEFAULTS.http_authentication,
    ),
    "http_username": string_property(f"{_HTTP}auth.basic.username", "User for BASIC."),
    "http_password": string_property(f"{_HTTP}auth.basic.password", "Password for BASIC.", sensitive=True),
    "bearer_token": string_property(f"{_HTTP}bearer-token", "Token, such as a JWT, for BEARER.", sensitive=True),
    "bearer_token_file": string_property(
        f"{_HTTP}bearer-token-file", "File with that token, read again for each request."
    ),
    "http_headers": _headers_property(f"{_HTTP}additional-headers", "More headers of each request."),
}
"""The descriptor of each field of ``SecuritySettings``."""

SECURITY_PROPERTIES: tuple[PropertyMetadata[object], ...] = tuple(SECURITY_FIELDS.values())
"""Descriptors for a connector's ``config_properties``."""


def security_settings(config: PropertyValues) -> SecuritySettings:
    """Takes the values of ``SECURITY_PROPERTIES`` out of a catalog's properties."""
    values = {name: config.get(prop) for name, prop in SECURITY_FIELDS.items()}
    read: dict[str, Any] = {
        name: _FROM_VALUE[name](value) if name in _FROM_VALUE else value for name, value in values.items()
    }
    given: dict[str, Any] = {name: value for name, value in read.items() if value is not None}
    return SecuritySettings(**given)


def _unescape(text: str) -> str:
    return text.replace(r"\,", ",").replace(r"\:", ":").strip()


def _parse_headers(text: str) -> tuple[tuple[str, str], ...]:
    headers = []
    for part in _PAIR.split(text):
        pair = [_unescape(one) for one in _COLON.split(part, maxsplit=1)]
        if (
            len(pair) != 2
            or _HEADER_NAME.fullmatch(pair[0]) is None
            or not (pair[1].isascii() and pair[1].isprintable())
        ):
            raise ValueError("not name:value")
        headers.append((pair[0], pair[1]))
    return tuple(headers)


def _protection(value: Sequence[str]) -> tuple[QualityOfProtection, ...]:
    return tuple(QualityOfProtection(one) for one in value)


_FROM_VALUE: Mapping[str, Callable[[Any], Any]] = {
    "authentication": Authentication,
    "protection": _protection,
    "tls_verification": Verification,
    "http_authentication": HttpAuthentication,
}
