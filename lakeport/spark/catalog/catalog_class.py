"""Catalogs that Spark makes itself, by the name of a class: see docs/adr/0025."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import ClassVar

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from catalog.config import CONNECTOR_NAME, CatalogConfig
from catalog.registry import CatalogRegistry
from connector_spi.errors import CatalogNotFoundError, InvalidPropertyError
from lakeport.default_catalogs import drop_default_catalogs
from lakeport.spark.bridge.compiled.delegation import VERSION, delegating_methods
from lakeport.spark.bridge.compiled.java_classes import PACKAGE, class_jar, first_line, publish_class, source
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.catalog.catalog import CatalogProxy

__all__ = ["CATALOG_CLASS", "NamedCatalogs", "configured_catalogs", "register_configured"]

_CLASS = "LakeportCatalog"
CATALOG_CLASS = PACKAGE + _CLASS
"""The value of ``spark.sql.catalog.NAME`` for a catalog of Lakeport."""
_PREFIX = "spark.sql.catalog."
_REGISTRY = "lakeport.registry"
_INTERFACES = ("StagingTableCatalog", "SupportsNamespaces", "ProcedureCatalog", "FunctionCatalog")
_OWN_METHODS = frozenset({"initialize", "name"})
_numbers = itertools.count(1)
_log = logging.getLogger(__name__)


class CatalogSourceProxy(Proxy):
    """Gives Spark the catalogs that it makes by the name of the class.

    Args:
        jvm: The JVM.
    """

    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.BiFunction"]

    def __init__(self, jvm: Jvm) -> None:
        super().__init__(jvm)
        self._registries: dict[str, CatalogRegistry] = {}

    def apply(self, name: str, words: str | None) -> object:
        """The catalog of a name, of the registry that a setting names, else of the newest one that has it."""
        # A client may set anything. Only registries of this process are looked at, and no other settings.
        newest_first = list(reversed(self._registries.items()))
        for number, registry in newest_first:
            if number == words or (words is None and name in registry.names()):
                registry.connector_name(name)  # says what there is where this is not
                return CatalogProxy(self._jvm, registry, name)
        raise CatalogNotFoundError(
            f"{_PREFIX}{name} is {CATALOG_CLASS}, and Lakeport has no catalog '{name}': expected a catalog file of "
            f"this name, or {_PREFIX}{name}.{CONNECTOR_NAME} before lakeport.connect"
        )

    def add_registry(self, number: str, registry: CatalogRegistry) -> None:
        """Catalogs of this registry may be asked for from now on."""
        self._registries[number] = registry

    def remove_registry(self, number: str) -> None:
        """Catalogs of this registry are gone."""
        self._registries.pop(number, None)


class NamedCatalogs:
    """Has Spark make a registry's catalogs in each session to come, also in those of Java, and in clones.

    Args:
        jvm: The JVM.
        registry: The catalogs.
    """

    def __init__(self, jvm: Jvm, registry: CatalogRegistry) -> None:
        self._number = str(next(_numbers))
        self._source = _catalog_source(jvm)
        if self._source is not None:
            self._source.add_registry(self._number, registry)

    def add(self, session: JavaObject, name: str) -> None:
        """New sessions, and clones of this one, have a catalog.

        Args:
            session: The Java session.
            name: Of the catalog.
        """
        if self._source is None:
            return
        settings = {_PREFIX + name: CATALOG_CLASS, f"{_PREFIX}{name}.{_REGISTRY}": self._number}
        own, shared = session.sessionState().conf(), session.sharedState().conf()
        for key, text in settings.items():
            own.setConfString(key, text)
            shared.set(key, text)

    def remove(self, session: JavaObject, name: str) -> None:
        """Takes back what ``add`` did, unless another registry has come since."""
        number = f"{_PREFIX}{name}.{_REGISTRY}"
        own, shared = session.sessionState().conf(), session.sharedState().conf()
        if own.getConfString(number, None) == self._number:
            own.unsetConf(number)
            if own.getConfString(f"{_PREFIX}{name}.{CONNECTOR_NAME}", None) is None:
                own.unsetConf(_PREFIX + name)
        if shared.get(number, None) == self._number:
            shared.remove(number)
            if shared.get(f"{_PREFIX}{name}.{CONNECTOR_NAME}", None) is None:
                shared.remove(_PREFIX + name)

    def close(self) -> None:
        """Spark gets no more catalogs of the registry."""
        if self._source is not None:
            self._source.remove_registry(self._number)


def configured_catalogs(settings: Mapping[str, str]) -> list[CatalogConfig]:
    """The catalogs that settings of Spark configure: those of our class that have a ``connector.name``.

    Args:
        settings: All settings.

    Raises:
        InvalidPropertyError: A name is not valid for a catalog.
    """
    found = []
    for key in sorted(settings):
        name = key.removeprefix(_PREFIX)
        start = f"{key}."
        connector = settings.get(start + CONNECTOR_NAME)
        if key.startswith(_PREFIX) and settings[key] == CATALOG_CLASS and connector is not None:
            properties = {one[len(start) :]: text for one, text in settings.items() if one.startswith(start)}
            for left_out in (CONNECTOR_NAME, _REGISTRY):
                properties.pop(left_out, None)
            found.append(CatalogConfig.from_mapping(name, connector, properties))
    return found


def register_configured(settings: Mapping[str, str], registry: CatalogRegistry) -> None:
    """Adds the catalogs that settings of Spark configure, in place of those that Lakeport makes where there are none.

    Raises:
        InvalidPropertyError: One is in a catalog file, too, or its name is not valid.
    """
    configured = configured_catalogs(settings)
    if configured:
        drop_default_catalogs(registry)
    for config in configured:
        if config.name not in registry.names():
            registry.register_config(config)
        elif registry.config(config.name) != config:
            raise InvalidPropertyError(
                f"the catalog '{config.name}' is in the settings of Spark ({_PREFIX}{config.name}), and in "
                f"{_place(registry, config.name)}; expected one of them"
            )


def _place(registry: CatalogRegistry, name: str) -> str:
    known = registry.config(name)
    return known.file or "the session"


def _catalog_source(jvm: Jvm) -> CatalogSourceProxy | None:
    """What the class asks; ``None`` where Spark cannot have the class, so that sessions of Java have no catalogs."""
    if _CLASS not in jvm.shared:
        jvm.shared[_CLASS] = _published(jvm)
    found: CatalogSourceProxy | None = jvm.shared[_CLASS]
    return found


def _published(jvm: Jvm) -> CatalogSourceProxy | None:
    template = source(_CLASS)
    interfaces = [CATALOG + name for name in _INTERFACES]

    def complete() -> str:
        return template.replace("// METHODS", delegating_methods(jvm, interfaces, "catalog", _OWN_METHODS).strip())

    try:
        made = publish_class(jvm, class_jar(jvm, _CLASS, f"{VERSION} {template}", complete), _CLASS)
        found = CatalogSourceProxy(jvm)
        [use] = [one for one in jvm.items(made.getMethods()) if one.getName() == "use"]
        use.invoke(None, jvm.array("java.lang.Object", [found]))
        return found
    except (Py4JError, OSError) as error:
        # Python puts the catalogs into sessions that it knows, so this Spark has no more than a gap.
        _log.warning("%s cannot be loaded, so sessions of Java lack the catalogs: %s", CATALOG_CLASS, first_line(error))
        return None
