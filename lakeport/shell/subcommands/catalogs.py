"""``lakeport catalogs check | show | add``: checks, shows and adds catalogs. Needs no Spark."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from catalog.catalog_file import write_catalog_file
from catalog.config import BrokenCatalog, CatalogConfig
from catalog.metastore.error_codes import NOT_CREATED
from catalog.plugins import discover_plugins
from catalog.registry import CatalogCheck, CatalogRegistry
from connector_spi.connector import Connector
from connector_spi.errors import ConnectorError, InternalError, InvalidArgumentError
from lakeport.default_catalogs import DEFAULT_CATALOGS, load_catalogs
from lakeport.shell.problems import exit_code, headline, report
from lakeport.shell.subcommands.arguments import Commands, add_catalogs_option
from lakeport.shell.subcommands.catalog_properties import catalog_lines, plain_secrets
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import statement_scope
from lakeport.version import VERSION

__all__ = ["SupportsDiagnosis", "add_catalogs_command"]


@runtime_checkable
class SupportsDiagnosis(Protocol):
    """A connector that can describe the systems that it is connected to."""

    def describe(self) -> Mapping[str, str]:
        """Facts such as ``metastore: thrift 2.3.10 at host:9083``; calls the server. Raises ConnectorError."""


@dataclass(frozen=True, slots=True)
class _Report:
    check: CatalogCheck
    facts: tuple[str, ...] = ()
    error: Exception | None = None


def add_catalogs_command(commands: Commands) -> None:
    """Declares the command."""
    command = commands.add_parser(
        "catalogs", help="check, show and add catalogs", description="Checks, shows and adds catalogs."
    )
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser(
        "check",
        help="check that each catalog can be reached, and report its error",
        description="Builds each catalog and lists its schemas. Exit code 0 if all can be reached.",
    )
    add_catalogs_option(check)
    check.set_defaults(run=_check)
    show = actions.add_parser(
        "show",
        help="show the properties of catalogs, and where each comes from",
        description="Shows the properties of catalogs, and where each comes from. Secrets are hidden.",
    )
    show.add_argument("names", nargs="*", metavar="NAME", help="catalogs to show (default: all)")
    show.add_argument("--defaults", action="store_true", help="also the properties that are not set")
    add_catalogs_option(show)
    show.set_defaults(run=_show)
    add = actions.add_parser(
        "add",
        help="write the file of a new catalog",
        description="Checks the properties of a new catalog, and writes its file. A secret is best given as "
        "'${ENV:NAME}', which is read from the environment when the catalog is used.",
    )
    add.add_argument("name", metavar="NAME", help="name of the catalog")
    add.add_argument("connector", metavar="CONNECTOR", help="its connector, such as hive")
    add.add_argument("properties", nargs="*", metavar="KEY=VALUE", help="its properties")
    add.add_argument("--replace", action="store_true", help="overwrite an existing file")
    add_catalogs_option(add)
    add.set_defaults(run=_add)


def _check(arguments: argparse.Namespace) -> int:
    registry = load_catalogs(arguments.catalogs)
    try:
        for failure in registry.plugins.failures:
            report(InternalError(str(failure)), prefix="warning: ")
        reports = [_diagnose(registry, check) for check in registry.check()]
    finally:
        registry.shutdown()
    if not reports:
        print("there are no catalogs")
    name_width = max((len(one.check.name) for one in reports), default=0)
    kind_width = max((len(one.check.connector_name or "?") for one in reports), default=0)
    for one in reports:
        kind = (one.check.connector_name or "?").ljust(kind_width)
        text = headline(one.error) if one.error is not None else ", ".join(one.facts)
        print(f"{one.check.name.ljust(name_width)}  {kind}  {'ok    ' if one.error is None else 'FAILED'}  {text}")
    return max((exit_code(one.error) for one in reports if one.error is not None), default=0)


def _diagnose(registry: CatalogRegistry, check: CatalogCheck) -> _Report:
    if check.error is not None:
        return _Report(check, error=check.error)
    statement = plain_statement(registry)
    try:
        with statement_scope(statement):
            access = statement.access(check.name)
            described = _described(registry.config(check.name), access.connector)
            with access.lock:
                count = len(access.metadata.list_schema_names(access.session))
    except ConnectorError as error:
        return _Report(check, error=error)
    except Exception as error:
        wrong = InternalError(f"the connector failed with {type(error).__name__}: {error}")
        return _Report(check, error=wrong)
    facts = (f"{count} schema{'' if count == 1 else 's'}", *(f"{key}: {value}" for key, value in described.items()))
    return _Report(check, facts)


def _described(config: CatalogConfig | BrokenCatalog, connector: Connector) -> Mapping[str, str]:
    """What a connector says about its systems."""
    if not isinstance(connector, SupportsDiagnosis):
        return {}
    try:
        return connector.describe()
    except ConnectorError as error:
        # Nobody named the place of a built-in catalog's metastore, so it cannot be mistyped.
        if config.file is None and error.code == NOT_CREATED:
            return {"metastore": "none yet; the first schema or table creates it"}
        raise


def _show(arguments: argparse.Namespace) -> int:
    registry = load_catalogs(arguments.catalogs)
    try:
        found = [registry.config(name) for name in arguments.names or registry.names()]
        worst = 0
        for index, config in enumerate(found):
            if index:
                print()
            try:
                print("\n".join(catalog_lines(config, registry.plugins, defaults=arguments.defaults)))
            except ConnectorError as error:
                report(error)
                worst = max(worst, exit_code(error))
    finally:
        registry.shutdown()
    if not found:
        print("there are no catalogs")
    return worst


def _add(arguments: argparse.Namespace) -> int:
    properties: dict[str, str] = {}
    for given in arguments.properties:
        key, equals, value = given.partition("=")
        if not equals or not key.strip():
            raise InvalidArgumentError(f"met '{key.strip()}' among the properties; expected KEY=VALUE")
        if key.strip() in properties:
            raise InvalidArgumentError(f"property '{key.strip()}' is given twice; give it once")
        properties[key.strip()] = value.strip()
    folder = Path(arguments.catalogs) if arguments.catalogs else DEFAULT_CATALOGS
    # A file that a property names lies beside the one that is written, not beside who writes it.
    checked = {
        key: re.sub(r"\$\{FILE:([^}]*)\}", lambda found: f"${{FILE:{folder.absolute() / found[1]}}}", value)
        for key, value in properties.items()
    }
    registry = CatalogRegistry(discover_plugins, VERSION)
    try:
        registry.register(arguments.name, arguments.connector, checked)
        # Connects to nothing, but knows whether the properties suffice and fit together.
        registry.get(arguments.name)
        config = CatalogConfig.from_mapping(arguments.name, arguments.connector, properties)
        descriptors = registry.plugins.factory(arguments.connector, arguments.name).config_properties
    finally:
        registry.shutdown()
    file = write_catalog_file(folder, arguments.name, arguments.connector, properties, replace=arguments.replace)
    for key in plain_secrets(config, descriptors):
        variable = re.sub(r"\W", "_", f"{arguments.name}.{key}").upper()
        print(f"warning: {key} is a secret in clear text in {file}; better: {key}=${{ENV:{variable}}}", file=sys.stderr)
    print(f"wrote {file}")
    return 0
