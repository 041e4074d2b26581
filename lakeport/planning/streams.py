"""A table read as a stream: where it begins, how far a batch goes, and what a batch reads. Needs no Spark.

Each question has a statement of its own, that is ended at once; that of a batch lives until the batch is over, so that
its locks keep the files that the tasks read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, NotSupportedError, TableNotFoundError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.streaming import StreamStart, SupportsStreaming
from connector_spi.predicate import TupleDomain
from lakeport.planning.redirection import redirected
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan, plan_splits
from lakeport.transactions.cleanup import CLEANUP
from lakeport.transactions.statement import CatalogAccess, Statement, statement_scope

__all__ = ["PlannedBatch", "StreamLimits", "StreamRequest", "TableStream"]

_Answer = TypeVar("_Answer")

_POLL_SECONDS = 0.2
"""A stream with nothing new asks again after this; Spark itself would ask a hundred times a second."""


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """What a batch may hold at most; ``None`` is no limit. One version always goes, however large it is.

    Attributes:
        versions: Versions of the table.
        files: Files to read, or splits of connectors that count no files.
        size_bytes: Bytes to read.
    """

    versions: int | None = None
    files: int | None = None
    size_bytes: int | None = None

    def allow(self, planned: PlannedSplits) -> bool:
        """Whether what was planned is within the limits of files and bytes."""
        files = planned.summary.files_kept
        count = len(planned.splits) if files is None else files
        return (self.files is None or count <= self.files) and (
            self.size_bytes is None or planned.size_bytes <= self.size_bytes
        )


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """What is asked for.

    Attributes:
        name: The table.
        columns: Name and type of the columns of each row.
        changes: Rows are changes, and ``columns`` has the columns of changes, too.
        start: Where the stream begins.
        limits: Of each batch.
    """

    name: CatalogSchemaTableName
    columns: tuple[tuple[str, pa.DataType], ...]
    changes: bool
    start: StreamStart
    limits: StreamLimits


@dataclass(frozen=True, slots=True)
class PlannedBatch:
    """One batch, with all that keeps its files.

    Attributes:
        start: Exclusive.
        end: Inclusive.
        access: The catalog in the batch's statement.
        table: The handle.
        columns: Handles of the request's columns.
        planned: The splits.
    """

    start: str
    end: str
    access: CatalogAccess
    table: TableHandle
    columns: tuple[ColumnHandle, ...]
    planned: PlannedSplits


class TableStream:
    """One stream over one table.

    Args:
        new_statement: Makes a statement that no one else ends.
        request: What is asked for.
    """

    def __init__(self, new_statement: Callable[[], Statement], request: StreamRequest) -> None:
        self._new_statement = new_statement
        self._request = request
        self._guard = threading.RLock()
        self._batch: PlannedBatch | None = None
        self._until: str | None = None
        self._idle_since: float | None = None

    def initial_offset(self) -> str:
        """Where the stream begins, as things are now.

        Raises:
            TableNotFoundError: There is no such table.
            NotSupportedError: It cannot be read as a stream.
            InvalidArgumentError: It has no such version.
        """
        with self._ask() as (access, name, metadata):
            return _found(metadata.get_initial_offset(access.session, name.schema_table, self._request.start), name)

    def latest_offset(self, start: str, *, limited: bool) -> str:
        """How far the batch after ``start`` goes; the batch before is over.

        Args:
            start: Where it begins.
            limited: Whether the request's limits count.

        Returns:
            ``start`` where there is nothing new.
        """
        self.end_batch()
        limits = self._request.limits if limited else StreamLimits()
        self._wait()
        end = self._latest(start, limits.versions)
        self._idle_since = time.monotonic() if end == start else None
        if end == start or (limits.files is None and limits.size_bytes is None):
            return end
        if limits.allow(self.plan(start, end).planned):
            return end
        return self._within(start, end, limits)

    def stop_at_newest(self, start: str) -> None:
        """From now on no batch goes beyond what the table has now.

        Args:
            start: Any place of the stream.
        """
        self._until = None
        self._until = self._latest(start, None)

    def plan(self, start: str, end: str) -> PlannedBatch:
        """What a batch reads; asked again, the same. Its files are kept until ``end_batch``.

        Raises:
            InvalidArgumentError: Rows of the batch are no longer there, or the table has other columns by now.
        """
        with self._guard:
            found = self._batch
            if found is None or (found.start, found.end) != (start, end):
                self.end_batch()
                found = self._batch = self._planned(start, end)
            return found

    def end_batch(self, end: str | None = None) -> None:
        """Releases what keeps the files of the batch, if there is one.

        Args:
            end: Only if the batch ends there; ``None`` for whichever it is.
        """
        with self._guard:
            batch = self._batch
            if batch is None or (end is not None and batch.end != end):
                return
            self._batch = None
        batch.access.statement.commit()

    def end_batch_soon(self, end: str) -> None:
        """As ``end_batch``, in another thread: returns at once."""
        CLEANUP.later(lambda: self.end_batch(end))

    def _within(self, start: str, end: str, limits: StreamLimits) -> str:
        """The longest of 1, 2, 4 ... versions within the limits; one version at least."""
        last, count = start, 1
        while limits.versions is None or count <= limits.versions:
            reached = self._latest(start, count)
            if last != start and (reached in (last, end) or not limits.allow(self.plan(start, reached).planned)):
                break
            last, count = reached, count * 2
        return end if last == start else last

    def _latest(self, start: str, max_versions: int | None) -> str:
        with self._ask() as (access, name, metadata):
            found = metadata.get_latest_offset(access.session, name.schema_table, start, max_versions, self._until)
            return _found(found, name)

    def _wait(self) -> None:
        if self._idle_since is not None:
            time.sleep(max(0.0, self._idle_since + _POLL_SECONDS - time.monotonic()))

    def _planned(self, start: str, end: str) -> PlannedBatch:
        statement = self._new_statement()
        with statement_scope(statement):
            access, name, metadata = self._streaming(statement)
            with access.lock:
                asked = metadata.get_stream_batch(
                    access.session, name.schema_table, start, end, changes=self._request.changes
                )
                table = _found(asked, name)
                columns = self._columns(access, table)
            everything = TupleDomain[ColumnHandle].all()
            plan = ScanPlan(access, table, columns, everything, everything).with_columns(columns)
            return PlannedBatch(
                start=start,
                end=end,
                access=access,
                table=plan.table,
                columns=plan.columns,
                planned=plan_splits(plan),
            )

    def _columns(self, access: CatalogAccess, table: TableHandle) -> tuple[ColumnHandle, ...]:
        """The columns of a batch, which have to be those that the query was started with."""
        handles = access.metadata.get_column_handles(access.session, table)
        now = access.metadata.get_table_metadata(access.session, table).visible_columns()
        met = tuple((column.name, column.type) for column in now)
        if met != self._request.columns:
            then = dict(self._request.columns)
            other = [f"{name} {kind}" for name, kind in met if then.get(name) != kind]
            gone = [name for name in then if name not in dict(met)]
            words = [f"new or of another type: {', '.join(other)}"] * bool(other)
            words += [f"gone: {', '.join(gone)}"] * bool(gone)
            raise InvalidArgumentError(
                f"the columns of table {self._request.name} have changed since this query was started "
                f"({'; '.join(words) or 'another order'}); start it again from its checkpoint, with the new columns"
            )
        return tuple(handles[name] for name, _ in met)

    @contextmanager
    def _ask(self) -> Iterator[tuple[CatalogAccess, CatalogSchemaTableName, SupportsStreaming]]:
        statement = self._new_statement()
        with statement_scope(statement):
            access, name, metadata = self._streaming(statement)
            with access.lock:
                yield access, name, metadata
        statement.commit()

    def _streaming(self, statement: Statement) -> tuple[CatalogAccess, CatalogSchemaTableName, SupportsStreaming]:
        asked = self._request.name
        access, name = redirected(statement.access(asked.catalog), asked)
        if not isinstance(access.metadata, SupportsStreaming):
            raise NotSupportedError(f"table {asked} cannot be read as a stream: its catalog has none")
        return access, name, access.metadata


def _found(answer: _Answer | None, name: CatalogSchemaTableName) -> _Answer:
    if answer is None:
        raise TableNotFoundError(f"table {name} is no longer there, and a stream reads it")
    return answer
