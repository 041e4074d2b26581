"""Who may come in, and by which way: passwords, tokens, tickets of Kerberos, and TLS."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.error_codes import SERVER_WITHOUT_AUTHENTICATION
from lakeport.server.authentication.kerberos import KerberosSettings
from lakeport.server.authentication.ldap_directory import LdapSettings
from lakeport.server.authentication.password_file import PasswordFile
from lakeport.server.authentication.web_tokens import JwtSettings

__all__ = ["CONNECT_TOKEN", "KEY_STORE_PASSWORD", "Access", "KeyStore", "check_settings", "secret", "user_tokens"]

CONNECT_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
"""The environment variable that Spark itself knows."""
KEY_STORE_PASSWORD = "LAKEPORT_KEYSTORE_PASSWORD"
_LEAST_TOKEN = 16
_REFUSED_SETTINGS = {
    "spark.connect.authenticate.token": "--connect-token-file",
    "spark.connect.grpc.interceptor.classes": "no interceptors",
}


@dataclass(frozen=True, slots=True)
class KeyStore:
    """Key and certificate of the Thrift port, as PKCS 12 or JKS.

    Attributes:
        path: The file.
        password: Of the store and of its key.
    """

    path: Path
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.path.is_file():
            raise InvalidArgumentError(f"the key store {self.path} does not exist; expected a file of PKCS 12 or JKS")


@dataclass(frozen=True, slots=True)
class Access:
    """What clients have to show.

    Attributes:
        passwords: Of JDBC's users, in a file or a directory.
        connect_token: What clients of Spark Connect have in common; they name their users themselves.
        user_tokens: Users of Spark Connect by their tokens; without these and a common one, who asks is let in.
        key_store: The Thrift port speaks TLS with it; ``None`` is no TLS.
        jdbc_only: Spark Connect is not served.
        jwt: Signed tokens of users: of Spark Connect, and in the place of a password of JDBC.
        kerberos: JDBC's users show tickets, and nothing else; without passwords, signed tokens and this, who asks is
            let in.

    Raises:
        NotSupportedError: One of the two ways in has authentication, the other not; or two kinds of it exclude each
            other: tokens of users and one in common, or passwords and tickets.
        InvalidArgumentError: The token is short, or no token.
    """

    passwords: PasswordFile | LdapSettings | None = None
    connect_token: str | None = field(default=None, repr=False)
    key_store: KeyStore | None = None
    user_tokens: Mapping[str, str] | None = field(default=None, repr=False)
    jdbc_only: bool = False
    jwt: JwtSettings | None = None
    kerberos: KerberosSettings | None = None

    def __post_init__(self) -> None:
        if self.connect_token is not None and (self.user_tokens is not None or self.jwt is not None):
            raise NotSupportedError(
                "Spark Connect has a token of all and tokens of users; expected one of --connect-token-file (or "
                f"{CONNECT_TOKEN}), and --connect-user-tokens or --jwt",
                SERVER_WITHOUT_AUTHENTICATION,
            )
        if self.kerberos is not None and self.passwords is not None:
            raise NotSupportedError(
                "JDBC has passwords and Kerberos, and Spark's Thrift server takes one; expected one of --password-file "
                "or --password-authenticator, and --kerberos-principal",
                SERVER_WITHOUT_AUTHENTICATION,
            )
        if not self.jdbc_only and self.authenticates_jdbc != self.has_authentication:
            met, missing = "JDBC has authentication", "--connect-token-file, --connect-user-tokens or --jwt"
            if not self.authenticates_jdbc:
                met = "Spark Connect has a token"
                missing = "--password-file, --password-authenticator, --jwt or --kerberos-principal for JDBC"
            raise NotSupportedError(
                f"{met}, and whoever has none would come in by the other port; expected {missing}",
                SERVER_WITHOUT_AUTHENTICATION,
            )
        if self.connect_token is not None:
            _check_token(self.connect_token, "the token of Spark Connect")

    @property
    def checks_passwords(self) -> bool:
        """Whether clients of JDBC have to show a password, or a token in its place."""
        return self.kerberos is None and (self.passwords is not None or self.jwt is not None)

    @property
    def authenticates_jdbc(self) -> bool:
        """Whether clients of JDBC have to show anything."""
        return self.checks_passwords or self.kerberos is not None

    @property
    def has_authentication(self) -> bool:
        """Whether clients of Spark Connect have to show a token."""
        return self.connect_token is not None or self.user_tokens is not None or self.jwt is not None

    @property
    def is_for_other_machines(self) -> bool:
        """Whether the Thrift port may be reached from other machines."""
        # Kerberos encrypts, too.
        return self.kerberos is not None or (self.checks_passwords and self.key_store is not None)


def user_tokens(path: Path) -> dict[str, str]:
    """Users of Spark Connect by their tokens, from a file of lines ``user:token``.

    Raises:
        InvalidArgumentError: It cannot be read, has no user, or a line is not understood; no line is shown.
    """
    found: dict[str, str] = {}
    text = secret(str(path), "")
    for number, line in enumerate((text or "").splitlines(), 1):
        if not line.strip():
            continue
        user, _, token = line.strip().rpartition(":")
        where = f"line {number} of {path}"
        if not user or token in found:
            raise InvalidArgumentError(f"{where}: expected user:token, each token once")
        _check_token(token, f"the token in {where}")
        found[token] = user
    return found


def secret(file: str | None, variable: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """A secret from a file, else from the environment; ``None`` where neither is given.

    Args:
        file: Its path; a newline at its end is left out.
        variable: Of the environment.
        environment: The environment.

    Raises:
        InvalidArgumentError: The file cannot be read or is empty.
    """
    if file is None:
        return environment.get(variable) or None
    try:
        found = Path(file).read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InvalidArgumentError(f"{file} cannot be read: {reason}") from error
    if not found:
        raise InvalidArgumentError(f"{file} is empty; expected a secret in its first line")
    return found


def _check_token(token: str, what: str) -> None:
    if len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable():
        raise InvalidArgumentError(f"{what} has {len(token)} characters; expected {_LEAST_TOKEN} or more of ASCII")


def check_settings(settings: Mapping[str, str]) -> None:
    """Refuses settings of Spark that would be on a command line for all to see, or get around authentication.

    Raises:
        NotSupportedError: One is given.
    """
    for name, expected in _REFUSED_SETTINGS.items():
        if name in settings:
            raise NotSupportedError(
                f"the setting {name} is not taken by a server; expected {expected}", SERVER_WITHOUT_AUTHENTICATION
            )
