"""A guarded connector is a connector: it passes what the connector passes, and hides no ability and shows none."""

from __future__ import annotations

import inspect

import connector_spi
import connector_spi.optional.statistics_collection
from catalog.access_control.built_in import AllowAllAccessControl
from catalog.guard.connector import GuardedConnector, guard
from catalog.guard.metadata import GuardedMetadata
from catalog.guard.optional_metadata import READING
from catalog.guard.writing_metadata import WRITING
from connector_spi.connector import Connector, ConnectorContext
from connector_spi.metadata import ConnectorMetadata
from connector_spi.optional.native_files import SupportsMergedFiles
from connector_spi.properties import PropertyValues
from connectors.memory.connector import MemoryConnector, MemoryFactory
from tests.connectors.memory.test_conformance import TestMemoryConformance as _MemoryConformance


class _GuardedFactory(MemoryFactory):
    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> Connector:  # type: ignore[override]
        return guard(catalog, super().create(catalog, properties, context), AllowAllAccessControl())


class TestGuardedConformance(_MemoryConformance):
    """The memory connector behind an access control that allows everything."""

    max_examples = 10
    # The guard is in this package; that what runs in tasks meets no metastore is a contract of imports.
    barred_in_tasks = _MemoryConformance.barred_in_tasks - {"catalog"}

    def factory(self) -> MemoryFactory:
        return _GuardedFactory()

    @property
    def memory(self) -> MemoryConnector:
        assert isinstance(self.connector, GuardedConnector)
        assert isinstance(self.connector.guarded, MemoryConnector)
        return self.connector.guarded


def test_each_ability_of_metadata_is_guarded() -> None:
    """A new ability that the guard does not know is none of a guarded catalog; this says so when it is added."""
    named = {name: one for name, one in vars(connector_spi).items() if name.startswith("Supports")}
    collection = connector_spi.optional.statistics_collection.SupportsStatisticsCollection
    guarded = dict((*READING, *WRITING))
    # What page source providers offer is not passed on: files that others read know no filters and masks.
    assert set(guarded) == {*named.values(), collection} - {SupportsMergedFiles}
    for ability, made in guarded.items():
        assert {name for name in vars(ability) if not name.startswith("_")} <= _public(made), ability
    own = {name for name in vars(GuardedMetadata) if not name.startswith("_")}
    assert {name for name in vars(ConnectorMetadata) if not name.startswith("_")} <= own


def _public(one: type) -> set[str]:
    return {name for name, _ in inspect.getmembers_static(one) if not name.startswith("_")}
