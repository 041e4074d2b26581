"""Statements by DuckDB, in this process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import duckdb
import pyarrow as pa
from sqlglot import exp

from catalog.registry import CatalogRegistry
from connector_spi.errors import ColumnNotFoundError, ConnectorError, UserError
from connector_spi.names import parse_name, quote_identifier
from connector_spi.predicate import TupleDomain
from lakeport.arrow.reads import ArrowReads
from lakeport.arrow.scan_request import ScanRequest
from lakeport.duckdb.calls import call
from lakeport.duckdb.listings import CurrentNames, Listings
from lakeport.duckdb.macros import create_macros
from lakeport.duckdb.named_table import NamedTable
from lakeport.duckdb.queries import Query, parsed
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.result import LocalResult
from lakeport.engine import Engine
from lakeport.frames.duckdb_scan import ScanDataset
from lakeport.frames.open_reader import OpenReader
from lakeport.frames.table_scan import TableScan
from lakeport.sql.show_stats import show_stats_name, stats_table_name, table_stats
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import statement_scope

__all__ = ["DuckDbEngine"]

_BATCH_ROWS = 65536
_HEAD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?P<word>[A-Za-z]+|\()", re.DOTALL)
_QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "(")
_RUN = "USE, SHOW, DESCRIBE, EXPLAIN, CALL and queries are run"
_NAME = r"(?P<name>(?:[^\s`;']|`[^`]*`)+)"
_MOVE = re.compile(rf"(?:USE|SET\s+CATALOG|USE\s+CATALOG|USE\s+SCHEMA)\s+{_NAME}", re.IGNORECASE)
_DESCRIBED = re.compile(rf"(?:TABLE\s+)?{_NAME}", re.IGNORECASE)


class DuckDbEngine(Engine):
    """SQL over a registry's catalogs by DuckDB. May be used by several threads.

    Args:
        registry: The catalogs.
        reads: Reads their tables.
    """

    def __init__(self, registry: CatalogRegistry, reads: ArrowReads) -> None:
        self._registry = registry
        self._reads = reads
        self._current = CurrentNames()
        self._listings = Listings(registry, self._current)
        self._database = duckdb.connect()
        create_macros(self._database)

    def current_catalog(self) -> str:
        return self._current.catalog

    def current_schema(self) -> str:
        return self._current.schema

    def function_names(self) -> list[str]:
        """Names of functions for completion: none are offered, since few run."""
        return []

    def sql(self, text: str, lease: ReadLease | None = None) -> LocalResult:
        """Runs one statement; a query runs when its rows are asked for. All its tables share one transaction.

        Args:
            text: Spark's SQL.
            lease: On transactions that it shares with other statements.

        Raises:
            NotSupportedError: Only Spark runs it, or DuckDB may mean something else by it.
            ConnectorError: A name is not there, or a catalog refused.
        """
        asked = show_stats_name(text)
        if asked is not None:
            return self._stats(asked, lease)
        head = _HEAD.match(text)
        word, rest = ("", text) if head is None else (head["word"].upper(), text[head.end() :].rstrip("; \n"))
        if word == "SHOW":
            return LocalResult.of(self._listings.show(rest, lease))
        if word in ("USE", "SET") and (moved := _MOVE.fullmatch(f"{word} {rest.strip()}")) is not None:
            self._listings.use(parse_name(moved["name"]), lease)
            return LocalResult.of(pa.table({}))
        if word in ("DESCRIBE", "DESC") and (described := _DESCRIBED.fullmatch(rest.strip())) is not None:
            return LocalResult.of(self._listings.describe(parse_name(described["name"]), lease))
        if word == "CALL":
            return LocalResult.of(call(self._registry, self._current.catalog, rest.strip(), lease))
        if word == "EXPLAIN":
            return self._explained(rest, lease)
        return self._lazy(self._planned(text, lease))

    def close(self) -> None:
        """Closes the database; what runs is interrupted."""
        self._database.interrupt()
        self._database.close()

    def _planned(self, text: str, lease: ReadLease | None) -> _Planned:
        head = _HEAD.match(text)
        if head is None or head["word"].upper() not in _QUERIES:
            raise refused(text.strip(), _RUN)
        statement = parsed(text)
        if not isinstance(statement, exp.Query):
            raise refused(statement, _RUN)
        query = Query.of(statement)
        shared = lease or ReadLease(self._registry)
        scans = {view: self._scan(named, shared) for view, named in query.tables.items()}
        scans = self._with_hidden(query, scans)
        text, names = query.in_duckdb({view: scan.schema for view, scan in scans.items()})
        planned = _Planned(self._database.cursor(), text, names)
        for view, scan in scans.items():
            planned.register(view, scan)
        return planned

    def _scan(self, named: NamedTable, lease: ReadLease) -> TableScan:
        full = self._current.full(named.parts)
        name = ".".join(quote_identifier(part) for part in (full.catalog, full.schema, full.table))
        return TableScan(self._reads, ScanRequest(name, version=named.version, ordered=False), lease)

    def _with_hidden(self, query: Query, scans: dict[str, TableScan]) -> dict[str, TableScan]:
        """The scans with the hidden columns that the query names."""
        asked = query.hidden({view: scan.schema for view, scan in scans.items()})
        found: dict[str, TableScan] = {}
        for view, scan in scans.items():
            for name in sorted(asked):
                with suppress(ColumnNotFoundError):
                    scan = scan.select(*scan.columns, name)
            found[view] = scan
        if any(found[view].columns != scan.columns for view, scan in scans.items()):
            query.expand_stars({view: scan.schema for view, scan in scans.items()})
        return found

    def _lazy(self, planned: _Planned) -> LocalResult:
        return LocalResult(planned.schema(), planned.reader, planned.cursor.interrupt)

    def _explained(self, text: str, lease: ReadLease | None) -> LocalResult:
        planned = self._planned(text, lease)
        return LocalResult.of(pa.table({"plan": [planned.relation().explain()]}))

    def _stats(self, name: str, lease: ReadLease | None) -> LocalResult:
        with statement_scope(plain_statement(self._registry, lease)) as statement:
            full = stats_table_name(name, self._current.catalog, self._current.schema)
            found = table_stats(statement, full)
            statement.commit()
        return LocalResult.of(found)


class _Planned:
    """A query of DuckDB and the views that it reads.

    Args:
        cursor: Of its own: what is registered there no other query sees.
        text: The query.
        names: Of its results; DuckDB gives those that are there twice others.
    """

    def __init__(self, cursor: duckdb.DuckDBPyConnection, text: str, names: Sequence[str]) -> None:
        self.cursor = cursor
        self._text = text
        self._names = names
        self._failures: list[ConnectorError] = []
        cursor.execute("SET TimeZone = 'UTC'")

    def register(self, view: str, scan: TableScan) -> None:
        """Has the query read a table under the name of a view."""
        self.cursor.register(view, ScanDataset(scan.schema, self._noting(scan.reader_of), may_filter=True))

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
        relation = self.relation()
        with self._errors():
            rows = relation.to_arrow_reader(_BATCH_ROWS)
        schema = self._named(rows.schema)
        return pa.RecordBatchReader.from_batches(schema, self._batches(rows, schema))

    def _named(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema([one.with_name(name) for one, name in zip(schema, self._names, strict=True)])

    def _batches(self, rows: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        while True:
            with self._errors():
                batch = next(rows, None)
            if batch is None:
                return
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    def _noting(self, open_reader: OpenReader) -> OpenReader:
        """Keeps the errors of reads, of which DuckDB gives the text alone."""

        def opened(
            columns: list[str] | None = None, needed: TupleDomain[str] | None = None, limit: int | None = None
        ) -> pa.RecordBatchReader:
            with self._noted():
                reader = open_reader(columns, needed, limit)
            return pa.RecordBatchReader.from_batches(reader.schema, self._noted_batches(reader))

        return opened

    def _noted_batches(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        with reader:
            while True:
                with self._noted():
                    batch = next(reader, None)
                if batch is None:
                    return
                yield batch

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except ConnectorError as error:
            self._failures.append(error)
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (duckdb.Error, OSError, pa.ArrowException) as error:
            if self._failures:
                raise self._failures[0] from error
            if isinstance(error, duckdb.InterruptException):
                raise UserError("the statement was cancelled") from error
            raise UserError(f"DuckDB failed: {str(error).strip()}") from error
