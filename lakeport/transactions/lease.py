"""Reading in transactions: who does, when locks are released, and when the transactions end."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import ParamSpec

from catalog.registry import CatalogRegistry
from catalog.resolver import check_not_hidden
from connector_spi.connector import Connector
from connector_spi.errors import NotSupportedError
from connector_spi.session import ConnectorSession
from lakeport.scan_facts import ScanFacts
from lakeport.transactions.catalog_transactions import CatalogTransactions, TransactionKey, open_transactions
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.kept_tables import BegunTransaction

__all__ = ["ReadLease", "commit_all", "notify_query_ended"]

Parameters = ParamSpec("Parameters")

_UNREAD_SECONDS = 10.0
"""A frame that is gone may have others made of it that are about to be read."""
_UNSEEN_SECONDS = 600.0
"""What reads unseen, such as ``df.rdd``, has its locks for so long from when it was planned."""
_KEPT_SCANS = 1000
"""A block may be open for long."""


class ReadLease:
    """What is read in it sees one transaction of each catalog, which lasts for as long as this object lives.

    Statements and their tables refer to it, and so do scans and blocks: these are its owners. The transactions end
    together, once: by ``commit`` or ``rollback``, or by a commit when the last owner is gone or the process ends.

    Their locks may be released before. The lease knows who reads (queries, streams of batches) and who may read any
    time (frames, blocks). When the last of them is gone locks are released; the transactions stay, so that a table
    that is read once more sees the same.

    Args:
        registry: The catalogs.
        of_one_statement: It lasts for one statement, which may add rows in a transaction of its own.
        of_writes: Rows are written in its transactions: where no one ends them, they are rolled back.
    """

    def __init__(self, registry: CatalogRegistry, *, of_one_statement: bool = False, of_writes: bool = False) -> None:
        CLEANUP.start()
        self.of_one_statement = of_one_statement
        self._transactions = CatalogTransactions(registry, of_writes=of_writes)
        self._writes: ReadLease | None = None
        self._written: set[tuple[str, str]] = set()
        self._guard = threading.RLock()
        self._holders = 0
        self._readers: set[Hashable] = set()
        self._scans: dict[int, ScanFacts] = {}
        ended = weakref.finalize(self, CLEANUP.later, self._transactions.abandon)
        # At the end of the process the transactions themselves are asked, since the thread may be gone before.
        ended.atexit = False
        _leases.add(weakref.ref(self, _leases.discard))

    @property
    def registry(self) -> CatalogRegistry:
        """The catalogs."""
        return self._transactions.registry

    @property
    def takes_locks(self) -> bool:
        """Whether any of the transactions holds locks, or will again when something is read."""
        return self._transactions.takes_locks

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
        """The transaction of a catalog; as of ``CatalogTransactions.begin``."""
        return self._transactions.begin(key, connector, session)

    def check_not_hidden(self, column: str) -> None:
        """Refuses a column that no table has for who asks, and that one has for others.

        Raises:
            AccessDeniedError: One of the tables that were resolved has it.
        """
        for table in self._transactions.resolved_tables():
            check_not_hidden(table, column)

    def redefined(self, catalog: str, schema: str | None = None, table: str | None = None) -> None:
        """A definition or a procedure has changed a catalog; as of ``CatalogTransactions.redefined``."""
        self._transactions.redefined(catalog, schema, table)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Within the block locks stay. At its end all reading is over, also what reads unseen; frames may be kept."""
        with self._guard:
            self._holders += 1
        failed = True
        try:
            yield
            failed = False
        finally:
            with self._guard:
                self._holders -= 1
                # Spark never says that some have ended, such as a DataFrame that is read as an RDD.
                self._readers.clear()
                self._release_if_idle(failed=failed, despite_holders=True)

    def writes(self) -> ReadLease:
        """The transactions that the statements of a block write in, apart from those that they read in."""
        with self._guard:
            if self._writes is None:
                self._writes = ReadLease(self.registry, of_writes=True)
            return self._writes

    @contextmanager
    def ending_writes(self) -> Iterator[None]:
        """At the end of the block all that its statements have written becomes visible, or nothing if it fails.

        Raises:
            ConnectorError: A catalog has refused to commit, such as for a conflict; nothing of it is visible there.
        """
        try:
            yield
        except BaseException:
            self._end_writes(ReadLease.rollback)
            raise
        self._end_writes(ReadLease.commit)

    def note_written(self, catalog: str, table: str) -> None:
        """A statement of a block has written to a table."""
        with self._guard:
            self._written.add((catalog, table))

    def check_unwritten(self, catalog: str, table: str) -> None:
        """Refuses to read a table in a block that has written to it, since the rows would be those of before.

        Raises:
            NotSupportedError: It has.
        """
        with self._guard:
            if (catalog, table) in self._written:
                raise NotSupportedError(
                    f"{catalog}.{table} cannot be read in a session.transaction() that has written to it: its new rows "
                    "are visible when the block has ended; read it before, or after the block"
                )

    def _end_writes(self, how: Callable[[ReadLease], None]) -> None:
        with self._guard:
            writes, self._writes = self._writes, None
            self._written.clear()
        if writes is not None:
            how(writes)

    def acquire_while_alive(self, frame: object) -> None:
        """Has locks stay for as long as an object lives that may be read any time."""
        with self._guard:
            self._holders += 1
        gone = weakref.finalize(frame, CLEANUP.later, _unless_gone(self._holder_gone))
        gone.atexit = False

    def acquire_until_closed(self, stream: object) -> Callable[[], object]:
        """Something begins to read.

        Args:
            stream: What reads; it has ended when this object is gone.

        Returns:
            What says that it has ended before; may be called more than once.
        """
        reader = object()
        self.acquire(reader)
        ended = weakref.finalize(stream, CLEANUP.later, _unless_gone(self.release, reader))
        ended.atexit = False
        return ended

    def acquire_unseen(self) -> None:
        """Something begins to read that will not say when it has ended."""
        reader = object()
        self.acquire(reader)
        CLEANUP.after(_UNSEEN_SECONDS, _unless_gone(self.release, reader))

    def acquire(self, reader: Hashable) -> None:
        """A query begins to read."""
        with self._guard:
            self._readers.add(reader)

    def release(self, reader: Hashable, *, failed: bool = False) -> None:
        """A query has ended; one that failed releases locks though its frame may still be there."""
        with self._guard:
            if reader in self._readers:
                self._readers.discard(reader)
                self._release_if_idle(failed=failed, despite_holders=failed)

    def release_if_unread(self) -> None:
        """Releases locks, unless something reads."""
        self._release_if_idle()

    def commit(self) -> None:
        """Ends the transactions well."""
        self._transactions.commit()

    def rollback(self) -> None:
        """Ends the transactions after a failure."""
        self._transactions.rollback()

    def cancel(self) -> None:
        """Rolls back soon, in another thread: whoever reads may be waiting for a lock."""
        CLEANUP.later(self.rollback)

    def _holder_gone(self) -> None:
        with self._guard:
            self._holders -= 1
        CLEANUP.after(_UNREAD_SECONDS, _unless_gone(self._release_if_idle))

    def _release_if_idle(self, *, failed: bool = False, despite_holders: bool = False) -> None:
        with self._guard:
            if not self._readers and (despite_holders or not self._holders):
                self._transactions.release(failed=failed)


def notify_query_ended(query: Hashable, *, failed: bool) -> None:
    """A query has ended, whichever leases it read in; returns at once."""
    for reference in list(_leases):
        lease = reference()
        if lease is not None:
            CLEANUP.later(partial(lease.release, query, failed=failed))


def commit_all(registry: CatalogRegistry | None = None) -> None:
    """Ends what is open in the catalogs of a registry, or in the process: no one will read in it any more."""
    with ExitStack() as stack:
        stack.callback(CLEANUP.wait)
        for transactions in open_transactions():
            if registry is None or transactions.registry is registry:
                stack.callback(transactions.abandon)


def _unless_gone(
    method: Callable[Parameters, None], *arguments: Parameters.args, **named: Parameters.kwargs
) -> Callable[[], None]:
    """Calls a method of a lease that does not live for it: the transactions of one that is gone are ended anyway."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        found = reference()
        if found is not None:
            found(*arguments, **named)

    return call


_leases: set[weakref.ref[ReadLease]] = set()
atexit.register(commit_all)
