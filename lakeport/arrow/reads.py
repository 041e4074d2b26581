"""Runs reads with no Spark: each in a statement, all of them ended with the session."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import pyarrow as pa

from catalog.registry import CatalogRegistry
from connector_spi.errors import UserError
from lakeport.arrow.reading import ArrowScan, ArrowStream, open_scan
from lakeport.arrow.scan_request import ScanRequest
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.group import SharedTransactions
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import Statement, statement_scope

__all__ = ["ArrowReads"]

_queries = itertools.count(-1, -1)
"""Numbers of reads; those that Spark gives its queries are not negative."""


class ArrowReads:
    """The reads of a session.

    Args:
        catalogs: What they read.
    """

    def __init__(self, catalogs: CatalogRegistry) -> None:
        self._catalogs = catalogs
        self._process = os.getpid()
        self._streams: weakref.WeakSet[ArrowStream] = weakref.WeakSet()

    def read(self, plan: Callable[[Statement], ArrowScan], shared: SharedTransactions | None) -> pa.RecordBatchReader:
        """Starts a read.

        Args:
            plan: Plans it inside of a statement; the snapshot is fixed there.
            shared: Transactions of a block, whose snapshot is never made anew; ``None`` for some of its own.
        """

        def begin() -> tuple[Statement, ArrowScan]:
            statement = self._statement(shared)
            with statement_scope(statement):
                return statement, plan(statement)

        statement, scan = begin()
        stream = ArrowStream(statement, scan, begin if shared is None else None)
        self._streams.add(stream)
        return pa.RecordBatchReader.from_batches(scan.schema, stream)

    def schema(self, request: ScanRequest, shared: SharedTransactions) -> pa.Schema:
        """What a read gives; everything that can be wrong with its names is said."""
        statement = self._statement(shared)
        with statement_scope(statement):
            return open_scan(statement, request).schema

    def read_again(self, request: ScanRequest, shared: SharedTransactions) -> pa.RecordBatchReader:
        """Starts one of several reads that see one snapshot.

        Args:
            request: What to read.
            shared: Whose transactions they are; locks are let go when none of them runs.
        """
        statement = self._statement(shared)
        with statement_scope(statement):
            scan = open_scan(statement, request)
        stream = ArrowStream(statement, scan)
        query = next(_queries)
        shared.group.query_began(query)
        ended = weakref.finalize(stream, CLEANUP.later, partial(shared.group.query_ended, query, failed=False))
        ended.atexit = False
        stream.on_close(ended)
        self._streams.add(stream)
        return pa.RecordBatchReader.from_batches(scan.schema, stream)

    def close(self) -> None:
        """Ends what is open; whoever reads on gets an error."""
        with ExitStack() as stack:
            for stream in list(self._streams):
                stack.callback(stream.close)

    def _statement(self, shared: SharedTransactions | None) -> Statement:
        if os.getpid() != self._process:
            # Both processes would speak through one connection, and read each other's answers.
            raise UserError(
                f"the session was opened in process {self._process}, from which this one, {os.getpid()}, was forked; "
                "open a session of its own here with lakeport.connect()"
            )
        return plain_statement(self._catalogs, shared)
