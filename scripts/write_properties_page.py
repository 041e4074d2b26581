"""Writes docs/properties.md from the connectors' own descriptors: ``make docs``."""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path

from catalog.plugins import discover_plugins
from connector_spi.connector import SPI_VERSION, Connector, ConnectorContext, ConnectorFactory
from connector_spi.optional.procedures import Procedure
from connector_spi.properties import PropertyMetadata, parse_properties
from lakeport.transactions.engine_settings import ENGINE_PROPERTIES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "properties.md"
CONNECTORS = ("hive", "hudi", "memory")

_HEAD = """# Properties and procedures

Made from the connectors' own descriptors by `make docs`; not edited by hand.

A catalog is a file `NAME.properties` in the folder of catalogs, with `connector.name` and the catalog properties below.
`${ENV:NAME}` and `${FILE:path}` in a value stand for an environment variable and the content of a file.
A session property is set by `SET spark.lakeport.CATALOG.PROPERTY = VALUE`.
"""


def properties_page() -> str:
    """The whole page."""
    plugins = discover_plugins()
    return "\n".join([_HEAD, *(_section(plugins.factory(name, "the page")) for name in CONNECTORS)])


def _section(factory: ConnectorFactory) -> str:
    with tempfile.TemporaryDirectory() as folder:
        connector = _connector(factory, Path(folder))
        session = [*ENGINE_PROPERTIES, *connector.session_properties]
        procedures = list(connector.procedures)
        connector.shutdown()
    parts = [f"## {factory.name}", "### Catalog properties", _table(factory.config_properties)]
    parts += ["### Session properties", "The defaults are those of the catalog's own properties.", _table(session)]
    if procedures:
        parts += ["### Procedures", *map(_procedure, procedures)]
    return "\n\n".join(parts) + "\n"


def _connector(factory: ConnectorFactory, folder: Path) -> Connector:
    known = {descriptor.name for descriptor in factory.config_properties}
    given = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
    fitting = {name: text for name, text in given.items() if name in known}
    properties = parse_properties(factory.config_properties, fitting, str)
    return factory.create(factory.name, properties, ConnectorContext(SPI_VERSION, "docs"))


def _table(descriptors: Iterable[PropertyMetadata[object]]) -> str:
    lines = ["| property | value | default | meaning |", "|---|---|---|---|"]
    for one in descriptors:
        kind = f"{one.kind}{'; a secret' if one.sensitive else ''}"
        lines.append(f"| `{one.name}` | {kind} | {_default(one)} | {one.description} |")
    return "\n".join(lines).replace("|  |", "| |")


def _default(descriptor: PropertyMetadata[object]) -> str:
    if descriptor.required:
        return "required"
    return f"`{descriptor.default_text}`" if descriptor.default_text else ""


def _procedure(procedure: Procedure) -> str:
    lines = [_wrapped(f"`CALL CATALOG.{procedure.schema}.{procedure.name}(...)`: {procedure.description}"), ""]
    for argument in procedure.arguments:
        fallback = "" if argument.required else f" Default `{argument.default!r}`."
        text = f"- `{argument.name}` ({argument.type}): {argument.description}{fallback}"
        lines.append(_wrapped(text, indent="  "))
    return "\n".join(lines)


def _wrapped(text: str, *, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    PAGE.write_text(properties_page(), encoding="utf-8")
