"""The transactions of catalogs that begin one by one and end together."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from contextlib import ExitStack

from catalog.registry import CatalogRegistry
from catalog.resolver import ResolvedTable
from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.errors import UserError
from connector_spi.names import SchemaTableName
from connector_spi.session import ConnectorSession
from lakeport.plugin_errors import ConnectorOrigin
from lakeport.transactions.kept_tables import BegunTransaction, KeptTables

__all__ = ["CatalogTransactions", "TransactionKey", "open_transactions"]

TransactionKey = tuple[str, Hashable]
"""A catalog, and what distinguishes its own transaction from those of tables that are redirected."""


class CatalogTransactions:
    """A transaction of each catalog that was met, all ended together by exactly one of commit and rollback.

    May be used by several threads.

    Args:
        registry: The catalogs.
        of_writes: Rows are written in them: where no one ends them, they are rolled back.
    """

    def __init__(self, registry: CatalogRegistry, *, of_writes: bool = False) -> None:
        self.registry = registry
        self._of_writes = of_writes
        self._guard = threading.RLock()
        self._begun: list[BegunTransaction] = []
        self._current: dict[TransactionKey, BegunTransaction] = {}
        self._tables: dict[TransactionKey, KeptTables] = {}
        self._process = os.getpid()
        self._ended = False

    def begin(self, key: TransactionKey, connector: Connector, session: ConnectorSession) -> BegunTransaction:
        """The transaction of ``key``; begins at the first call.

        Args:
            key: Whose.
            connector: The live catalog.
            session: The facts of the query that asks; of those that ask later, nothing is looked at.

        Raises:
            UserError: The transactions have ended.
        """
        with self._guard:
            if self._ended:
                raise UserError("the transaction of this statement has ended; run the statement again")
            found = self._current.get(key)
            if found is None:
                tables = self._tables.get(key) or KeptTables(self._origin(key, connector))
                with tables.lock.origin.errors("begin a transaction"):
                    transaction = connector.begin_transaction(session)
                    found = BegunTransaction(transaction, connector.get_metadata(transaction), tables)
                self._tables[key] = tables
                self._current[key] = found
                self._begun.append(found)
                _open.add(self)
            return found

    def resolved_tables(self) -> list[ResolvedTable]:
        """The tables that were resolved, and are no system tables."""
        with self._guard:
            kept = list(self._tables.values())
        return [table for tables in kept for table in tables.resolved()]

    def redefined(self, catalog: str, schema: str | None = None, table: str | None = None) -> None:
        """A definition or a procedure has changed a catalog: what is asked from now on is asked in a new transaction.

        Connectors may remember for as long as a transaction lasts, so the old one would not see it. That one stays
        open for what was read in it: tables that were not touched, and frames.

        Args:
            catalog: The catalog.
            schema: Only tables of it; ``None`` is all.
            table: Only this one; ``None`` is all of the schema.
        """

        def is_named(name: SchemaTableName) -> bool:
            return schema is None or (name.schema == schema and (table is None or name.table == table))

        with self._guard:
            keys = [key for key in self._tables if key[0] == catalog]
            for key in keys:
                self._current.pop(key, None)
            kept = [self._tables[key] for key in keys]
        elsewhere = set[SchemaTableName]().union(*(tables.forget(is_named) for tables in kept))
        for tables in kept if elsewhere else ():
            tables.forget(elsewhere.__contains__)

    @property
    def takes_locks(self) -> bool:
        """Whether any of the transactions holds locks, or will again when something is read."""
        return any(begun.transaction.takes_locks for begun in list(self._begun))

    def release(self, *, failed: bool) -> None:
        """Releases locks; what is read later takes them again, and sees the same.

        Args:
            failed: What has read in the transactions has failed.
        """
        with self._guard:
            if self._ended or self._is_inherited:
                return
            with ExitStack() as stack:  # an error of one keeps none of the others from its turn
                for begun in self._begun:
                    stack.enter_context(begun.tables.lock.origin.errors("release what it had locked"))
                    stack.callback(begun.transaction.release, failed=failed)

    def commit(self) -> None:
        """Commits what is open."""
        self._end(ConnectorTransaction.commit)

    def rollback(self) -> None:
        """Rolls back what is open."""
        self._end(ConnectorTransaction.rollback)

    def abandon(self) -> None:
        """Ends what no one will end any more."""
        if self._of_writes:
            self.rollback()
        else:
            self.commit()

    @property
    def _is_inherited(self) -> bool:
        """Whether this is a process that was forked: the transactions are its parent's, who still reads in them."""
        return self._process != os.getpid()

    def _end(self, how: Callable[[ConnectorTransaction], None]) -> None:
        with self._guard:
            if self._ended or self._is_inherited:
                return
            self._ended = True
            begun, self._begun = self._begun, []
            self._current.clear()
            self._tables.clear()
            _open.discard(self)
        with ExitStack() as stack:
            for one in begun:
                if one.transaction.state is TransactionState.OPEN:
                    stack.enter_context(one.tables.lock.origin.errors("end a transaction"))
                    stack.callback(how, one.transaction)

    def _origin(self, key: TransactionKey, connector: Connector) -> ConnectorOrigin:
        catalog, redirection = key
        if isinstance(redirection, tuple):
            return ConnectorOrigin.of(catalog, str(redirection[0]), connector)
        try:
            return ConnectorOrigin.of(catalog, self.registry.connector_name(catalog), connector)
        except UserError:  # dropped just now
            return ConnectorOrigin.of(catalog, None, connector)


def open_transactions() -> list[CatalogTransactions]:
    """All of the process in which something was begun, and that have not ended."""
    return list(_open)


_open: set[CatalogTransactions] = set()
