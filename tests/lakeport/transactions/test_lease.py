"""Leases: when locks are released, and that transactions end once."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.connector import SPI_VERSION, ConnectorContext, ConnectorFactory, Plugin
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import UserError
from connector_spi.names import SchemaTableName
from connector_spi.properties import PropertyValues
from connector_spi.session import ConnectorSession
from connectors.memory.connector import MemoryConnector, MemoryFactory
from connectors.memory.metadata import MemoryTransaction
from connectors.memory.store import MemoryStore
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.lease import ReadLease, commit_all, notify_query_ended
from lakeport.transactions.plain_statement import plain_statement


@dataclass
class Events:
    """What transactions were called with, in order."""

    seen: list[str] = field(default_factory=list)

    def after_cleanup(self) -> list[str]:
        gc.collect()
        CLEANUP.wait()
        # What the first round has put off by no seconds.
        CLEANUP.wait()
        return self.seen


class LockingTransaction(MemoryTransaction):
    """Has locks."""

    def __init__(self, store: MemoryStore, events: Events) -> None:
        super().__init__(store)
        self._events = events

    @property
    def takes_locks(self) -> bool:
        return True

    def on_release(self, failed: bool) -> None:
        self._events.seen.append("released after a failure" if failed else "released")

    def on_commit(self) -> None:
        super().on_commit()
        self._events.seen.append("committed")

    def on_rollback(self) -> None:
        super().on_rollback()
        self._events.seen.append("rolled back")


class LockingConnector(MemoryConnector):
    def __init__(self, config: PropertyValues, events: Events) -> None:
        super().__init__(config)
        self._events = events

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        return LockingTransaction(self._store, self._events)


@dataclass
class LockingFactory(MemoryFactory):
    events: Events

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> LockingConnector:
        return LockingConnector(properties, self.events)


@dataclass
class LockingPlugin(Plugin):
    spi_version = SPI_VERSION
    events: Events

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (LockingFactory(self.events),)


class Frame:
    """Something that may be read any time."""


Opened = tuple[CatalogRegistry, Events]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    monkeypatch.setattr("lakeport.transactions.lease._UNREAD_SECONDS", 0.0)
    monkeypatch.setattr("lakeport.transactions.lease._UNSEEN_SECONDS", 0.0)
    events = Events()
    registry = CatalogRegistry(PluginSet.of(LockingPlugin(events)), "test")
    registry.register("mem", "memory", {})
    connector = registry.get("mem")
    assert isinstance(connector, LockingConnector)
    connector.create_table(SchemaTableName("s", "t"), pa.table({"id": [1]}))
    yield registry, events
    registry.shutdown()


def begun(registry: CatalogRegistry) -> ReadLease:
    lease = ReadLease(registry)
    plain_statement(registry, lease).access("mem")
    return lease


def test_a_lease_without_an_owner_is_committed(opened: Opened) -> None:
    registry, events = opened
    lease = begun(registry)
    access = plain_statement(registry, lease).access("mem")
    del lease
    assert events.after_cleanup() == []
    del access
    assert events.after_cleanup() == ["committed"]


@pytest.mark.slow
def test_locks_are_released_with_the_last_reader(opened: Opened) -> None:
    registry, events = opened
    lease = begun(registry)
    lease.acquire(1)
    lease.acquire(2)
    notify_query_ended(1, failed=False)
    notify_query_ended(3, failed=False)
    assert events.after_cleanup() == []
    notify_query_ended(2, failed=False)
    assert events.after_cleanup() == ["released"]
    notify_query_ended(2, failed=False)
    assert events.after_cleanup() == ["released"]
    lease.commit()
    lease.rollback()
    notify_query_ended(2, failed=True)
    assert events.after_cleanup() == ["released", "committed"]


@pytest.mark.slow
def test_a_frame_keeps_locks_unless_its_query_fails(opened: Opened) -> None:
    registry, events = opened
    lease, frame = begun(registry), Frame()
    lease.acquire_while_alive(frame)
    lease.acquire(1)
    lease.release(1)
    lease.release_if_unread()
    assert events.after_cleanup() == []
    lease.acquire(2)
    lease.release(2, failed=True)
    assert events.after_cleanup() == ["released after a failure"]
    del frame
    assert events.after_cleanup() == ["released after a failure", "released"]


def test_a_stream_reads_until_it_is_closed_or_gone(opened: Opened) -> None:
    registry, events = opened
    lease, first, second = begun(registry), Frame(), Frame()
    close = lease.acquire_until_closed(first)
    lease.acquire_until_closed(second)
    close()
    close()
    assert events.after_cleanup() == []
    del second
    assert events.after_cleanup() == ["released"]


@pytest.mark.slow
def test_what_reads_unseen_keeps_locks_for_some_time(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    registry, events = opened
    lease = begun(registry)
    lease.acquire_unseen()
    assert events.after_cleanup() == ["released"]
    monkeypatch.setattr("lakeport.transactions.lease._UNSEEN_SECONDS", 600.0)
    lease.acquire_unseen()
    lease.release_if_unread()
    assert events.after_cleanup() == ["released"]
    # A timer that is not due keeps no lease.
    del lease
    assert events.after_cleanup() == ["released", "committed"]


@pytest.mark.slow
def test_a_block_ends_all_reading(opened: Opened) -> None:
    registry, events = opened
    lease, frame = begun(registry), Frame()
    lease.acquire_while_alive(frame)
    with lease.block():
        lease.acquire(1)
        lease.release(1)
        lease.acquire(2)
        assert events.after_cleanup() == []
    assert events.after_cleanup() == ["released"]
    with pytest.raises(KeyError), lease.block():
        raise KeyError
    assert events.after_cleanup() == ["released", "released after a failure"]


def test_a_lease_that_was_cancelled_is_rolled_back_once(opened: Opened) -> None:
    registry, events = opened
    lease = begun(registry)
    lease.cancel()
    assert events.after_cleanup() == ["rolled back"]
    with pytest.raises(UserError, match="has ended; run the statement again"):
        plain_statement(registry, lease).access("mem")
    lease.commit()
    commit_all(registry)
    assert events.after_cleanup() == ["rolled back"]


def test_a_definition_begins_a_transaction_and_all_end_together(opened: Opened) -> None:
    registry, events = opened
    lease = begun(registry)
    statement = plain_statement(registry, lease)
    before = statement.access("mem")
    lease.redefined("other")
    assert statement.access("mem").transaction is before.transaction
    lease.redefined("mem", "s", "t")
    after = statement.access("mem")
    assert after.transaction is not before.transaction
    assert statement.access("mem").transaction is after.transaction
    lease.release_if_unread()
    commit_all(registry)
    assert events.after_cleanup() == ["released", "released", "committed", "committed"]
