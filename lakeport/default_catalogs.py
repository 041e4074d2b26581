"""Loads the catalogs of a directory, or the default ones."""

from __future__ import annotations

import os
from pathlib import Path

from catalog.config import CatalogConfig
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from lakeport.version import VERSION

__all__ = ["DEFAULT_CATALOGS", "DEFAULT_WAREHOUSE", "load_catalogs"]

DEFAULT_CATALOGS = Path("etc", "catalog")
"""Default directory of catalog files."""

DEFAULT_WAREHOUSE = Path("lakeport-warehouse")
"""Directory of the embedded metastore of the built-in catalogs, which exist if there are no catalog files."""


def load_catalogs(directory: str | os.PathLike[str] | None) -> CatalogRegistry:
    """The catalogs of a directory; with ``None`` the default catalogs of ``connect``.

    Raises:
        InvalidPropertyError: The directory does not exist.
    """
    registry = CatalogRegistry(discover_plugins, VERSION)
    if directory is not None:
        registry.register_directory(directory)
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
