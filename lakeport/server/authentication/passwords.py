"""Who knows passwords: Trino's ``password-authenticator.properties``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from catalog.named_config import load_named_config
from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import PropertyMetadata, string_property
from lakeport.server.authentication.ldap_directory import LdapSettings, ldap_settings
from lakeport.server.authentication.password_file import PasswordFile

__all__ = ["configured_passwords"]

_NAME = "password-authenticator.name"
PASSWORD_FILE = string_property("file.password-file", "Users and hashes of their passwords.", required=True)
PASSWORD_FILE_PROPERTIES: Sequence[PropertyMetadata[object]] = (PASSWORD_FILE,)
"""Of ``password-authenticator.name=file``."""


def configured_passwords(path: Path) -> PasswordFile | LdapSettings:
    """What a properties file names.

    Raises:
        InvalidArgumentError: The file does not exist, or the password file is not understood.
        InvalidPropertyError: A property is unknown, missing or wrong.
    """
    config = load_named_config(path, _NAME, ("file", "ldap"))
    if config is None:
        raise InvalidArgumentError(f"{path} does not exist; expected Trino's password-authenticator.properties")
    if config.connector_name == "ldap":
        return ldap_settings(config)
    return PasswordFile(Path(config.typed_properties(PASSWORD_FILE_PROPERTIES).get(PASSWORD_FILE)))
