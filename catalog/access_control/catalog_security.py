"""``hive.security``: the access control of one catalog over a metastore."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from catalog.access_control.built_in import ReadOnlyAccessControl
from catalog.access_control.configuration import JSON_POINTER, REFRESH_PERIOD, RULES_FILE
from catalog.access_control.file_access_control import FileAccessControl
from catalog.access_control.sql_standard.control import SqlStandardAccessControl
from catalog.access_control.sql_standard.known_grants import KnownGrants
from catalog.metastore.factory import Metastore
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import PropertyMetadata, PropertyValues, enum_property, string_property
from connector_spi.security import ConnectorAccessControl

__all__ = ["CATALOG_SECURITY_PROPERTIES", "CatalogSecurity", "catalog_security"]

_SECURITY = enum_property(
    "hive.security",
    "Who may do what in the catalog, beside what holds for all catalogs.",
    ("allow-all", "read-only", "file", "sql-standard"),
    "allow-all",
)
_RULES_FILE = string_property(RULES_FILE.name, f"Of hive.security=file: {RULES_FILE.description}")
CATALOG_SECURITY_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    _SECURITY,
    _RULES_FILE,
    JSON_POINTER,
    REFRESH_PERIOD,
)
"""Properties of a catalog that say who may do what in it."""


@dataclass(frozen=True, slots=True)
class CatalogSecurity:
    """What holds in a catalog.

    Attributes:
        control: Its access control; ``None`` allows all.
        grants: What its metastore was granted, where that is checked.
    """

    control: ConnectorAccessControl | None = None
    grants: KnownGrants | None = None


def catalog_security(config: PropertyValues, metastore: Metastore) -> CatalogSecurity:
    """What a catalog's properties say.

    Args:
        config: With values of ``CATALOG_SECURITY_PROPERTIES``.
        metastore: Of the catalog.

    Raises:
        InvalidPropertyError: The rules cannot be read, or the properties do not fit together.
        NotSupportedError: The metastore keeps no grants, and they are to be checked.
    """
    kind, path = config.get(_SECURITY), config.get(_RULES_FILE)
    if (kind == "file") != bool(path):
        raise InvalidPropertyError(
            f"{_SECURITY.name}={kind} {'needs' if kind == 'file' else 'takes no'} {_RULES_FILE.name}"
            f"{', the file of the rules' if kind == 'file' else f'; write {_SECURITY.name}=file to have it count'}"
        )
    if kind == "read-only":
        return CatalogSecurity(ReadOnlyAccessControl())
    if path:
        return CatalogSecurity(FileAccessControl(Path(path), config.get(JSON_POINTER), config.get(REFRESH_PERIOD)))
    if kind == "sql-standard":
        grants = KnownGrants(metastore)
        return CatalogSecurity(SqlStandardAccessControl(grants), grants)
    return CatalogSecurity()
