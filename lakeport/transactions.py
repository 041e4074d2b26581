"""The transactions that the tables of a statement share, who reads in them, and when they end."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from catalog.registry import CatalogRegistry
from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.errors import UserError
from connector_spi.metadata import ConnectorMetadata
from connector_spi.session import ConnectorSession
from lakeport.cleanup import CLEANUP

__all__ = ["BegunTransaction", "SharedTransactions", "TransactionGroup", "commit_all"]


@dataclass(frozen=True, slots=True)
class BegunTransaction:
    """A transaction of one catalog.

    Attributes:
        transaction: The transaction.
        metadata: Answers inside of it; guarded by ``lock``.
        lock: Held around each call of ``metadata``.
    """

    transaction: ConnectorTransaction
    metadata: ConnectorMetadata
    lock: threading.RLock


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
        self._begun: dict[Hashable, BegunTransaction] = {}
        self._ended = False
        self._holders = 0
        self._queries: set[int] = set()
        self._is_read_unseen = False

    def begin(self, key: Hashable, connector: Connector, session: ConnectorSession) -> BegunTransaction:
        """The transaction of ``key``; begins at the first call.

        Args:
            key: Tells one catalog from the other.
            connector: The live catalog.
            session: The facts of the query that asks; of those that ask later, nothing is looked at.

        Raises:
            UserError: The transactions have ended.
        """
        with self._guard:
            if self._ended:
                raise UserError("the transaction of this statement has ended; run the statement again")
            found = self._begun.get(key)
            if found is None:
                transaction = connector.begin_transaction(session)
                metadata = connector.get_metadata(transaction)
                found = self._begun[key] = BegunTransaction(transaction, metadata, threading.RLock())
                _open.add(self)
            return found

    @property
    def takes_locks(self) -> bool:
        """Whether any of the transactions holds locks, or will again when something is read."""
        return any(begun.transaction.takes_locks for begun in list(self._begun.values()))

    def hold(self) -> None:
        """Somebody may read any time: locks stay until ``let_go``."""
        with self._guard:
            self._holders += 1

    def let_go(self, *, failed: bool = False, finally_: bool = False) -> None:
        """The reverse of ``hold``.

        Args:
            failed: What was read failed.
            finally_: Also what reads unseen, outside of Spark's queries, is over.
        """
        with self._guard:
            self._holders -= 1
            if finally_:
                self._is_read_unseen = False
            self._release_if_idle(failed)

    def query_began(self, query: int | None) -> None:
        """A query plans to read; ``None`` is something that will not say when it has ended."""
        with self._guard:
            if query is None:
                self._is_read_unseen = True
            else:
                self._queries.add(query)

    def query_ended(self, query: int, *, failed: bool) -> None:
        """A query has ended; one that failed lets go of locks though its frame may still be held."""
        with self._guard:
            if query in self._queries:
                self._queries.discard(query)
                self._release_if_idle(failed, despite_holders=failed)

    def commit(self) -> None:
        """Commits what is open."""
        self._end(ConnectorTransaction.commit)

    def rollback(self) -> None:
        """Rolls back what is open."""
        self._end(ConnectorTransaction.rollback)

    def _release_if_idle(self, failed: bool, *, despite_holders: bool = False) -> None:
        if self._ended or self._queries or self._is_read_unseen or (self._holders and not despite_holders):
            return
        for begun in self._begun.values():
            begun.transaction.release(failed=failed)

    def _end(self, how: Callable[[ConnectorTransaction], None]) -> None:
        with self._guard:
            if self._ended:
                return
            self._ended = True
            begun = list(self._begun.values())
            self._begun.clear()
            _open.discard(self)
        for one in begun:
            if one.transaction.state is TransactionState.OPEN:
                how(one.transaction)


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


def commit_all(registry: CatalogRegistry | None = None) -> None:
    """Ends all groups of a registry, or of the process, for nobody will read in them any more."""
    for group in list(_open):
        if registry is None or group.registry is registry:
            group.commit()
    CLEANUP.wait()


_open: set[TransactionGroup] = set()
atexit.register(commit_all)
