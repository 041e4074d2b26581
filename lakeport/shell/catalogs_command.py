"""``lakeport catalogs check``: can each catalog be reached, and what is wrong. Needs no Spark."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from catalog.registry import CatalogCheck, CatalogRegistry
from connector_spi.errors import ConnectorError, InternalError
from lakeport.plain_statement import plain_statement
from lakeport.session import load_catalogs
from lakeport.shell.arguments import Commands, add_catalogs_option
from lakeport.shell.problems import exit_code, headline, report
from lakeport.statement import statement_scope

__all__ = ["SupportsDiagnosis", "add_catalogs_command"]


@runtime_checkable
class SupportsDiagnosis(Protocol):
    """A connector that can tell what it is connected to."""

    def describe(self) -> Mapping[str, str]:
        """Such as ``metastore: thrift 2.3.10 at host:9083``; asks the server. Raises ConnectorError."""


@dataclass(frozen=True, slots=True)
class _Report:
    check: CatalogCheck
    facts: tuple[str, ...] = ()
    error: Exception | None = None


def add_catalogs_command(commands: Commands) -> None:
    """Declares the command."""
    command = commands.add_parser("catalogs", help="check the catalogs", description="Looks after catalogs.")
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser(
        "check",
        help="say of each catalog whether it can be reached, and what is wrong",
        description="Builds each catalog and lists its schemas. Exit code 0 when all can be reached.",
    )
    add_catalogs_option(check)
    check.set_defaults(run=_check)


def _check(arguments: argparse.Namespace) -> int:
    registry = load_catalogs(arguments.catalogs)
    try:
        for failure in registry.plugins.failures:
            report(InternalError(str(failure)), prefix="warning: ")
        reports = [_look_at(registry, check) for check in registry.check()]
    finally:
        registry.shutdown()
    if not reports:
        print("there are no catalogs")
    name_width = max((len(one.check.name) for one in reports), default=0)
    kind_width = max((len(one.check.connector_name or "?") for one in reports), default=0)
    for one in reports:
        kind = (one.check.connector_name or "?").ljust(kind_width)
        said = headline(one.error) if one.error is not None else ", ".join(one.facts)
        print(f"{one.check.name.ljust(name_width)}  {kind}  {'ok    ' if one.error is None else 'FAILED'}  {said}")
    return max((exit_code(one.error) for one in reports if one.error is not None), default=0)


def _look_at(registry: CatalogRegistry, check: CatalogCheck) -> _Report:
    if check.error is not None:
        return _Report(check, error=check.error)
    statement = plain_statement(registry)
    try:
        with statement_scope(statement):
            access = statement.access(check.name)
            described = access.connector.describe() if isinstance(access.connector, SupportsDiagnosis) else {}
            with access.lock:
                count = len(access.metadata.list_schema_names(access.session))
    except ConnectorError as error:
        return _Report(check, error=error)
    except Exception as error:
        wrong = InternalError(f"the connector failed with {type(error).__name__}: {error}")
        return _Report(check, error=wrong)
    facts = (f"{count} schema{'' if count == 1 else 's'}", *(f"{key}: {value}" for key, value in described.items()))
    return _Report(check, facts)
