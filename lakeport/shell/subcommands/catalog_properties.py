"""The properties of a catalog as written, with secrets hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from catalog.config import CONNECTOR_NAME, BrokenCatalog, CatalogConfig, CatalogProperty
from catalog.plugins import PluginSet
from connector_spi.properties import PropertyMetadata, closest

__all__ = ["catalog_lines", "plain_secrets"]

_PLACEHOLDER = re.compile(r"\$\{[A-Za-z]+:[^}]*\}")
_HIDDEN = "(hidden)"


def catalog_lines(config: CatalogConfig | BrokenCatalog, plugins: PluginSet, *, defaults: bool) -> Iterator[str]:
    """A headline, and a line for each property: key, value, and where it comes from.

    Args:
        config: The catalog.
        plugins: The connectors, whose descriptors mark secrets.
        defaults: Whether to include properties that are not set.

    Raises:
        ConnectorError: The file cannot be read, or the connector is not installed.
    """
    if isinstance(config, BrokenCatalog):
        raise config.error
    factory = plugins.factory(config.connector_name, config.where(CONNECTOR_NAME))
    known = {name: prop for prop in factory.config_properties for name in (prop.name, *prop.aliases)}
    yield f"{config.name}  ({config.connector_name})  {config.file or 'built in'}"
    lines = [(one.key, _shown(one, known.get(one.key)), _origin(one, known)) for one in config.properties]
    if defaults:
        given = {known[one.key].name for one in config.properties if one.key in known}
        lines += [
            (prop.name, prop.default_text, "not set, default")
            for prop in factory.config_properties
            if prop.name not in given
        ]
    widths = [max((len(line[at]) for line in lines), default=0) for at in (0, 1)]
    for key, value, origin in lines:
        yield f"  {key.ljust(widths[0])}  {value.ljust(widths[1])}  {origin}".rstrip()


def plain_secrets(config: CatalogConfig, descriptors: Sequence[PropertyMetadata[object]]) -> list[str]:
    """Keys of secrets whose values are written in clear text."""
    secret = {name for prop in descriptors if prop.sensitive for name in (prop.name, *prop.aliases)}
    return [one.key for one in config.properties if one.key in secret and not _PLACEHOLDER.search(one.text)]


def _shown(given: CatalogProperty, prop: PropertyMetadata[object] | None) -> str:
    # A placeholder is not a secret; text around it may be, and so may the value of an unknown key.
    if _PLACEHOLDER.fullmatch(given.text):
        return given.text
    return _HIDDEN if prop is None or prop.sensitive else given.text


def _origin(given: CatalogProperty, known: dict[str, PropertyMetadata[object]]) -> str:
    where = "built in" if given.line is None else f"line {given.line}"
    return where if given.key in known else f"{where}, unknown property{closest(given.key, known)}"
