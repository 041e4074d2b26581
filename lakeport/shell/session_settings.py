"""Sorts ``--session`` and the same of the configuration file: session properties, and settings of the engines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidPropertyError, NotSupportedError
from lakeport.engine import ENGINES
from lakeport.shell.configuration import GivenSetting
from lakeport.transactions.engine_settings import SPARK_PROPERTIES
from lakeport.transactions.session_properties import PREFIX, check_session_properties, unknown_catalog

__all__ = ["SessionSettings", "session_settings"]


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """What was set for a session.

    Attributes:
        properties: Session properties, by ``CATALOG.PROPERTY``.
        engines: Settings of each engine, as it names them.
    """

    properties: dict[str, str] = field(default_factory=dict)
    engines: dict[str, dict[str, str]] = field(default_factory=lambda: {name: {} for name in ENGINES})


def session_settings(
    registry: CatalogRegistry,
    engine: str,
    given: Iterable[GivenSetting],
    of_engines: Iterable[GivenSetting] = (),
) -> SessionSettings:
    """Sorts and checks settings.

    Args:
        registry: The catalogs; the named ones are built to get their properties.
        engine: The engine, whose settings may be among those that are given.
        given: Session properties ``catalog.property``, or settings that begin with the name of the engine.
        of_engines: Settings that begin with the name of any engine.

    Raises:
        InvalidPropertyError: The catalog does not have the property or the value; the message names similar ones.
        NotSupportedError: A setting or a property of another engine.
        ConnectorError: The catalog cannot be built.
    """
    found = SessionSettings()
    for one in of_engines:
        owner, _, name = one.name.partition(".")
        found.engines[owner][one.name if owner == "spark" else name] = one.text
    by_catalog: dict[str, dict[str, GivenSetting]] = {}
    for one in given:
        name = one.name.removeprefix(PREFIX)
        catalog, dot, rest = name.partition(".")
        if not dot:
            raise InvalidPropertyError(
                f"{one.where}: '{one.name}' names no catalog; expected catalog.property, or a setting of {engine}"
            )
        if catalog in ENGINES:
            if catalog != engine:
                raise _of_another(one, catalog, engine)
            found.engines[catalog][name if catalog == "spark" else rest] = one.text
            continue
        if catalog not in registry.names():
            raise unknown_catalog(registry, one.where, catalog)
        if rest in SPARK_PROPERTIES and engine != "spark":
            raise _of_another(one, "spark", engine)
        by_catalog.setdefault(catalog, {})[rest] = one
        found.properties[name] = one.text
    for catalog, of_catalog in by_catalog.items():
        texts = {name: one.text for name, one in of_catalog.items()}
        places = {name: one.where for name, one in of_catalog.items()}
        check_session_properties(registry, catalog, texts, places.__getitem__)
    return found


def _of_another(one: GivenSetting, owner: str, engine: str) -> NotSupportedError:
    return NotSupportedError(
        f"{one.where}: '{one.name}' is for the engine {owner}, and the engine is {engine}; leave it out, or give "
        f"--engine {owner}"
    )
