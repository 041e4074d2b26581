"""Delegation tokens of the metastore, asked for over our own connections."""

from __future__ import annotations

from collections.abc import Callable

from catalog.metastore.security.identity import Identity, TokenIdentity, UnprovenIdentity
from catalog.metastore.security.kerberos import client_name
from catalog.metastore.security.settings import Authentication, SecuritySettings
from catalog.metastore.security.token_cache import TokenCache
from catalog.metastore.thrift.connections.connection import ThriftConnections

__all__ = ["user_identities"]


def user_identities(settings: SecuritySettings, own: ThriftConnections) -> Callable[[str], Identity]:
    """Identities of the users that we act for.

    Args:
        settings: The catalog's. Without Kerberos the metastore believes any name.
        own: Our own connections: with Kerberos, tokens are asked for over them.
    """
    if settings.authentication is not Authentication.KERBEROS:
        return UnprovenIdentity

    def fetch(user: str) -> str:
        # We renew it ourselves.
        renewer = client_name(settings.client_principal, settings.keytab, settings.credential_cache)
        text: str = own.call("get_delegation_token", lambda client: client.get_delegation_token(user, renewer))
        return text

    def renew(text: str) -> object:
        return own.call("renew_delegation_token", lambda client: client.renew_delegation_token(text))

    cache = TokenCache(fetch, renew, settings.delegation_token_ttl, settings.delegation_token_cache_size)

    def identity(user: str) -> Identity:
        return TokenIdentity(user, lambda: cache.token(user), settings.protection, lambda: cache.forget(user))

    return identity
