"""Runs reads with no Spark: each in a statement, all of them ended with the session."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from contextlib import ExitStack

import pyarrow as pa

from catalog.registry import CatalogRegistry
from connector_spi.errors import UserError
from lakeport.arrow.reading import open_scan
from lakeport.arrow.scan_request import ScanRequest
from lakeport.arrow.stream import ArrowScan, ArrowStream
from lakeport.scan_facts import ScanObserver
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import PropertySource, Statement, statement_scope

__all__ = ["ArrowReads"]


class ArrowReads:
    """The reads of a session.

    Args:
        catalogs: What they read.
        properties: Gives the session properties that are set for a catalog; ``None``: all have their defaults.
        observer: Who wants to know of all scans.
    """

    def __init__(
        self,
        catalogs: CatalogRegistry,
        properties: PropertySource | None = None,
        observer: ScanObserver | None = None,
    ) -> None:
        self._catalogs = catalogs
        self._properties = properties
        self._observer = observer
        self._process = os.getpid()
        self._streams: weakref.WeakSet[ArrowStream] = weakref.WeakSet()

    def read(self, plan: Callable[[Statement], ArrowScan], lease: ReadLease | None) -> pa.RecordBatchReader:
        """Starts a read.

        Args:
            plan: Plans it inside of a statement; the snapshot is fixed there.
            lease: Of a block, whose snapshot is never made anew; ``None`` for one of its own.
        """

        def begin() -> tuple[Statement, ArrowScan]:
            statement = self.statement(lease)
            with statement_scope(statement):
                return statement, plan(statement)

        statement, scan = begin()
        stream = ArrowStream(statement, scan, begin if lease is None else None)
        self._streams.add(stream)
        return pa.RecordBatchReader.from_batches(scan.schema, stream)

    def schema(self, request: ScanRequest, lease: ReadLease) -> pa.Schema:
        """What a read gives; everything that can be wrong with its names is said."""
        statement = self.statement(lease)
        # It never runs.
        statement.observer = None
        with statement_scope(statement):
            return open_scan(statement, request).schema

    def show(self, request: ScanRequest, lease: ReadLease) -> None:
        """Plans a read for the observer, and does not run it."""
        statement = self.statement(lease)
        with statement_scope(statement):
            open_scan(statement, request)

    def read_again(self, request: ScanRequest, lease: ReadLease) -> pa.RecordBatchReader:
        """Starts one of several reads that see one snapshot.

        Args:
            request: What to read.
            lease: On the transactions of all of them; locks are released when none of them runs.
        """
        statement = self.statement(lease)
        with statement_scope(statement):
            scan = open_scan(statement, request)
        stream = ArrowStream(statement, scan)
        stream.on_close(lease.acquire_until_closed(stream))
        self._streams.add(stream)
        return pa.RecordBatchReader.from_batches(scan.schema, stream)

    def statement(self, lease: ReadLease | None) -> Statement:
        """A statement of the session.

        Raises:
            UserError: This process was forked from the session's.
        """
        if os.getpid() != self._process:
            # Both processes would speak through one connection, and read each other's answers.
            raise UserError(
                f"the session was opened in process {self._process}, from which this one, {os.getpid()}, was forked; "
                "open a session of its own here with lakeport.connect()"
            )
        statement = plain_statement(self._catalogs, lease, self._properties)
        statement.observer = self._observer
        return statement

    def observed(self, observer: ScanObserver) -> ArrowReads:
        """The same for a statement that is explained; to be closed after it."""
        return ArrowReads(self._catalogs, self._properties, observer)

    def close(self) -> None:
        """Ends what is open; whoever reads on gets an error."""
        with ExitStack() as stack:
            for stream in list(self._streams):
                stack.callback(stream.close)
