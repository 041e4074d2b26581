"""A memory connector that remembers no snapshot: each question gets the newest one, as the contract allows."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.connector import SPI_VERSION, ConnectorContext, ConnectorFactory, Plugin
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.metadata import TableRedirection, TableVersion
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.predicate import TupleDomain
from connector_spi.properties import PropertyValues
from connector_spi.session import ConnectorSession
from connectors.memory.connector import MemoryConnector, MemoryFactory
from connectors.memory.handles import MemoryTableHandle
from connectors.memory.metadata import MemoryMetadata, MemoryTransaction
from connectors.memory.store import MemoryStore
from lakeport.session import Session

__all__ = ["Question", "UnpinnedConnector", "unpinned_session"]

Question = tuple[int, str, str | None]
"""The number of a transaction, a table, and a version of it."""


@dataclass
class Questions:
    """What the transactions of a connector were asked, and how they answer.

    Attributes:
        handles: How often each handle was asked for.
        redirected: Where tables are read that are not read here.
        delay: Seconds that making a handle takes.
    """

    handles: Counter[Question] = field(default_factory=Counter)
    redirected: dict[SchemaTableName, TableRedirection] = field(default_factory=dict)
    delay: float = 0.0


class UnpinnedMetadata(MemoryMetadata):
    """Gives the newest snapshot each time, but remembers missing names: what is defined later is not seen."""

    def __init__(self, connector: UnpinnedConnector, transaction: MemoryTransaction, number: int) -> None:
        super().__init__(connector.store, transaction)
        self._connector = connector
        self._pins = transaction
        self._number = number
        self._missing: set[SchemaTableName] = set()

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> MemoryTableHandle | None:
        self._connector.questions.handles[self._number, str(name), None] += 1
        time.sleep(self._connector.questions.delay)
        found = self._connector.store.snapshots(name)
        if not found or name in self._missing:
            self._missing.add(name)
            return None
        newest = self._pins.pin(found[-1])
        return MemoryTableHandle(name, newest.id, newest.version, TupleDomain.all())

    def get_table_handle_at(
        self, session: ConnectorSession, name: SchemaTableName, version: TableVersion
    ) -> MemoryTableHandle | None:
        self._connector.questions.handles[self._number, str(name), str(version.value)] += 1
        return super().get_table_handle_at(session, name, version)

    def redirect_table(self, session: ConnectorSession, name: SchemaTableName) -> TableRedirection | None:
        return self._connector.questions.redirected.get(name)

    def create_table(self, session: ConnectorSession, definition: TableDefinition) -> None:
        fields = [pa.field(column.name, column.type) for column in definition.columns]
        self._connector.create_table(definition.name, pa.schema(fields).empty_table())

    def drop_table(self, session: ConnectorSession, name: SchemaTableName, purge: bool) -> None:
        self._connector.drop_table(name)

    def rename_table(self, session: ConnectorSession, name: SchemaTableName, new_name: SchemaTableName) -> None:
        raise NotImplementedError

    def set_table_properties(
        self, session: ConnectorSession, name: SchemaTableName, changes: Mapping[str, str | None]
    ) -> None:
        raise NotImplementedError

    def set_column_comment(
        self, session: ConnectorSession, name: SchemaTableName, column: str, comment: str | None
    ) -> None:
        raise NotImplementedError


class UnpinnedConnector(MemoryConnector):
    """Follows the contract of ``get_table_handle``, and no more.

    Attributes:
        questions: What it was asked.
    """

    def __init__(self, config: PropertyValues) -> None:
        super().__init__(config)
        self.questions = Questions()
        self._numbers = itertools.count(1)

    @property
    def store(self) -> MemoryStore:
        """The tables."""
        return self._store

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        transaction = MemoryTransaction(self._store)
        transaction.metadata = UnpinnedMetadata(self, transaction, next(self._numbers))
        return transaction


class UnpinnedFactory(MemoryFactory):
    """Each catalog remembers its tables, also as a sibling of another one."""

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> UnpinnedConnector:
        return UnpinnedConnector(properties)


class UnpinnedPlugin(Plugin):
    spi_version = SPI_VERSION

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (UnpinnedFactory(),)


@contextmanager
def unpinned_session(spark: SparkSession | None = None) -> Iterator[tuple[Session, UnpinnedConnector]]:
    """A session with the one catalog ``mem``, and its connector."""
    registry = CatalogRegistry(PluginSet.of(UnpinnedPlugin()), "test")
    registry.register("mem", "memory", {})
    with Session(registry, spark) as session:
        connector = registry.get("mem")
        assert isinstance(connector, UnpinnedConnector)
        yield session, connector
