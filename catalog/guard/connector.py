"""A connector behind an access control: the one place that every way of reading and writing passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from weakref import WeakValueDictionary

import pyarrow as pa

from catalog.guard.checks import Checks
from catalog.guard.metadata import GuardedMetadata
from catalog.guard.optional_metadata import READING
from catalog.guard.page_sources import guarded_provider
from catalog.guard.reading import GuardedSplitManager
from catalog.guard.writing_metadata import WRITING
from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.page_sink import PageSinkProvider
from connector_spi.optional.procedures import Procedure
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain, Value
from connector_spi.properties import PropertyMetadata
from connector_spi.schema import TableMetadata
from connector_spi.security import ConnectorAccessControl, SystemAccessControl
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitManager
from connector_spi.system_tables import SystemTable

__all__ = ["GuardedConnector", "guard"]


def guard(
    catalog: str, connector: Connector, system: SystemAccessControl, own: tuple[ConnectorAccessControl, ...] = ()
) -> Connector:
    """A connector that does what access controls allow.

    Args:
        catalog: Its name.
        connector: The connector.
        system: The access control of all catalogs.
        own: Those of the catalog's connectors, which have to allow, too.
    """
    return GuardedConnector(connector, Checks(catalog, system, own))


class GuardedConnector(Connector):
    """A connector behind checks. Handles of its metadata carry what may be seen to the tasks that read.

    Args:
        connector: The connector itself.
        checks: Of the catalog.
    """

    def __init__(self, connector: Connector, checks: Checks) -> None:
        self.guarded = connector
        self._checks = checks
        self._metadata: WeakValueDictionary[int, GuardedMetadata] = WeakValueDictionary()

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        return self.guarded.begin_transaction(session)

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        metadata = self.guarded.get_metadata(transaction)
        # The same object each time; it keeps the connector's own alive, and so its number its own.
        found = self._metadata.get(id(metadata))
        if found is None:
            classes = tuple(made for kind, made in (*READING, *WRITING) if isinstance(metadata, kind))
            found = _metadata_class(classes)(metadata, self._checks)
            self._metadata[id(metadata)] = found
        return found

    @property
    def split_manager(self) -> SplitManager:
        return GuardedSplitManager(self.guarded.split_manager, self._checks)

    @property
    def page_source_provider(self) -> PageSourceProvider:
        return guarded_provider(self.guarded.page_source_provider)

    @property
    def page_sink_provider(self) -> PageSinkProvider | None:
        return self.guarded.page_sink_provider

    @property
    def procedures(self) -> Sequence[Procedure]:
        return [
            one if one.checks_access else replace(one, function=_GuardedProcedure(one, self._checks))
            for one in self.guarded.procedures
        ]

    @property
    def system_tables(self) -> Sequence[SystemTable]:
        return [
            one if one.checks_access else _GuardedSystemTable(one, self._checks) for one in self.guarded.system_tables
        ]

    @property
    def access_control(self) -> ConnectorAccessControl | None:
        return self.guarded.access_control

    @property
    def session_properties(self) -> Sequence[PropertyMetadata[object]]:
        return self.guarded.session_properties

    def with_credentials(self, credentials: tuple[tuple[str, str], ...]) -> Connector:
        return GuardedConnector(self.guarded.with_credentials(credentials), self._checks)

    def shutdown(self) -> None:
        self.guarded.shutdown()


@lru_cache(maxsize=256)
def _metadata_class(classes: tuple[type[GuardedMetadata], ...]) -> type[GuardedMetadata]:
    """A class that offers what the connector's metadata offers, and nothing else: engines ask by ``isinstance``."""
    return type("GuardedMetadata", (*classes, GuardedMetadata), {})


@dataclass(frozen=True, slots=True)
class _GuardedProcedure:
    procedure: Procedure
    checks: Checks

    def __call__(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = CatalogSchemaTableName(self.checks.catalog, self.procedure.schema, self.procedure.name)
        self.checks.check(lambda control: control.check_can_execute_procedure(session.identity, name))
        return self.procedure.function(session, arguments)


class _GuardedSystemTable(SystemTable):
    """A table about the process, such as that of the calls of a metastore."""

    def __init__(self, table: SystemTable, checks: Checks) -> None:
        self._table = table
        self._checks = checks

    @property
    def metadata(self) -> TableMetadata:
        return self._table.metadata

    @property
    def is_local(self) -> bool:
        return self._table.is_local

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        self._checks.system.check_can_read_system_information(session.identity)
        return self._table.read(session, constraint)
