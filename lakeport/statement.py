"""The transactions of one statement, one for each catalog that it meets."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from catalog.registry import CatalogRegistry
from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.metadata import ConnectorMetadata, TableRedirection
from connector_spi.properties import boolean_property, parse_properties
from connector_spi.session import ConnectorSession

__all__ = ["NATIVE_READER", "CatalogAccess", "Statement", "statement_scope"]

PropertySource = Callable[[str], dict[str, str]]
"""From a catalog's name to the texts of its session properties."""

NATIVE_READER = boolean_property(
    "native_reader",
    "Let Spark's own Parquet and ORC readers read files that are plain; false forces Python tasks.",
    True,
)
"""The engine's own session property, of every catalog."""

_counter = itertools.count(1)


@dataclass(frozen=True, slots=True)
class CatalogAccess:
    """One catalog as one statement sees it.

    Attributes:
        catalog: Its name.
        connector: The live catalog.
        transaction: The statement's transaction in it.
        metadata: Answers inside of the transaction; guarded by ``lock``.
        session: The query's facts with this catalog's session properties.
        native_reader: The engine may read plain files with its own reader.
        lock: Held around each call of ``metadata``, which serves one thread at a time.
        statement: Keeps the transactions open for as long as this object lives.
    """

    catalog: str
    connector: Connector
    transaction: ConnectorTransaction
    metadata: ConnectorMetadata
    session: ConnectorSession
    native_reader: bool
    lock: threading.RLock
    statement: Statement


class Statement:
    """One statement: every table of a catalog in it shares one transaction.

    Tables made in a statement keep it alive. The transactions are committed when the last of them is gone, rolled back
    by ``fail``: exactly one of the two, also when the process ends.

    Args:
        registry: The catalogs.
        user: Who asks.
        time_zone: IANA name of the session's zone.
        properties: Gives the session properties that are set for a catalog.
    """

    def __init__(self, registry: CatalogRegistry, user: str, time_zone: str, properties: PropertySource) -> None:
        self.query_id = f"{os.getpid()}_{next(_counter)}"
        self._registry = registry
        self._user = user
        self._time_zone = time_zone
        self._properties = properties
        self._start = datetime.now(UTC)
        self._lock = threading.Lock()
        self._accesses: dict[object, CatalogAccess] = {}
        self._transactions: list[ConnectorTransaction] = []
        self._finish = weakref.finalize(self, _commit_open, self._transactions)

    def access(self, catalog: str) -> CatalogAccess:
        """The catalog inside of this statement; its transaction begins at the first call.

        Raises:
            CatalogNotFoundError: No such catalog.
            InvalidPropertyError: A session property that is set is unknown or wrong.
        """
        return self._access(catalog, None)

    def redirected(self, catalog: str, redirection: TableRedirection) -> CatalogAccess:
        """The connector of another kind that reads a table of a catalog; it has a transaction of its own.

        Raises:
            InvalidPropertyError: The connector is not installed.
        """
        return self._access(catalog, redirection)

    def _access(self, catalog: str, redirection: TableRedirection | None) -> CatalogAccess:
        key = (catalog, None if redirection is None else (redirection.connector_name, redirection.properties))
        with self._lock:
            found = self._accesses.get(key)
            if found is None:
                found = self._accesses[key] = self._begin(catalog, redirection)
        return replace(found, statement=self)

    def _begin(self, catalog: str, redirection: TableRedirection | None) -> CatalogAccess:
        if redirection is None:
            connector = self._registry.get(catalog)
        else:
            properties = dict(redirection.properties)
            connector = self._registry.sibling(catalog, redirection.connector_name, properties)
        session, native_reader = self._session(catalog, connector, redirection is not None)
        transaction = connector.begin_transaction(session)
        self._transactions.append(transaction)
        metadata = connector.get_metadata(transaction)
        lock = threading.RLock()
        # The access that lives in a table refers to the statement; the one kept here must not, or neither would die.
        weak = weakref.proxy(self)
        return CatalogAccess(catalog, connector, transaction, metadata, session, native_reader, lock, weak)

    def fail(self) -> None:
        """Rolls back: the statement could not be analysed, or was cancelled."""
        if self._finish.detach() is not None:
            for transaction in self._transactions:
                if transaction.state is TransactionState.OPEN:
                    transaction.rollback()

    def _session(self, catalog: str, connector: Connector, is_sibling: bool) -> tuple[ConnectorSession, bool]:
        def where(name: str) -> str:
            return f"session property spark.lakeport.{catalog}.{name}"

        descriptors = [NATIVE_READER, *connector.session_properties]
        given = self._properties(catalog)
        if is_sibling:
            # The catalog's own connector has checked the names; the sibling knows some of them.
            known = {descriptor.name for descriptor in descriptors}
            given = {name: text for name, text in given.items() if name in known}
        values = parse_properties(descriptors, given, where)
        native_reader = bool(values.pop(NATIVE_READER.name))
        session = ConnectorSession(self.query_id, self._user, self._time_zone, self._start, tuple(values.items()))
        return session, native_reader


@contextmanager
def statement_scope(statement: Statement) -> Iterator[Statement]:
    """Rolls ``statement`` back when the block fails; else it ends with the last of its tables."""
    try:
        yield statement
    except BaseException:
        statement.fail()
        raise


def _commit_open(transactions: list[ConnectorTransaction]) -> None:
    for transaction in transactions:
        if transaction.state is TransactionState.OPEN:
            transaction.commit()
