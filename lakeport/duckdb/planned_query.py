"""A query that is ready to run."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import duckdb
import pyarrow as pa

from connector_spi.errors import ConnectorError, UserError
from lakeport.arrow.filters.conditions import RowTest
from lakeport.arrow.filters.pruning import both
from lakeport.duckdb.binding_errors import binding_error
from lakeport.duckdb.cancelling import Calls, LocalWork, cancelled
from lakeport.duckdb.tables.join_keys import JoinKeys
from lakeport.frames.duckdb_scan import ScanDataset
from lakeport.frames.open_reader import OpenReader
from lakeport.frames.table_scan import TableScan
from lakeport.transactions.lease import ReadLease

__all__ = ["COUNTED", "PlannedQuery"]

_BATCH_ROWS = 65536
COUNTED = pa.schema([("lakeport_row", pa.bool_())])
"""What DuckDB reads of a table of which a query needs no columns."""


class _OpenFiles(Protocol):
    def begin(self) -> None: ...


class PlannedQuery:
    """A query of DuckDB and the views that it reads.

    Args:
        cursor: Of its own: what is registered there no other query sees.
        text: The query.
        names: Of its results; DuckDB gives those that are there twice others. ``None``: those that DuckDB gives.
        lease: On the transactions in which its tables are read.

    Attributes:
        cursor: Of its own.
        columns: Names of the columns of its tables, for messages.
        calls: Of DuckDB; others may cancel them.
    """

    def __init__(
        self, cursor: duckdb.DuckDBPyConnection, text: str, names: Sequence[str] | None, lease: ReadLease
    ) -> None:
        self.cursor = cursor
        self.columns: Sequence[str] = ()
        self._lease = lease
        self._text = text
        self._names = names
        self.calls = Calls(cursor.interrupt)
        self._reads = _Reads(self.calls.work)
        self._kept: list[_OpenFiles] = []
        with self._errors():
            cursor.execute("SET TimeZone = 'UTC'")

    def noted(self) -> AbstractContextManager[None]:
        """As of ``ReadingQuery``."""
        return self._reads.noted()

    def forget_errors(self) -> None:
        """As of ``ReadingQuery``."""
        self._reads.failures.clear()

    def keep(self, files: _OpenFiles) -> None:
        """As of ``ReadingQuery``."""
        self._kept.append(files)

    @property
    def rows_read(self) -> int:
        """Rows of tables that DuckDB got from here, of all runs."""
        return self._reads.rows

    def define(self, view: str, query: str) -> None:
        """Has the query read what another one gives under the name of a view."""
        with self._errors():
            self.cursor.execute(f"CREATE TEMP VIEW {view} AS {query}")

    def share(self, view: str, query: str, *, is_kept: bool) -> None:
        """As ``define``; rows that the query reads more than once are kept while it runs."""
        if not is_kept or self._text.startswith("WITH RECURSIVE "):
            self.define(view, query)
            return
        known = self._text.removeprefix("WITH ")
        separator = " " if known == self._text else ", "
        self._text = f"WITH {view} AS MATERIALIZED ({query}){separator}{known}"

    def register(self, view: str, scan: TableScan, enough: RowTest, most: int | None, keys: JoinKeys) -> None:
        """Has the query read a table under the name of a view.

        Args:
            view: The view.
            scan: The table.
            enough: Rows outside of it may be left out.
            most: So many rows are enough; ``None`` for all.
            keys: By which it is joined.
        """

        def opened(
            columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
        ) -> pa.RecordBatchReader:
            limits = [one for one in (limit, most) if one is not None]
            rows = enough if needed is None else both(enough, needed)
            reader = scan.reader_of(columns, keys.narrowed(rows), min(limits, default=None))
            return keys.noting(reader, rows)

        self.cursor.register(view, ScanDataset(scan.schema, self._reads.noting(opened), may_filter=most is None))

    def register_count(self, view: str, scan: TableScan, enough: RowTest, most: int | None) -> None:
        """As ``register``, of a table of which the query needs no columns: rows are counted, and mostly not read."""

        def opened(
            columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
        ) -> pa.RecordBatchReader:
            return pa.RecordBatchReader.from_batches(COUNTED, _counted(scan.reader_of([], enough, most)))

        self.cursor.register(view, ScanDataset(COUNTED, self._reads.noting(opened), may_filter=False))

    def register_rows(self, view: str, schema: pa.Schema, open_reader: OpenReader) -> None:
        """Has the query read rows of a schema under the name of a view."""
        self.cursor.register(view, ScanDataset(schema, self._reads.noting(open_reader), may_filter=True))

    def explained(self, *, run: bool) -> str:
        """DuckDB's plan as JSON, after a run with all its counts."""
        with self._errors():
            if not run:
                return str(self.cursor.execute(f"EXPLAIN (FORMAT JSON) {self._text}").fetchall()[0][1])
            ended = self._lease.acquire_until_closed(self)
            try:
                return str(self.cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {self._text}").fetchall()[0][1])
            finally:
                ended()

    def logical(self) -> str:
        """DuckDB's optimized logical plan."""
        with self._errors():
            self.cursor.execute("SET explain_output = 'optimized_only'")
            return str(self.cursor.execute(f"EXPLAIN {self._text}").fetchall()[0][1]).rstrip()

    def relation(self) -> duckdb.DuckDBPyRelation:
        """The query, not run."""
        with self._errors():
            return self.cursor.sql(self._text)

    def schema(self) -> pa.Schema:
        """What it gives."""
        with self._errors():
            return self._named(self.relation().limit(0).to_arrow_table().schema)

    def reader(self) -> pa.RecordBatchReader:
        """Runs it."""
        self.forget_errors()
        for files in self._kept:
            files.begin()
        relation = self.relation()
        with self._errors():
            rows = relation.to_arrow_reader(_BATCH_ROWS)
        schema = self._named(rows.schema)
        batches = self._batches(rows, schema)
        self._lease.acquire_until_closed(batches)
        return pa.RecordBatchReader.from_batches(schema, batches)

    def _named(self, schema: pa.Schema) -> pa.Schema:
        if self._names is None:
            return schema
        return pa.schema([one.with_name(name) for one, name in zip(schema, self._names, strict=True)])

    def _batches(self, rows: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        while True:
            with self._errors():
                batch = next(rows, None)
            if batch is None:
                return
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with self.calls.call():
                yield
        except (duckdb.Error, OSError, pa.ArrowException) as error:
            if isinstance(error, duckdb.InterruptException):
                raise cancelled() from error
            if self._reads.failures:
                raise self._reads.failures[0] from error
            if isinstance(error, duckdb.BinderException | duckdb.ParserException | duckdb.CatalogException):
                raise binding_error(str(error), self.columns, is_translated=self._names is not None) from error
            way_out = "; the engine spark may have more digits" if isinstance(error, duckdb.OutOfRangeException) else ""
            raise UserError(f"DuckDB failed: {str(error).strip()}{way_out}") from error


def _counted(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    with reader:
        for batch in reader:
            yield pa.RecordBatch.from_arrays([pa.nulls(batch.num_rows, pa.bool_())], schema=COUNTED)


class _Reads:
    """What DuckDB reads of tables. It keeps this alive, so this must not keep DuckDB's connection."""

    def __init__(self, work: LocalWork) -> None:
        self._work = work
        self.failures: list[ConnectorError] = []
        self.rows = 0
        self._guard = threading.Lock()

    def noting(self, open_reader: OpenReader) -> OpenReader:
        """Keeps the errors of reads, of which DuckDB gives the text alone."""

        def opened(
            columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
        ) -> pa.RecordBatchReader:
            with self.noted():
                reader = open_reader(columns, needed, limit)
            return pa.RecordBatchReader.from_batches(reader.schema, self._noted_batches(reader))

        return opened

    @contextmanager
    def noted(self) -> Iterator[None]:
        try:
            self._work.check()
            yield
        except ConnectorError as error:
            self.failures.append(error)
            raise

    def _noted_batches(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        with reader:
            while True:
                with self.noted():
                    batch = next(reader, None)
                if batch is None:
                    return
                with self._guard:
                    self.rows += batch.num_rows
                yield batch
