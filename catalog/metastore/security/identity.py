"""As whom a pool of connections reaches the metastore, and by what proof."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from catalog.metastore.security.digest_md5 import DigestMd5Mechanism
from catalog.metastore.security.errors import AuthenticationError
from catalog.metastore.security.kerberos import KerberosMechanism, acquire_credentials, service_name
from catalog.metastore.security.plain import PlainMechanism
from catalog.metastore.security.sasl import SaslMechanism
from catalog.metastore.security.settings import Authentication, QualityOfProtection, SecuritySettings
from catalog.metastore.security.tokens import DelegationToken, decode_token, find_token
from connector_spi.errors import InvalidPropertyError

__all__ = ["Identity", "TokenIdentity", "UnprovenIdentity", "identity_of"]

_TOKEN_URI = "null/default"
"""Hadoop's servers of tokens have no service's name, and call every host so (``SaslRpcServer``)."""


class Identity(ABC):
    """One user of a metastore.

    Attributes:
        user: The name; empty where the proof has it.
    """

    user: str

    @abstractmethod
    def mechanism(self, host: str) -> SaslMechanism | None:
        """The proof for one new connection to a host; ``None`` for no SASL.

        Raises:
            AuthenticationError: There is none to be had.
        """

    def refused(self) -> bool:
        """The metastore did not take the last proof; whether the next one is another."""
        return False


class UnprovenIdentity(Identity):
    """A user that is named to the metastore (``set_ugi``), which believes it.

    Args:
        user: The name.
    """

    def __init__(self, user: str) -> None:
        self.user = user

    def mechanism(self, host: str) -> SaslMechanism | None:
        return None


class _PasswordIdentity(Identity):
    def __init__(self, user: str, password: str) -> None:
        self.user = user
        self._password = password

    def mechanism(self, host: str) -> SaslMechanism | None:
        return PlainMechanism(self.user, self._password)


class _KerberosIdentity(Identity):
    def __init__(self, settings: SecuritySettings) -> None:
        self.user = ""
        self._settings = settings

    def mechanism(self, host: str) -> SaslMechanism | None:
        settings = self._settings
        credentials = acquire_credentials(settings.client_principal, settings.keytab, settings.credential_cache)
        return KerberosMechanism(service_name(settings.service_principal, host), credentials, settings.protection)


class TokenIdentity(Identity):
    """A user that a delegation token proves.

    Args:
        user: The token's owner, where that is known.
        token: Gives the token for each new connection.
        protection: What may be done to the bytes, best first.
        forget: Called when the metastore does not take the token, so that the next one is new.
    """

    def __init__(
        self,
        user: str,
        token: Callable[[], DelegationToken],
        protection: Sequence[QualityOfProtection],
        forget: Callable[[], None] | None = None,
    ) -> None:
        self.user = user
        self._token = token
        self._protection = protection
        self._forget = forget

    def mechanism(self, host: str) -> SaslMechanism | None:
        token = self._token()
        return DigestMd5Mechanism(token.username, token.secret, _TOKEN_URI, self._protection)

    def refused(self) -> bool:
        if self._forget is None:
            return False
        self._forget()
        return True


def identity_of(settings: SecuritySettings, user: str) -> Identity:
    """Our own identity, by the settings.

    Args:
        settings: The catalog's.
        user: ``hive.metastore.username``, or the user of this process.

    Raises:
        InvalidPropertyError: A property that the kind of proof needs is missing, or two say different things.
    """
    match settings.authentication:
        case Authentication.NONE:
            return UnprovenIdentity(user)
        case Authentication.PLAIN:
            if not settings.password:
                raise _needs(settings, "hive.metastore.username and hive.metastore.password")
            return _PasswordIdentity(user, settings.password)
        case Authentication.KERBEROS:
            if not settings.service_principal:
                raise _needs(settings, "hive.metastore.service.principal, such as hive/_HOST@REALM")
            if settings.keytab and settings.credential_cache:
                raise InvalidPropertyError(
                    "hive.metastore.client.keytab and hive.metastore.client.credential-cache.location are both set: "
                    "keep one"
                )
            return _KerberosIdentity(settings)
        case Authentication.TOKEN:
            return TokenIdentity("", _given_token(settings), settings.protection)


def _given_token(settings: SecuritySettings) -> Callable[[], DelegationToken]:
    if bool(settings.delegation_token) == bool(settings.delegation_token_file):
        raise _needs(
            settings, "one of hive.metastore.client.delegation-token and hive.metastore.client.delegation-token-file"
        )
    if settings.delegation_token:
        try:
            token = decode_token(settings.delegation_token)
        except AuthenticationError as error:
            raise InvalidPropertyError(f"hive.metastore.client.delegation-token: {error}") from None
        return lambda: token
    # Read for each connection: whoever renews tokens writes the file anew.
    return lambda: find_token(Path(settings.delegation_token_file), settings.delegation_token_service)


def _needs(settings: SecuritySettings, what: str) -> InvalidPropertyError:
    return InvalidPropertyError(f"hive.metastore.authentication.type={settings.authentication.value} needs {what}")
