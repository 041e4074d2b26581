"""Loads the catalogs of a directory, or the default ones."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from catalog.access_control.configuration import load_security
from catalog.config import CatalogConfig
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from connector_spi.security import Identity, SystemAccessControl
from lakeport.version import VERSION

__all__ = ["DEFAULT_CATALOGS", "DEFAULT_WAREHOUSE", "drop_default_catalogs", "load_catalogs"]

DEFAULT_CATALOGS = Path("etc", "catalog")
"""Default directory of catalog files."""

DEFAULT_WAREHOUSE = Path("lakeport-warehouse")
"""Directory of the embedded metastore of the built-in catalogs, which exist if there are no catalog files."""


def load_catalogs(
    directory: str | os.PathLike[str] | None,
    access_control: SystemAccessControl | None = None,
    identity: Identity | None = None,
) -> CatalogRegistry:
    """The catalogs of a directory, under the access control beside it; with ``None`` those of ``connect``.

    Args:
        directory: Of the catalog files.
        access_control: In place of what ``access-control.properties`` beside the directory says.
        identity: Who asks; ``None`` is the user of the process.

    Raises:
        InvalidPropertyError: The directory does not exist, or the access control cannot be read.
    """
    beside = DEFAULT_CATALOGS.parent if directory is None else Path(directory).absolute().parent
    security = replace(load_security(beside), own=identity)
    if access_control is not None:
        security = replace(security, access_control=access_control)
    registry = CatalogRegistry(discover_plugins, VERSION, security)
    if directory is not None:
        registry.register_directory(directory)
    elif DEFAULT_CATALOGS.is_dir():
        registry.register_directory(DEFAULT_CATALOGS)
    else:
        _register_defaults(registry)
    return registry


def drop_default_catalogs(registry: CatalogRegistry) -> None:
    """Takes the built-in catalogs out again, as where there are catalog files."""
    for config in _defaults():
        if config.name in registry.names() and registry.config(config.name) == config:
            registry.drop(config.name)


def _register_defaults(registry: CatalogRegistry) -> None:
    for config in _defaults():
        registry.register_config(config)


def _defaults() -> list[CatalogConfig]:
    properties = {
        "hive.metastore": "embedded",
        "hive.metastore.embedded.path": str((DEFAULT_WAREHOUSE / "metastore.db").absolute()),
    }
    return [CatalogConfig.from_mapping(name, name, properties) for name in ("hive", "hudi")]
