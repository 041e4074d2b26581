"""A read with no Spark as a stream of batches, which ends its statement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pyarrow as pa

from catalog.registry import SESSION_CLOSED
from connector_spi.errors import FileMissingError, UserError
from lakeport.transactions.statement import Statement

__all__ = ["ArrowScan", "ArrowStream", "close_batches"]


@dataclass(frozen=True, slots=True)
class ArrowScan:
    """A read that was planned: everything that can be wrong with its names has been said.

    Attributes:
        schema: Of every batch.
        batches: The rows; closing the iterator frees files and ends the statement.
    """

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


class ArrowStream(Iterator[pa.RecordBatch]):
    """The batches of a read; rolls its statement back when they fail, else commits it at their end.

    Args:
        statement: What the read belongs to.
        scan: The read.
        begin: Plans the read again, with a new snapshot: done once where a file of the snapshot is gone (cleaned away
            between listing and reading) and no batch was given yet. ``None`` where that must not be.
    """

    def __init__(
        self, statement: Statement, scan: ArrowScan, begin: Callable[[], tuple[Statement, ArrowScan]] | None = None
    ) -> None:
        self._statement: Statement | None = statement
        self._batches: Iterator[pa.RecordBatch] | None = scan.batches
        self._schema = scan.schema
        self._begin = begin
        self._ended = False
        self._on_close: Callable[[], object] | None = None
        # The session may be closed in another thread than the one that reads.
        self._lock = threading.RLock()

    def __next__(self) -> pa.RecordBatch:
        with self._lock:
            return self._next_or_end()

    def _next_or_end(self) -> pa.RecordBatch:
        if self._batches is None:
            if self._ended:
                raise StopIteration
            # Never as if the table ended here: rows would be missing.
            raise UserError("the session was closed while the table was read; read it again", SESSION_CLOSED)
        try:
            batch = self._next(self._batches)
            self._begin = None
            return batch
        except StopIteration:
            self._ended = True
            self.close()
            raise
        except BaseException:
            if self._statement is not None:
                self._statement.fail()
            self.close()
            raise

    def _next(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch:
        try:
            return next(batches)
        except FileMissingError:
            begin, self._begin = self._begin, None
            if begin is None:
                raise
            if self._statement is not None:
                self._statement.fail()
            self._statement, again = begin()
            if again.schema != self._schema:
                raise
            self._batches = again.batches
            return next(again.batches)

    def on_close(self, call: Callable[[], object]) -> None:
        """Has something called when the read ends, maybe more than once."""
        self._on_close = call

    def close(self) -> None:
        """Ends the read, after the batch that is being read; where rows were left, a later ``next`` is an error."""
        with self._lock, ExitStack() as stack:
            batches, self._batches = self._batches, None
            statement, self._statement = self._statement, None
            if self._on_close is not None:
                stack.callback(self._on_close)
            if statement is not None:
                stack.callback(statement.commit)
            if batches is not None:
                stack.callback(close_batches, batches)


def close_batches(batches: Iterator[pa.RecordBatch]) -> None:
    """Closes batches that can be: frees their files."""
    close = getattr(batches, "close", None)
    if close is not None:
        close()
