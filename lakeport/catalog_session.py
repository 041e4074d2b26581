"""Catalogs, and SQL and Arrow over them, whatever runs the SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import TracebackType
from typing import Generic, Self, TypeAlias, Unpack

import pyarrow as pa

from catalog.registry import CatalogRegistry
from connector_spi.errors import UserError
from connector_spi.names import CatalogSchemaTableName
from lakeport.arrow.filters.where import Where
from lakeport.arrow.reading import open_scan
from lakeport.arrow.reads import ArrowReads
from lakeport.arrow.scan_request import Exclusive, ReadSettings, ScanRequest, Version, change_range, scan_request
from lakeport.catalog_writes import CatalogWrites
from lakeport.engine import Engine, LazyResult, Parameters, ResultT_co
from lakeport.frames.table_scan import TableScan
from lakeport.planning.names import list_schemas, list_tables
from lakeport.sql.analyze import AnalyzedTable, AnalyzeRequest, analyze_request
from lakeport.sql.dialects import DIALECTS, check_dialect, to_spark_sql
from lakeport.sql.explain.request import explain_request
from lakeport.sql.grants.request import GrantKind, GrantRequest, grant_request
from lakeport.sql.grants.running import catalog_of, run_grant
from lakeport.sql.show_stats import show_stats_name, stats_table_name
from lakeport.sql.table_columns import table_columns
from lakeport.transactions.engine_settings import ROLE
from lakeport.transactions.lease import ReadLease, commit_all
from lakeport.transactions.statement import statement_scope

__all__ = ["AnySession", "CatalogSession"]

_blocks: ContextVar[tuple[tuple[object, ReadLease], ...]] = ContextVar("lakeport_transactions", default=())
"""The sessions and the leases of the blocks that a thread is in, one of each session."""


class CatalogSession(CatalogWrites, Generic[ResultT_co]):
    """Catalogs, and SQL and Arrow over them. May be used by several threads.

    Args:
        catalogs: Shut down with the session.
        engine: Runs SQL; closed with the session.
    """

    def __init__(self, catalogs: CatalogRegistry, engine: Engine[ResultT_co]) -> None:
        self._catalogs = catalogs
        self._engine = engine
        self._roles: dict[str, str] = {}
        super().__init__(ArrowReads(catalogs, self._selected_role))
        self._dialect = DIALECTS[0]

    @property
    def catalogs(self) -> CatalogRegistry:
        """The catalogs: ``register``, ``drop``, ``names``, ``check``."""
        return self._catalogs

    @property
    def is_started(self) -> bool:
        """Whether statements can run at once; asking does not start the engine."""
        return self._engine.is_started

    @property
    def engine(self) -> Engine[ResultT_co]:
        """What runs SQL."""
        return self._engine

    @property
    def dialect(self) -> str:
        """The dialect of statements that say none: ``spark`` at first, ``trino``, or with this engine ``duckdb``.

        Raises:
            InvalidArgumentError: On setting: no such dialect.
        """
        return self._dialect

    @dialect.setter
    def dialect(self, name: str) -> None:
        self._dialect = check_dialect(name)

    def plan(self, text: str, args: Parameters = None, *, dialect: str | None = None) -> ResultT_co:
        """Plans one statement, as ``sql`` does; the result is the engine's, whichever it is."""
        granted = None if args else grant_request(text)
        # Spark itself says what it has of these for its own catalog.
        if granted is not None and catalog_of(granted, self._current_names()) in ("", *self._catalogs.names()):
            return self._engine.rows_of(self._grant(granted))
        columns_of = table_columns(self._catalogs, self.read_lease, self._current_names)
        spoken = self._dialect if dialect is None else check_dialect(dialect)
        is_own = spoken == self._engine.own_dialect
        if not is_own:
            text = to_spark_sql(text, spoken, columns_of, self._engine.setting)
        asked = None if args else show_stats_name(text)
        if asked is not None:
            return self._engine.show_stats(asked, self.read_lease)
        analyzed = None if args else analyze_request(text)
        if analyzed is not None:
            name = stats_table_name(analyzed.name, *self._current_names())
            # Spark itself analyses its own tables.
            if name.catalog in self._catalogs.names():
                self._analyze(name, analyzed)
                return self._engine.show_stats(str(name), self.read_lease)
        explained = None if args else explain_request(text)
        if explained is not None:
            explained = replace(explained, dialect=spoken if is_own else DIALECTS[0])
            return self._engine.explain(explained, self.read_lease)
        run = self._engine.plan_own if is_own else self._engine.plan
        return run(text, args, self.read_lease)

    def schemas(self, catalog: str | None = None) -> list[str]:
        """Full names of the schemas of a catalog, or of all catalogs, sorted; needs no Spark.

        The schemas about a catalog itself, ``information_schema`` and ``system``, are left out.

        Raises:
            ConnectorError: No such catalog, or a catalog that fails.

        Example:
            >>> session.schemas("hive")
            ['hive.default', 'hive.sales']
        """
        return list_schemas(self._catalogs, self.read_lease, catalog)

    def tables(self, name: str | None = None) -> list[str]:
        """Full names of the tables and views of a schema, a catalog, or all catalogs, sorted; needs no Spark.

        Each can be given to ``scan``, ``arrow`` and ``table``.

        Args:
            name: A schema, such as ``hive.sales``, or a catalog; the schemas about it are left out.

        Raises:
            ConnectorError: No such catalog or schema, or a catalog that fails.

        Example:
            >>> session.tables("hive.sales")[:2]
            ['hive.sales.items', 'hive.sales.labels']
        """
        return list_tables(self._catalogs, self.read_lease, name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A block in which all statements of this thread see their tables at one moment.

        They share one transaction in each catalog, whose locks are released at the end of the block. DataFrames that
        were made in it keep seeing what they saw. What the block defines (``CREATE``, ``ALTER``, ``DROP``, ``CALL``)
        it sees from then on. A block inside of a block belongs to the outer one.

        What they write is committed together at the end of the block, in one transaction of each catalog, or rolled
        back where the block fails. The block itself cannot read what it has written.

        Example:
            >>> with session.transaction():
            ...     labels = session.arrow("hive.sales.labels").read_all()
            ...     items = session.scan("hudi.sales.items", columns=["id"]).to_arrow()
        """
        with self._block(of_one_statement=False):
            yield

    @contextmanager
    def statement_block(self) -> Iterator[None]:
        """A block in which one statement is run and its result read; its locks are released at the end.

        It is for who runs statements of others, such as a shell. Inside of a ``transaction()`` it belongs to that.
        """
        with self._block(of_one_statement=True):
            yield

    @contextmanager
    def _block(self, *, of_one_statement: bool) -> Iterator[None]:
        if self.read_lease is not None:
            yield
            return
        lease = ReadLease(self._catalogs, of_one_statement=of_one_statement)
        with ExitStack() as stack:
            stack.enter_context(lease.block())
            stack.callback(_blocks.reset, _blocks.set((*_blocks.get(), (self, lease))))
            stack.enter_context(self._engine.block(lease))
            stack.enter_context(lease.ending_writes())
            yield

    def arrow(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        limit: int | None = None,
        **settings: Unpack[ReadSettings],
    ) -> pa.RecordBatchReader:
        """Reads a table as Arrow with no Spark, as a stream; what ``where`` excludes is skipped where possible.

        The table's snapshot is fixed by this call. Files are freed when the reader was read to its end or is dropped,
        or with the session.

        Args:
            name: Catalog, schema and table: ``hive.sales.orders``, or a system table ``hive.sales.`orders$files```.
            columns: What to read, in order; ``None`` is every column that is not hidden.
            where: SQL, such as ``"a > 5 AND b IN (1, 2)"``. Or pyarrow's DNF: ``[("a", ">", 5), ("b", "in", [1, 2])]``
                joined by AND, or a list of such lists joined by OR; with ``is null`` and ``is not null`` too. Both mean
                what Spark's WHERE means. Or an expression of pyarrow, which means what it means there.
            limit: Most rows to give.
            settings: By name, each with a default: ``version``, ``options``, ``threads`` and ``ordered``; what they
                mean says ``ReadSettings``.

        Raises:
            ConnectorError: A name that is not there (with what is close), a filter that is not understood, a catalog or
                storage that failed. Reading raises them too.

        Example:
            >>> session.arrow("hive.sales.labels", ["s"], [("id", ">", 2), ("id", "<", 5)]).read_all().to_pylist()
            [{'s': None}, {'s': 'four'}]
        """
        request = scan_request(name, settings).with_columns(columns).with_filter(where).with_limit(limit)
        return self._reads.read(lambda statement: open_scan(statement, request), self.read_lease)

    def scan(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        limit: int | None = None,
        **settings: Unpack[ReadSettings],
    ) -> TableScan:
        """A table to be read with no Spark, into pyarrow, pandas, Polars or DuckDB; nothing is read yet.

        All reads of it see the snapshot of this call. Arguments and errors are those of ``arrow``.

        Example:
            >>> session.scan("hive.sales.labels").select("id", "s").where(("id", "<", 3)).to_arrow().to_pylist()
            [{'id': 1, 's': 'one'}, {'id': 2, 's': 'two'}]
        """
        request = scan_request(name, settings).with_columns(columns).with_filter(where).with_limit(limit)
        return TableScan(self._reads, request, self.read_lease or ReadLease(self._catalogs))

    def changes(
        self,
        name: str,
        start: Version | Exclusive | None = None,
        end: Version | Exclusive | None = None,
        *,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        limit: int | None = None,
        threads: int | None = None,
    ) -> pa.RecordBatchReader:
        """Reads what changed in a table between two versions as Arrow with no Spark, as a stream, in no order.

        To the table's columns come ``_change_type`` (``insert``, ``delete``, ``update_preimage`` or
        ``update_postimage``), ``_commit_version`` and ``_commit_timestamp``. In SQL, with Spark 4.2 and later:
        ``SELECT * FROM t CHANGES FROM VERSION a TO VERSION b``.

        Args:
            name: Catalog, schema and table: ``hive.sales.orders``.
            start: The first version whose changes are read, or an aware ``datetime``; ``Exclusive(7)`` is the one
                after version 7; ``None``: from the beginning.
            end: The last one, of the same kind; ``None`` is the newest.
            columns: As in ``arrow``.
            where: As in ``arrow``; may name the three added columns.
            limit: Most rows to give.
            threads: As in ``arrow``.

        Raises:
            InvalidArgumentError: The range is not one of the table, or its changes are no longer there; says what is.
            NotSupportedError: The catalog or the table has no changes.
            ConnectorError: As ``arrow``.

        Example:
            >>> session.changes("hive.sales.notes", 7, 9, where=[("_change_type", "=", "insert")]).read_all().num_rows
            2
        """
        asked = change_range(start, end)
        request = (
            ScanRequest(name, changes=asked, threads=threads).with_columns(columns).with_filter(where).with_limit(limit)
        )
        return self._reads.read(lambda statement: open_scan(statement, request), self.read_lease)

    def close(self) -> None:
        """Ends open reads, shuts the catalogs down, and ends the engine; Spark where the session started it.

        Raises:
            ConnectorError: A catalog failed to shut down; all else was done nevertheless.
        """
        with ExitStack() as stack:
            # Done from the last to the first, each whatever became of the others.
            stack.callback(self._catalogs.shutdown)
            stack.callback(commit_all, self._catalogs)
            stack.callback(self._engine.close)
            stack.callback(self._reads.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            return f"<lakeport.Session of {', '.join(self._catalogs.names()) or 'no catalogs'}>"
        except UserError:
            return "<lakeport.Session, closed>"

    @property
    def read_lease(self) -> ReadLease | None:
        """That of the block that this thread is in; ``None`` outside of one."""
        return next((lease for session, lease in _blocks.get() if session is self), None)

    def _analyze(self, name: CatalogSchemaTableName, request: AnalyzeRequest) -> None:
        """Collects statistics by a query of the engine, in the snapshot that they are kept for."""
        with self.statement_block():
            statement = self._reads.statement(self.read_lease)
            with statement_scope(statement):
                table = AnalyzedTable.of(statement, name, request)
                if not request.noscan:
                    found = self._engine.plan(table.query(self._engine.distinct_count), None, self.read_lease).rows()
                    table.keep(pa.Table.from_batches(found.batches, found.schema))
                table.count_files(alone=request.noscan)

    def _grant(self, request: GrantRequest) -> pa.Table:
        current = self._current_names()
        statement = self._reads.statement(self.read_lease)
        with statement_scope(statement):
            rows = run_grant(statement, request, current)
            statement.commit()
        if request.kind is GrantKind.SET_ROLE:
            catalog, role = catalog_of(request, current), request.roles[0]
            self._roles[catalog] = role
            self._engine.keep_session_properties({**self._engine.session_properties(), f"{catalog}.{ROLE.name}": role})
        return rows

    def _selected_role(self, catalog: str) -> dict[str, str]:
        """Reads without the engine's SQL have the role, too, and else no session properties."""
        role = self._roles.get(catalog)
        return {} if role is None else {ROLE.name: role}

    def _current_names(self) -> tuple[str, str]:
        return self._engine.current_catalog(), self._engine.current_schema()


AnySession: TypeAlias = CatalogSession[LazyResult]
"""A session of whichever engine."""
