"""Statements by DuckDB, in this process."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext

import duckdb
import pyarrow as pa
from sqlglot import exp

from catalog.registry import CatalogRegistry
from connector_spi.names import parse_name
from lakeport.arrow.reads import ArrowReads
from lakeport.arrow.write.creating import create_table_as
from lakeport.arrow.write.inserting import check_outside_of_block, note_written, resolve_target
from lakeport.duckdb.cancelling import CallSet, begin_work
from lakeport.duckdb.current_names import CurrentNames
from lakeport.duckdb.functions import UsedMacros
from lakeport.duckdb.functions.spelling import rows_as_queries
from lakeport.duckdb.own_sql.planning import OwnText, plan_own_query
from lakeport.duckdb.own_sql.syntax import not_run
from lakeport.duckdb.planned_query import PlannedQuery
from lakeport.duckdb.planning import QueryPlan, plan_query
from lakeport.duckdb.query.parameters import parsed_with
from lakeport.duckdb.refusal import check_first_word, only_spark, refused
from lakeport.duckdb.result import LocalResult
from lakeport.duckdb.rules import FUNCTIONS
from lakeport.duckdb.settings import SETTING_NAMES, Settings
from lakeport.duckdb.statements.calls import call
from lakeport.duckdb.statements.creating import CreateTableAs
from lakeport.duckdb.statements.explaining import explain_query
from lakeport.duckdb.statements.inserts import Insert
from lakeport.duckdb.statements.listings import Listings
from lakeport.duckdb.tables.far_files import FarFiles
from lakeport.duckdb.tables.query_tables import KnownTables, Tables
from lakeport.duckdb.translating import KeptTranslations, translate_query
from lakeport.engine import Engine, FunctionUsage, Parameters, Work
from lakeport.sql.explain.documents import explained_json
from lakeport.sql.explain.observer import QueryObserver
from lakeport.sql.explain.request import ExplainRequest
from lakeport.sql.explain.text import explained_text
from lakeport.sql.show_stats import stats_table_name, table_stats
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import statement_scope

__all__ = ["DuckDbEngine"]

_CLOSING_SECONDS = 0.02
_MOST_CLOSING_SECONDS = 5.0

_HEAD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?P<word>[A-Za-z]+|\()", re.DOTALL)
_QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "(")
_OWN_QUERIES = (*_QUERIES, "PIVOT", "UNPIVOT", "SUMMARIZE", "TABLE")
_OWN_RUN = "queries, USE, SET, RESET, SHOW, DESCRIBE, EXPLAIN and CALL are run; the dialect spark has INSERT and CREATE"
_COMMON = ("USE", "SET", "RESET", "SHOW", "DESCRIBE", "DESC", "CALL")
_RUN = "USE, SET, RESET, SHOW, DESCRIBE, EXPLAIN, CALL, INSERT, CREATE TABLE AS and queries are run"
_NAME = r"(?P<name>(?:[^\s`;']|`[^`]*`)+)"
_MOVE = re.compile(rf"(?:USE|SET\s+CATALOG|USE\s+CATALOG|USE\s+SCHEMA)\s+{_NAME}", re.IGNORECASE)
_DESCRIBED = re.compile(rf"(?:TABLE\s+)?{_NAME}", re.IGNORECASE)


_USAGES = """
    SELECT function_name, arg_min(parameters, len(parameters)), min(description)
    FROM duckdb_functions() GROUP BY ALL
"""


class DuckDbEngine(Engine[LocalResult]):
    """SQL over a registry's catalogs by DuckDB. May be used by several threads.

    Args:
        registry: The catalogs.
        settings: Of DuckDB: ``memory_limit``, ``threads``, ``temp_directory`` and ``max_temp_directory_size``.

    Raises:
        InvalidPropertyError: A setting that there is not, or a value that DuckDB does not take.
    """

    name = "duckdb"
    title = "DuckDB"
    setting_names = SETTING_NAMES
    own_dialect = "duckdb"
    # Exact, on disk where it does not fit into memory: DuckDB's own estimate may be a seventh off.
    distinct_count = "count(DISTINCT {})"
    patience_seconds = 1.0

    def __init__(self, registry: CatalogRegistry, settings: Mapping[str, str] | None = None) -> None:
        self._registry = registry
        self._database = duckdb.connect()
        self._settings = Settings(registry, self._database, settings or {})
        self._reads = ArrowReads(registry, self._settings.of_catalog)
        self._current = CurrentNames(properties=self._settings.of_catalog)
        self._listings = Listings(registry, self._current)
        self._tables = Tables(registry, self._reads, self._current, KnownTables(FarFiles(self._database)))
        self._macros = UsedMacros(self._database)
        self._kept = KeptTranslations()
        self._calls = CallSet()

    @property
    def is_started(self) -> bool:
        return True

    def start(self) -> None:
        """Nothing is to be done."""

    def close(self) -> None:
        """Closes the database; what runs is interrupted, and what is planned has a moment to end."""
        self._calls.cancel()
        self._reads.close()
        end = time.monotonic() + _MOST_CLOSING_SECONDS
        while not self._closed(is_last=time.monotonic() > end):
            time.sleep(_CLOSING_SECONDS)
            self._calls.cancel()
        self._settings.remove_folder()

    def _closed(self, *, is_last: bool) -> bool:
        """Whether the database could be closed: DuckDB refuses while another thread calls it."""
        try:
            self._database.close()
        except duckdb.ResourceInUseException:
            if is_last:
                raise
            return False
        return True

    def facts(self) -> list[str]:
        return [f"DuckDB: {duckdb.__version__} in this process"]

    def setting(self, name: str) -> str | None:
        return None

    def session_properties(self) -> dict[str, str]:
        return dict(self._settings.properties)

    def keep_session_properties(self, properties: Mapping[str, str]) -> None:
        self._settings.properties = dict(properties)

    def current_catalog(self) -> str:
        return self._current.catalog

    def current_schema(self) -> str:
        return self._current.schema

    def function_names(self) -> list[str]:
        return list(FUNCTIONS)

    def function_usages(self, names: Iterable[str]) -> list[FunctionUsage]:
        with self._database.cursor() as cursor:
            rows = cursor.execute(_USAGES).fetchall()
        known = {name: (", ".join(parameters), description or "") for name, parameters, description in rows}
        return [FunctionUsage(name, *known.get(name, ("", ""))) for name in names]

    def plan(self, text: str, args: Parameters = None, lease: ReadLease | None = None) -> LocalResult:
        """Plans a statement; raises ``NotSupportedError`` for what only Spark runs, or may mean something else here."""
        head = _HEAD.match(text)
        word, rest = ("", text) if head is None else (head["word"].upper(), text[head.end() :].rstrip("; \n"))
        if word == "SHOW":
            return LocalResult.of(self._listings.show(rest, lease))
        if word in ("USE", "SET") and (moved := _MOVE.fullmatch(f"{word} {rest.strip()}")) is not None:
            self._listings.use(parse_name(moved["name"]), lease)
            return LocalResult.of(pa.table({}))
        if word in ("DESCRIBE", "DESC") and (described := _DESCRIBED.fullmatch(rest.strip())) is not None:
            return LocalResult.of(self._listings.describe(parse_name(described["name"]), lease))
        if word == "SET":
            return LocalResult.of(self._settings.set(rest))
        if word == "RESET":
            self._settings.reset(rest)
            return LocalResult.of(pa.table({}))
        if word == "CALL":
            return LocalResult.of(call(self._registry, self._current, rest.strip(), lease))
        if word == "INSERT":
            self._insert(text, lease, args)
            return LocalResult.of(pa.table({}))
        if word == "CREATE":
            self._create(text, lease, args)
            return LocalResult.of(pa.table({}))
        return _result(self._query_plan(text, lease or ReadLease(self._registry), self._tables, args))

    def plan_own(self, text: str, args: Parameters = None, lease: ReadLease | None = None) -> LocalResult:
        """Plans a query in DuckDB's own SQL, or one of the statements that all dialects have."""
        if _word(text) in _COMMON:
            return self.plan(text, args, lease)
        return _result(self._own_query_plan(text, lease or ReadLease(self._registry), self._tables, args))

    def table(self, name: str, lease: ReadLease | None = None) -> LocalResult:
        raise only_spark("table(), which gives a DataFrame; scan() gives a table for other libraries")

    def show_stats(self, name: str, lease: ReadLease | None = None) -> LocalResult:
        with statement_scope(plain_statement(self._registry, lease, self._current.properties)) as statement:
            full = stats_table_name(name, self._current.catalog, self._current.schema)
            found = table_stats(statement, full)
            statement.commit()
        return LocalResult.of(found)

    def rows_of(self, table: pa.Table) -> LocalResult:
        return LocalResult.of(table)

    def explain(self, request: ExplainRequest, lease: ReadLease | None = None) -> LocalResult:
        observer = QueryObserver(runs=request.analyze)
        begun = time.perf_counter()
        with closing(self._reads.observed(observer)) as reads, statement_scope(reads.statement(lease)) as statement:
            planner = self._own_query_plan if request.dialect == self.own_dialect else self._query_plan
            plan = planner(request.query, statement.lease, self._tables.observed(reads))
            if request.kind == "VALIDATE":
                return LocalResult.of(pa.table({"valid": [True]}))
            found = explain_query(plan, request, statement, observer, begun=begun)
            statement.commit()
        text = explained_json(found, request) if request.json else explained_text(found, request)
        return LocalResult.of(pa.table({"plan": [text]}))

    def block(self, lease: ReadLease) -> AbstractContextManager[None]:
        return nullcontext()

    def work(self, label: str) -> Work:
        return begin_work()

    def _insert(self, text: str, lease: ReadLease | None, args: Parameters) -> None:
        written = parsed_with(text, args)
        if not isinstance(written, exp.Insert):
            raise refused(written, _RUN)
        insert = Insert.of(written)
        try:
            with statement_scope(self._reads.statement(lease).writing()) as statement:
                target = resolve_target(statement, self._current.full(insert.table))
                insert.run(target, lambda query: self._rows(query, lease).reader())
                statement.commit()
            note_written(lease, target.name)
        except BaseException as error:
            # Whoever keeps the error would keep DuckDB's connection, and DuckDB complains of it when Python ends.
            traceback.clear_frames(error.__traceback__)
            raise

    def _create(self, text: str, lease: ReadLease | None, args: Parameters) -> None:
        written = parsed_with(text, args)
        if not isinstance(written, exp.Create):
            raise refused(written, _RUN)
        check_outside_of_block(lease)
        made = CreateTableAs.of(written)
        name = self._current.full(made.table)
        try:
            with self._rows(made.query, lease).reader() as rows:
                create_table_as(self._reads.statement(None), name, made.definition(name), rows)
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)
            raise

    def _query_plan(self, text: str, lease: ReadLease, tables: Tables, args: Parameters = None) -> QueryPlan:
        if _word(text) not in _QUERIES:
            check_first_word(_word(text))
            raise refused(text.strip(), _RUN)
        found = None if args else self._kept.find(text, tables, lease)
        if found is None:
            statement = rows_as_queries(parsed_with(text, args))
            if not isinstance(statement, exp.Query):
                raise refused(statement, _RUN)
            found = translate_query(statement, tables, lease)
            if not args:
                self._kept.keep(text, found)
        return self._noted(plan_query(self._database, self._macros, tables, found, lease))

    def _own_query_plan(self, text: str, lease: ReadLease, tables: Tables, args: Parameters = None) -> QueryPlan:
        if _word(text) not in _OWN_QUERIES:
            check_first_word(_word(text))
            raise not_run(text.strip() or "an empty text", _OWN_RUN)
        return self._noted(plan_own_query(self._database, self._macros, tables, OwnText(text, args), lease))

    def _rows(self, statement: exp.Query, lease: ReadLease | None) -> PlannedQuery:
        """A query whose rows are added to a table."""
        lease = lease or ReadLease(self._registry)
        query = translate_query(statement, self._tables, lease)
        return self._noted(plan_query(self._database, self._macros, self._tables, query, lease)).planned

    def _noted(self, plan: QueryPlan) -> QueryPlan:
        """Has ``close`` interrupt it: what interrupts the database does not reach its cursors."""
        self._calls.add(plan.planned.calls)
        return plan


def _word(text: str) -> str:
    """The first word of a statement in capitals, or a parenthesis."""
    head = _HEAD.match(text)
    return "" if head is None else head["word"].upper()


def _result(plan: QueryPlan) -> LocalResult:
    planned = plan.planned
    return LocalResult(planned.schema(), planned.reader, planned.calls.cancel, lambda: planned.rows_read)
