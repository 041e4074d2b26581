"""Session properties, checked where they are set and not by the first statement that would use them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import closest, parse_properties
from lakeport.transactions.engine_settings import ENGINE_PROPERTIES

__all__ = ["PREFIX", "check_session_properties", "check_set_statement", "unknown_catalog"]

PREFIX = "spark.lakeport."
"""Spark's settings of this prefix are ``CATALOG.PROPERTY``."""

# Spark's own rule is SparkSqlParser.configKeyValueDef: the rest of the text is the value, as it is written.
_SET = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*SET\s+(?P<quote>`?)spark\.lakeport\.(?P<name>[^`=\s]+)(?P=quote)\s*=(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)


def check_session_properties(
    registry: CatalogRegistry, catalog: str, texts: Mapping[str, str], where: Callable[[str], str]
) -> None:
    """Checks properties of one catalog.

    Args:
        registry: The catalogs; the catalog is built to get its properties.
        catalog: The catalog's name.
        texts: Values by the names of the properties.
        where: From a name to where it was set, for messages.

    Raises:
        InvalidPropertyError: The catalog does not have the property or the value; the message names similar ones.
        ConnectorError: The catalog cannot be built.
    """
    parse_properties([*ENGINE_PROPERTIES, *registry.get(catalog).session_properties], texts, where)


def check_set_statement(registry: CatalogRegistry, text: str) -> None:
    """Checks ``SET spark.lakeport.CATALOG.PROPERTY = VALUE``; other statements pass.

    Raises:
        InvalidPropertyError: No such catalog, property or value; the setting is not changed then.
        ConnectorError: The catalog cannot be built.
    """
    match = _SET.fullmatch(text)
    if match is None:
        return
    name, value = match.group("name"), match.group("value").strip().rstrip(";").strip().strip("`")
    catalog, dot, rest = name.partition(".")
    where = f"SET {PREFIX}{name}"
    if not dot or catalog not in registry.names():
        raise unknown_catalog(registry, where, catalog)
    check_session_properties(registry, catalog, {rest: value}, lambda _: where)


def unknown_catalog(registry: CatalogRegistry, where: str, catalog: str) -> InvalidPropertyError:
    """The error of a setting of a catalog that does not exist."""
    names = registry.shown_names()
    return InvalidPropertyError(
        f"{where}: no catalog '{catalog}'{closest(catalog, names)}; there are: {', '.join(names) or 'none'}"
    )
