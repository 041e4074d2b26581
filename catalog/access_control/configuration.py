"""Access control, groups and credentials from files beside the catalogs, such as ``etc/access-control.properties``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from catalog.access_control.built_in import AllowAllAccessControl, ReadOnlyAccessControl
from catalog.access_control.credential_file import FileCredentials
from catalog.access_control.file_access_control import FileAccessControl
from catalog.access_control.group_file import FileGroupProvider
from catalog.access_control.security import Security
from catalog.config import CatalogConfig
from catalog.named_config import load_named_config
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import PropertyMetadata, duration_property, string_property
from connector_spi.security import GroupProvider, SystemAccessControl

__all__ = [
    "ACCESS_CONTROL_PROPERTIES",
    "CREDENTIAL_PROVIDER_PROPERTIES",
    "GROUP_PROVIDER_PROPERTIES",
    "load_security",
]

_CONTROL, _CONTROL_FILE = "access-control.name", "access-control.properties"
_GROUPS, _GROUPS_FILE = "group-provider.name", "group-provider.properties"
_CREDENTIALS, _CREDENTIALS_FILE = "credential-provider.name", "credential-provider.properties"
_CONTROLS = ("allow-all", "file", "read-only")

RULES_FILE = string_property(
    "security.config-file",
    "File of the rules, Trino's ``rules.json``; relative paths are those of the process.",
    required=True,
)
JSON_POINTER = string_property(
    "security.json-pointer", "Where in the file the rules are (RFC 6901); empty is the whole file.", default=""
)
REFRESH_PERIOD = duration_property(
    "security.refresh-period", "The file is read again after this; without it never.", default=None, minimum=0.001
)
GROUP_FILE = string_property("file.group-file", "File with lines ``group:user,user``.", required=True)
GROUP_REFRESH_PERIOD = duration_property(
    "file.refresh-period", "The file is read again after this.", default=5.0, minimum=0.001
)
CREDENTIAL_FILE = string_property(
    "file.credential-file", "File with what each user reaches storage with, JSON; its owner's alone.", required=True
)
ACCESS_CONTROL_PROPERTIES: Sequence[PropertyMetadata[object]] = (RULES_FILE, JSON_POINTER, REFRESH_PERIOD)
"""Of ``access-control.name=file``."""
GROUP_PROVIDER_PROPERTIES: Sequence[PropertyMetadata[object]] = (GROUP_FILE, GROUP_REFRESH_PERIOD)
"""Of ``group-provider.name=file``."""
CREDENTIAL_PROVIDER_PROPERTIES: Sequence[PropertyMetadata[object]] = (CREDENTIAL_FILE, GROUP_REFRESH_PERIOD)
"""Of ``credential-provider.name=file``."""


def load_security(folder: Path) -> Security:
    """What the files of a directory say; without them everything is allowed, no one is in a group or has credentials.

    Raises:
        InvalidPropertyError: A file is not understood. Nothing opens then.
    """
    found = Security()
    control = load_named_config(folder / _CONTROL_FILE, _CONTROL, _CONTROLS)
    if control is not None:
        found = replace(found, access_control=_access_control(control))
    groups = load_named_config(folder / _GROUPS_FILE, _GROUPS, ("file",))
    if groups is not None:
        found = replace(found, groups=_group_provider(groups))
    credentials = load_named_config(folder / _CREDENTIALS_FILE, _CREDENTIALS, ("file",))
    return found if credentials is None else replace(found, credentials=_credentials(credentials))


def _access_control(config: CatalogConfig) -> SystemAccessControl:
    if config.connector_name != "file":
        config.typed_properties(())
        return AllowAllAccessControl() if config.connector_name == "allow-all" else ReadOnlyAccessControl()
    values = config.typed_properties(ACCESS_CONTROL_PROPERTIES)
    path = values.get(RULES_FILE)
    if path.startswith(("http:", "https:")):
        raise InvalidPropertyError(f"{config.where(RULES_FILE.name)}: {path} is no file; expected a file")
    return FileAccessControl(Path(path), values.get(JSON_POINTER), values.get(REFRESH_PERIOD))


def _group_provider(config: CatalogConfig) -> GroupProvider:
    values = config.typed_properties(GROUP_PROVIDER_PROPERTIES)
    return FileGroupProvider(Path(values.get(GROUP_FILE)), values.get(GROUP_REFRESH_PERIOD))


def _credentials(config: CatalogConfig) -> FileCredentials:
    values = config.typed_properties(CREDENTIAL_PROVIDER_PROPERTIES)
    return FileCredentials(Path(values.get(CREDENTIAL_FILE)), values.get(GROUP_REFRESH_PERIOD))
