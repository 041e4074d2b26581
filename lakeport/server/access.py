"""Who may come in, and by which way: passwords, the token of Spark Connect, and TLS."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.error_codes import SERVER_WITHOUT_AUTHENTICATION
from lakeport.server.password_file import PasswordFile

__all__ = ["CONNECT_TOKEN", "KEY_STORE_PASSWORD", "Access", "KeyStore", "check_settings", "secret"]

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
        passwords: Of JDBC's users; ``None`` lets in who asks.
        connect_token: What clients of Spark Connect have in common; ``None`` lets in who asks.
        key_store: The Thrift port speaks TLS with it; ``None`` is no TLS.

    Raises:
        NotSupportedError: One of the two ways in has authentication, the other not.
        InvalidArgumentError: The token is short, or no token.
    """

    passwords: PasswordFile | None = None
    connect_token: str | None = field(default=None, repr=False)
    key_store: KeyStore | None = None

    def __post_init__(self) -> None:
        if (self.passwords is None) != (self.connect_token is None):
            met, missing = "JDBC has passwords", "--connect-token-file for Spark Connect"
            if self.passwords is None:
                met, missing = "Spark Connect has a token", "--password-file for JDBC"
            raise NotSupportedError(
                f"{met}, and whoever has none would come in by the other port; expected {missing}",
                SERVER_WITHOUT_AUTHENTICATION,
            )
        token = self.connect_token
        if token is not None and (len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable()):
            raise InvalidArgumentError(
                f"the token of Spark Connect has {len(token)} characters; expected {_LEAST_TOKEN} or more of ASCII"
            )

    @property
    def is_for_other_machines(self) -> bool:
        """Whether the Thrift port may be reached from other machines."""
        return self.passwords is not None and self.key_store is not None


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
