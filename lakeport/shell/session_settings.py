"""Checks ``--session catalog.property=value`` and the same in the configuration file before Spark starts."""

from __future__ import annotations

from collections.abc import Iterable

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidPropertyError
from lakeport.shell.configuration import GivenSetting
from lakeport.transactions.session_properties import PREFIX, check_session_properties, unknown_catalog

__all__ = ["spark_settings"]


def spark_settings(
    registry: CatalogRegistry, session: Iterable[GivenSetting], spark: Iterable[GivenSetting]
) -> dict[str, str]:
    """The settings to start Spark with.

    Args:
        registry: The catalogs; the named ones are built to get their properties.
        session: Session properties ``catalog.property``; a name that begins with ``spark.`` is a setting of Spark.
        spark: Settings of Spark.

    Raises:
        InvalidPropertyError: The catalog does not have the property or the value; the message names similar ones.
        ConnectorError: The catalog cannot be built.
    """
    settings = {}
    by_catalog: dict[str, dict[str, GivenSetting]] = {}
    for one in (*spark, *session):
        name = one.name.removeprefix(PREFIX)
        if name.startswith("spark."):
            settings[name] = one.text
        else:
            catalog, dot, rest = name.partition(".")
            if not dot:
                raise InvalidPropertyError(
                    f"{one.where}: '{one.name}' names no catalog; expected catalog.property, or a setting of Spark"
                )
            if catalog not in registry.names():
                raise unknown_catalog(registry, one.where, catalog)
            by_catalog.setdefault(catalog, {})[rest] = one
            settings[f"{PREFIX}{name}"] = one.text
    for catalog, given in by_catalog.items():
        texts = {name: one.text for name, one in given.items()}
        places = {name: one.where for name, one in given.items()}
        check_session_properties(registry, catalog, texts, places.__getitem__)
    return settings
