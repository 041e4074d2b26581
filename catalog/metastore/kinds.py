"""The kinds of metastores: the two that come along, and those of plugins (entry points ``lakeport.metastores``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from catalog.metastore.embedded.factory import EmbeddedMetastoreFactory
from catalog.metastore.factory import Metastore, MetastoreFactory, assemble
from catalog.metastore.thrift.factory import ThriftMetastoreFactory
from catalog.metastore.wrappers.read_only import READ_ONLY
from connector_spi.connector import version_problem
from connector_spi.properties import PropertyMetadata, PropertyValues, enum_property

__all__ = ["METASTORE_ENTRY_POINTS", "MetastoreKinds", "find_metastores", "metastore_kinds"]

METASTORE_ENTRY_POINTS = "lakeport.metastores"
"""Entry point group of ``MetastoreFactory``."""
_BUILT_IN = (ThriftMetastoreFactory(), EmbeddedMetastoreFactory())


@dataclass(frozen=True, slots=True)
class MetastoreKinds:
    """The kinds that a catalog can name.

    Attributes:
        factories: By name.
        failures: A sentence for each plugin that cannot be used.
    """

    factories: Mapping[str, MetastoreFactory]
    failures: tuple[str, ...] = ()

    @property
    def kind(self) -> PropertyMetadata[str]:
        """``hive.metastore``."""
        names = ", ".join((*self.factories, *(f"({failure})" for failure in self.failures)))
        made = enum_property("hive.metastore", "Kind of metastore.", tuple(self.factories), "thrift")
        return (
            made
            if not self.failures
            else PropertyMetadata(
                made.name, made.description, f"one of {names}", made.parse, made.default, choices=made.choices
            )
        )

    @property
    def properties(self) -> tuple[PropertyMetadata[object], ...]:
        """The properties of all kinds, for a connector's ``config_properties``."""
        own = (prop for factory in self.factories.values() for prop in factory.properties)
        return (self.kind, *own, READ_ONLY)

    def open(self, config: PropertyValues) -> Metastore:
        """The metastore of a catalog. Nothing is connected before the first call.

        Args:
            config: The catalog's properties, those of all kinds among them.

        Raises:
            InvalidPropertyError: The properties lack what the kind needs, or do not fit together.
        """
        clients = self.factories[config.get(self.kind)].create(config)
        return assemble(clients, read_only=config.get(READ_ONLY))


@cache
def metastore_kinds() -> MetastoreKinds:
    """The kinds of all that is installed."""
    return find_metastores(entry_points(group=METASTORE_ENTRY_POINTS))


def find_metastores(found: Iterable[EntryPoint]) -> MetastoreKinds:
    """The kinds that come along, and those of plugins; a plugin that fails does not hinder the others.

    Args:
        found: Entry points of the group.
    """
    factories: dict[str, MetastoreFactory] = {factory.name: factory for factory in _BUILT_IN}
    failures = []
    # A package that lies twice on sys.path, as an editable one may, shows each entry point twice.
    unique = {(point.name, point.value): point for point in found}
    for _, point in sorted(unique.items()):
        try:
            factory = _load(point)
            _check_names(factory, factories)
            factories[factory.name] = factory
        # A plugin is foreign code: whatever its import raises, SystemExit too, must not stop the others.
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}" if not isinstance(error, _PluginError) else str(error)
            failures.append(f"'{point.name}' of {point.value} is unusable: {reason}")
    return MetastoreKinds(factories, tuple(failures))


class _PluginError(Exception):
    """Says in words what is wrong with a plugin."""


def _load(point: EntryPoint) -> MetastoreFactory:
    loaded = point.load()
    made = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(made, MetastoreFactory):
        raise _PluginError(f"it gives a {type(made).__qualname__}; expected a MetastoreFactory")
    problem = version_problem(made)
    if problem is not None:
        raise _PluginError(problem)
    return made


def _check_names(factory: MetastoreFactory, known: Mapping[str, MetastoreFactory]) -> None:
    if factory.name in known:
        raise _PluginError(f"there is a metastore '{factory.name}' already")
    taken = {prop.name: other for other, one in known.items() for prop in one.properties}
    for prop in factory.properties:
        if prop.name in taken:
            raise _PluginError(f"its property '{prop.name}' is one of the metastore '{taken[prop.name]}'")
