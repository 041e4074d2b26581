"""Finds the connectors that are installed, through the entry-point group ``connector_spi.plugins``."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
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


class PluginSet:
    """The connectors that catalogs can name. May be used by several threads.

    A connector that has the name of its plugin is found without loading the others, which is slow.

    Args:
        plugins: Names of the plugins, what they are called in messages, and where they come from; in the order in which
            they get names that several of them bring, after those that are called so themselves.
    """

    def __init__(self, plugins: Iterable[tuple[str, str, EntryPoint | Plugin | ConnectorFactory]]) -> None:
        self._plugins = [_Plugin(*one) for one in plugins]
        self._found: tuple[Mapping[str, ConnectorFactory], tuple[PluginFailure, ...]] | None = None
        self._lock = threading.RLock()

    @classmethod
    def of(cls, *plugins: Plugin | ConnectorFactory) -> PluginSet:
        """The connectors of plugins that are at hand, with no discovery."""
        return cls((type(plugin).__name__, type(plugin).__qualname__, plugin) for plugin in plugins)

    @property
    def factories(self) -> Mapping[str, ConnectorFactory]:
        """By name and by alias; loads all plugins."""
        return self._all()[0]

    @property
    def failures(self) -> tuple[PluginFailure, ...]:
        """Plugins left out, sorted by name; loads all."""
        return self._all()[1]

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
        found = self._alone(connector_name) or self.factories.get(connector_name)
        if found is not None:
            return found
        known = ", ".join(sorted({factory.name for factory in self.factories.values()})) or "none"
        left_out = "".join(f"; {failure}" for failure in self.failures if failure.plugin == connector_name)
        raise InvalidPropertyError(
            f"{where}: unknown connector '{connector_name}'{closest(connector_name, self.factories)}{left_out}; "
            f"known connectors: {known}"
        )

    def _alone(self, name: str) -> ConnectorFactory | None:
        """The connector of the plugin of this name, where it brings one that is called so."""
        with self._lock:
            own = [one for one in self._plugins if one.name == name]
            return own[0].factories.get(name) if len(own) == 1 else None

    def _all(self) -> tuple[Mapping[str, ConnectorFactory], tuple[PluginFailure, ...]]:
        with self._lock:
            if self._found is None:
                self._found = _collect(self._plugins)
            return self._found


def discover_plugins(found: Iterable[EntryPoint] | None = None) -> PluginSet:
    """All installed plugins, loaded when they are asked for; one that fails does not hinder the others.

    Args:
        found: Entry points to load in place of the installed ones.
    """
    points = entry_points(group=ENTRY_POINT_GROUP) if found is None else found
    # A package that lies twice on sys.path, as an editable one may, shows each entry point twice. The library
    # importlib_metadata, once it is imported, answers in place of Python's own, with entry points of its own class.
    unique = {(point.name, point.value): EntryPoint(point.name, point.value, ENTRY_POINT_GROUP) for point in points}
    return PluginSet((name, target, unique[name, target]) for name, target in sorted(unique))


class _Plugin:
    """A plugin that is loaded once."""

    def __init__(self, name: str, target: str, source: EntryPoint | Plugin | ConnectorFactory) -> None:
        self.name = name
        self.target = target
        self._source = source
        self._loaded: dict[str, ConnectorFactory] | None = None
        self._reason = ""

    @property
    def factories(self) -> Mapping[str, ConnectorFactory]:
        """What it brings, by name and by alias; nothing where it fails."""
        if self._loaded is None:
            try:
                self._loaded = _factories_of(self._source)
            # A plugin is foreign code: whatever its import raises, SystemExit too, must not stop the others.
            except (Exception, SystemExit) as error:
                self._reason = (
                    str(error) if isinstance(error, _UnfitPluginError) else f"{type(error).__name__}: {error}"
                )
                self._loaded = {}
        return self._loaded

    @property
    def failure(self) -> PluginFailure | None:
        """Why it brings nothing."""
        return PluginFailure(self.name, self.target, self._reason) if not self.factories and self._reason else None


def _collect(plugins: Sequence[_Plugin]) -> tuple[Mapping[str, ConnectorFactory], tuple[PluginFailure, ...]]:
    factories: dict[str, ConnectorFactory] = {}
    failures: list[PluginFailure] = []
    for plugin in sorted(plugins, key=lambda one: one.name not in one.factories):
        taken = next((name for name in plugin.factories if name in factories), None)
        if plugin.failure is not None:
            failures.append(plugin.failure)
        elif taken is not None:
            reason = f"connector name '{taken}' is taken by {type(factories[taken]).__module__}"
            failures.append(PluginFailure(plugin.name, plugin.target, reason))
        else:
            factories.update(plugin.factories)
    return factories, tuple(sorted(failures, key=lambda one: one.plugin))


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
