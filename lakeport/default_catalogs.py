"""The catalogs of a folder, or those that are there with no configuration."""

from __future__ import annotations

import os
from pathlib import Path

from catalog.config import CatalogConfig
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from lakeport.version import VERSION

__all__ = ["DEFAULT_CATALOGS", "DEFAULT_WAREHOUSE", "load_catalogs"]

DEFAULT_CATALOGS = Path("etc", "catalog")
"""Where catalog files are looked for when none are named."""

DEFAULT_WAREHOUSE = Path("lakeport-warehouse")
"""Holds the embedded metastore of the catalogs that are there with no catalog files at all."""


def load_catalogs(folder: str | os.PathLike[str] | None) -> CatalogRegistry:
    """The catalogs of a folder, or the ones that ``connect`` takes where none is named.

    Raises:
        InvalidPropertyError: The folder is not there.
    """
    registry = CatalogRegistry(discover_plugins, VERSION)
    if folder is not None:
        registry.register_directory(folder)
    elif DEFAULT_CATALOGS.is_dir():
        registry.register_directory(DEFAULT_CATALOGS)
    else:
        _register_defaults(registry)
    return registry


def _register_defaults(registry: CatalogRegistry) -> None:
    properties = {
        "hive.metastore": "embedded",
        "hive.metastore.embedded.path": str((DEFAULT_WAREHOUSE / "metastore.db").absolute()),
    }
    for name in ("hive", "hudi"):
        registry.register_config(CatalogConfig.from_mapping(name, name, properties))
