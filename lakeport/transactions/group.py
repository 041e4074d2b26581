"""The transactions that the tables of a statement share, who reads in them, and when they end."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Hashable
from contextlib import ExitStack

from catalog.registry import CatalogRegistry
from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.errors import UserError
from connector_spi.names import SchemaTableName
from connector_spi.session import ConnectorSession
from lakeport.scan_facts import ScanFacts
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.kept_tables import BegunTransaction, KeptTables

__all__ = [
    "SharedTransactions",
    "TransactionGroup",
    "TransactionKey",
    "commit_all",
    "open_groups",
]

TransactionKey = tuple[str, Hashable]

_UNREAD_SECONDS = 10.0
"""A frame that is gone may have others made of it that are about to be read."""
_UNSEEN_SECONDS = 600.0
"""What reads unseen, such as ``df.rdd``, has its locks for so long from when it was planned."""
_KEPT_SCANS = 1000
"""A block may be open for long."""


class TransactionGroup:
    """One transaction of each catalog that was met, all ended together by exactly one of commit and rollback.

    While it is open it knows who reads in it: frames and blocks that are held, and queries that run. When the last of
    them is gone, locks are let go; the transactions stay, so that a table that is read once more sees the same.

    Args:
        registry: The catalogs.
    """

    def __init__(self, registry: CatalogRegistry) -> None:
        self.registry = registry
        self._guard = threading.RLock()
        self._begun: list[BegunTransaction] = []
        self._current: dict[TransactionKey, BegunTransaction] = {}
        self._tables: dict[TransactionKey, KeptTables] = {}
        self._process = os.getpid()
        self._ended = False
        self._holders = 0
        self._queries: set[int] = set()
        self._unseen_reads = 0
        self._scans: dict[int, ScanFacts] = {}

    @property
    def scans(self) -> list[ScanFacts]:
        """The scans that were planned to run, in order; of very many the newest."""
        with self._guard:
            return list(self._scans.values())

    def note_scan(self, scan: int, facts: ScanFacts) -> None:
        """A scan is about to run.

        Args:
            scan: Tells it from the others; one that is planned again counts once.
            facts: What it reads.
        """
        with self._guard:
            self._scans[scan] = facts
            if len(self._scans) > _KEPT_SCANS:
                del self._scans[next(iter(self._scans))]

    def begin(self, key: TransactionKey, connector: Connector, session: ConnectorSession) -> BegunTransaction:
        """The transaction of ``key``; begins at the first call.

        Args:
            key: The catalog, and what tells its own transaction from those of redirected tables.
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
                transaction = connector.begin_transaction(session)
                tables = self._tables.setdefault(key, KeptTables())
                found = BegunTransaction(transaction, connector.get_metadata(transaction), tables)
                self._current[key] = found
                self._begun.append(found)
                _open.add(self)
            return found

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

    def hold(self) -> None:
        """Somebody may read any time: locks stay until ``let_go``."""
        with self._guard:
            self._holders += 1

    def let_go(self) -> None:
        """The reverse of ``hold``: the frame is gone. Others that were made of it may be about to be read."""
        with self._guard:
            self._holders -= 1
        CLEANUP.after(_UNREAD_SECONDS, self._release_if_idle)

    def close_block(self, *, failed: bool) -> None:
        """The reverse of ``hold`` where all reading is over, also what reads unseen; frames may be kept.

        Args:
            failed: The block was left by an error.
        """
        with self._guard:
            self._holders -= 1
            self._unseen_reads = 0
            # Spark never tells the end of some, such as a DataFrame that is read as an RDD.
            self._queries.clear()
            self._release_if_idle(failed=failed, despite_holders=True)

    def query_began(self, query: int | None) -> None:
        """A query plans to read; ``None`` is something that will not say when it has ended."""
        with self._guard:
            if query is not None:
                self._queries.add(query)
                return
            self._unseen_reads += 1
        CLEANUP.after(_UNSEEN_SECONDS, self._unseen_read_ended)

    def query_ended(self, query: int, *, failed: bool) -> None:
        """A query has ended; one that failed lets go of locks though its frame may still be held."""
        with self._guard:
            if query in self._queries:
                self._queries.discard(query)
                self._release_if_idle(failed=failed, despite_holders=failed)

    def release(self) -> None:
        """Lets go of locks, unless somebody reads: what reads later takes them again."""
        self._release_if_idle()

    def commit(self) -> None:
        """Commits what is open."""
        self._end(ConnectorTransaction.commit)

    def rollback(self) -> None:
        """Rolls back what is open."""
        self._end(ConnectorTransaction.rollback)

    @property
    def _is_inherited(self) -> bool:
        """Whether this is a process that was forked: the transactions are its parent's, who still reads in them."""
        return self._process != os.getpid()

    def _unseen_read_ended(self) -> None:
        with self._guard:
            self._unseen_reads = max(0, self._unseen_reads - 1)
            self._release_if_idle()

    def _release_if_idle(self, *, failed: bool = False, despite_holders: bool = False) -> None:
        with self._guard:
            is_read = self._queries or self._unseen_reads or (self._holders and not despite_holders)
            if self._ended or self._is_inherited or is_read:
                return
            with ExitStack() as stack:  # an error of one keeps none of the others from its turn
                for begun in self._begun:
                    stack.callback(begun.transaction.release, failed=failed)

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
                    stack.callback(how, one.transaction)


class SharedTransactions:
    """Keeps a group open; when nobody has this object any more, the group is committed.

    Args:
        registry: The catalogs.

    Attributes:
        group: The transactions; whoever has only them does not keep them open.
    """

    __slots__ = ("__weakref__", "group")

    def __init__(self, registry: CatalogRegistry) -> None:
        CLEANUP.start()
        self.group = TransactionGroup(registry)
        finish = weakref.finalize(self, CLEANUP.later, self.group.commit)
        # At the end of the process the groups themselves are asked, since the thread may be gone before.
        finish.atexit = False


def open_groups() -> list[TransactionGroup]:
    """All groups of the process in which something was begun and not ended."""
    return list(_open)


def commit_all(registry: CatalogRegistry | None = None) -> None:
    """Ends all groups of a registry, or of the process, for nobody will read in them any more."""
    with ExitStack() as stack:
        stack.callback(CLEANUP.wait)
        for group in open_groups():
            if registry is None or group.registry is registry:
                stack.callback(group.commit)


_open: set[TransactionGroup] = set()
atexit.register(commit_all)
