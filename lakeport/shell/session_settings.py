"""Checks ``--session catalog.property=value`` and the same in the configuration file before Spark starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import closest, parse_properties
from lakeport.shell.configuration import GivenSetting
from lakeport.transactions.statement import ENGINE_PROPERTIES

__all__ = ["spark_settings"]

_PREFIX = "spark.lakeport."


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
    by_catalog: dict[str, list[GivenSetting]] = {}
    for one in (*spark, *session):
        name = one.name.removeprefix(_PREFIX)
        if name.startswith("spark."):
            settings[name] = one.text
        else:
            catalog, dot, _ = name.partition(".")
            if not dot or catalog not in registry.names():
                raise _no_catalog(registry, one, catalog, bool(dot))
            by_catalog.setdefault(catalog, []).append(one)
    for catalog, given in by_catalog.items():
        settings |= _checked(registry, catalog, given)
    return settings


def _checked(registry: CatalogRegistry, catalog: str, given: Sequence[GivenSetting]) -> dict[str, str]:
    by_name = {one.name.removeprefix(_PREFIX).partition(".")[2]: one for one in given}
    descriptors = [*ENGINE_PROPERTIES, *registry.get(catalog).session_properties]
    parse_properties(descriptors, {name: one.text for name, one in by_name.items()}, lambda name: by_name[name].where)
    return {f"{_PREFIX}{catalog}.{name}": one.text for name, one in by_name.items()}


def _no_catalog(registry: CatalogRegistry, given: GivenSetting, catalog: str, dotted: bool) -> InvalidPropertyError:
    names = registry.names()
    if not dotted:
        return InvalidPropertyError(
            f"{given.where}: '{given.name}' names no catalog; expected catalog.property, or a setting of Spark"
        )
    return InvalidPropertyError(
        f"{given.where}: no catalog '{catalog}'{closest(catalog, names)}; there are: {', '.join(names) or 'none'}"
    )
