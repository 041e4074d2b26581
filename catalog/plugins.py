"""Finds the connectors that are installed, through the entry-point group ``connector_spi.plugins``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from connector_spi.connector import ConnectorFactory, Plugin, version_problem
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import closest

__all__ = ["ENTRY_POINT_GROUP", "PluginFailure", "PluginSet", "discover_plugins"]

ENTRY_POINT_GROUP = "connector_spi.plugins"


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """A plugin that is installed but cannot be used.

    Attributes:
        plugin: Name of the entry point.
        target: What the entry point names, such as ``package.module:Class``.
        reason: One sentence.
    """

    plugin: str
    target: str
    reason: str

    def __str__(self) -> str:
        return f"plugin '{self.plugin}' ({self.target}) is left out: {self.reason}"


@dataclass(frozen=True, slots=True)
class PluginSet:
    """The connectors that catalogs can name.

    Attributes:
        factories: By name and by alias.
        failures: Plugins left out, sorted by name.
    """

    factories: Mapping[str, ConnectorFactory]
    failures: tuple[PluginFailure, ...] = ()

    @classmethod
    def of(cls, *plugins: Plugin | ConnectorFactory) -> PluginSet:
        """The connectors of plugins that are at hand, with no discovery."""
        return _collect((type(plugin).__name__, type(plugin).__qualname__, plugin) for plugin in plugins)

    @property
    def column_options(self) -> frozenset[str]:
        """Names in lower case of the read options by which any connector chooses columns."""
        return frozenset().union(*(factory.column_options for factory in self.factories.values()))

    def factory(self, connector_name: str, where: str) -> ConnectorFactory:
        """The factory that ``connector.name`` means.

        Args:
            connector_name: Name or alias.
            where: Place of the property, for the message.

        Raises:
            InvalidPropertyError: There is none; names the known ones, the closest, and a plugin that was left out.
        """
        found = self.factories.get(connector_name)
        if found is not None:
            return found
        known = ", ".join(sorted({factory.name for factory in self.factories.values()})) or "none"
        left_out = "".join(f"; {failure}" for failure in self.failures if failure.plugin == connector_name)
        raise InvalidPropertyError(
            f"{where}: unknown connector '{connector_name}'{closest(connector_name, self.factories)}{left_out}; "
            f"known connectors: {known}"
        )


def discover_plugins(found: Iterable[EntryPoint] | None = None) -> PluginSet:
    """Loads all installed plugins; one that fails is reported and does not hinder the others.

    Args:
        found: Entry points to load in place of the installed ones.
    """
    points = entry_points(group=ENTRY_POINT_GROUP) if found is None else found
    # A package that lies twice on sys.path, as an editable one may, shows each entry point twice. The library
    # importlib_metadata, once it is imported, answers in place of Python's own, with entry points of its own class.
    unique = {(point.name, point.value): EntryPoint(point.name, point.value, ENTRY_POINT_GROUP) for point in points}
    return _collect((name, target, unique[name, target]) for name, target in sorted(unique))


def _collect(plugins: Iterable[tuple[str, str, EntryPoint | Plugin | ConnectorFactory]]) -> PluginSet:
    factories: dict[str, ConnectorFactory] = {}
    failures: list[PluginFailure] = []
    for name, target, source in plugins:
        try:
            brought = _factories_of(source)
            _refuse_taken(brought, factories)
            factories.update(brought)
        # A plugin is foreign code: whatever its import raises, SystemExit too, must not stop the others.
        except (Exception, SystemExit) as error:
            reason = str(error) if isinstance(error, _UnfitPluginError) else f"{type(error).__name__}: {error}"
            failures.append(PluginFailure(name, target, reason))
    return PluginSet(factories, tuple(failures))


class _UnfitPluginError(Exception):
    """The plugin loads, but is not one for this engine."""


def _factories_of(source: EntryPoint | Plugin | ConnectorFactory) -> dict[str, ConnectorFactory]:
    loaded = source.load() if isinstance(source, EntryPoint) else source
    if isinstance(loaded, type) and "spi_version" in getattr(loaded, "__abstractmethods__", ()):
        raise _UnfitPluginError(version_problem(loaded))
    plugin = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(plugin, Plugin | ConnectorFactory):
        raise _UnfitPluginError(f"expected a connector_spi.Plugin or ConnectorFactory, met {type(plugin).__qualname__}")
    _refuse_other_version(plugin)
    if isinstance(plugin, ConnectorFactory):
        factories = [plugin]
    else:
        factories = list(plugin.connector_factories())
        for factory in factories:
            _refuse_other_version(factory)
    return {name: factory for factory in factories for name in (factory.name, *factory.aliases)}


def _refuse_other_version(written: Plugin | ConnectorFactory) -> None:
    problem = version_problem(written)
    if problem is not None:
        raise _UnfitPluginError(problem)


def _refuse_taken(brought: Mapping[str, ConnectorFactory], taken: Mapping[str, ConnectorFactory]) -> None:
    for name in brought:
        if name in taken:
            raise _UnfitPluginError(f"connector name '{name}' is taken by {type(taken[name]).__module__}")
