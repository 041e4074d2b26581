"""Checks that the security settings of a catalog fit each other and the metastore's addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Protocol

from catalog.metastore.security.settings import Authentication, HttpAuthentication, SecuritySettings
from connector_spi.errors import InvalidPropertyError

__all__ = ["check_security"]

_TYPE = "hive.metastore.authentication.type"
_HTTP_TYPE = "hive.metastore.http.client.authentication.type"


class Address(Protocol):
    """The parts of an address that are checked."""

    @property
    def host(self) -> str:
        """Name or number."""

    @property
    def scheme(self) -> str:
        """``thrift``, ``http`` or ``https``."""


def check_security(settings: SecuritySettings, addresses: Sequence[Address]) -> None:
    """Refuses settings that would be ignored, or would send a secret unprotected over HTTP.

    Raises:
        InvalidPropertyError: Settings conflict; the message says how to resolve it.
    """
    if any(address.scheme != "thrift" for address in addresses):
        _check_http(settings, addresses)
    elif settings.http_authentication is not HttpAuthentication.NONE:
        raise InvalidPropertyError(f"{_HTTP_TYPE} is for http(s):// addresses; for thrift:// there is {_TYPE}")
    proof = settings.authentication
    if settings.impersonation and proof not in (Authentication.NONE, Authentication.KERBEROS):
        raise InvalidPropertyError(
            f"hive.metastore.thrift.impersonation.enabled=true conflicts with {_TYPE}={proof.value}, which identifies "
            "one user only: use NONE or KERBEROS"
        )


def _check_http(settings: SecuritySettings, addresses: Sequence[Address]) -> None:
    kind = settings.http_authentication
    if settings.authentication is not Authentication.NONE:
        raise InvalidPropertyError(
            f"{_TYPE}={settings.authentication.value} is for thrift:// addresses; for http(s):// there is {_HTTP_TYPE}"
        )
    if settings.tls:
        raise InvalidPropertyError(
            "hive.metastore.thrift.client.ssl.enabled is for thrift:// addresses; write https:// for TLS"
        )
    if kind is HttpAuthentication.NONE:
        return
    if settings.impersonation:
        raise InvalidPropertyError(
            f"hive.metastore.thrift.impersonation.enabled=true conflicts with {_HTTP_TYPE}={kind.value}, which "
            "identifies one user only"
        )
    if kind is HttpAuthentication.BASIC and not (settings.http_username and settings.http_password):
        raise InvalidPropertyError(
            f"{_HTTP_TYPE}=BASIC needs hive.metastore.http.client.auth.basic.username and ...password"
        )
    if kind is HttpAuthentication.BEARER and bool(settings.bearer_token) == bool(settings.bearer_token_file):
        raise InvalidPropertyError(
            f"{_HTTP_TYPE}=BEARER needs one of hive.metastore.http.client.bearer-token and ...bearer-token-file"
        )
    for address in addresses:
        if address.scheme == "http" and not _is_loopback(address.host):
            raise InvalidPropertyError(
                f"{_HTTP_TYPE}={kind.value} would send its secret unencrypted to {address.host}: use https://"
            )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
