"""Tables of a query as DuckDB reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pyarrow as pa

from catalog.registry import CatalogRegistry
from catalog.resolver import ResolvedSystemTable, ResolvedTable
from connector_spi.errors import ColumnNotFoundError
from connector_spi.names import CatalogSchemaTableName, quote_identifier
from lakeport.arrow.observed_read import described_scan
from lakeport.arrow.reads import ArrowReads
from lakeport.arrow.scan_request import ScanRequest
from lakeport.arrow.view_request import view_request
from lakeport.duckdb.current_names import CurrentNames
from lakeport.duckdb.query.named_table import NamedTable
from lakeport.duckdb.query.queries import Query, TableUse
from lakeport.duckdb.query.views import NamedView
from lakeport.duckdb.refusal import refused
from lakeport.duckdb.tables.arrow_views import KeptEstimates, estimated_rows
from lakeport.duckdb.tables.far_files import FarFiles, ReadingQuery
from lakeport.duckdb.tables.file_columns import Footers
from lakeport.duckdb.tables.merged_read import MergedRead
from lakeport.duckdb.tables.native_files import NativeFiles, native_files, planned_scan
from lakeport.duckdb.tables.native_query import native_query
from lakeport.frames.open_reader import OpenReader
from lakeport.frames.table_scan import TableScan
from lakeport.planning.redirection import resolve
from lakeport.scan_facts import ScanDescription
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import CatalogAccess, Statement, statement_scope
from lakeport.units import count_text

__all__ = ["KnownTables", "NativeTable", "Tables"]

_CHAR = re.compile(r"char\((\d+)\)")


@dataclass(frozen=True, slots=True)
class NativeTable:
    """A table whose files DuckDB reads itself.

    Attributes:
        name: Full name.
        query: Of DuckDB; gives the columns that are needed.
        views: The columns of the views that the query needs besides, by their names, and what reads their rows.
        files: What is read.
        visible: Number of the table's visible columns.
    """

    name: CatalogSchemaTableName
    query: str
    views: Mapping[str, tuple[pa.Schema, OpenReader]]
    files: NativeFiles
    visible: int

    def described(self) -> ScanDescription:
        """What is going to be read."""
        splits, merged = self.files.splits, self.files.merged
        if merged:
            note = f"rows of {count_text(merged, 'split')} are merged here, and DuckDB reads the others of their files"
            splits = replace(splits, summary=replace(splits.summary, notes=(*splits.summary.notes, note)))
        return described_scan(self.name, self.files.plan, splits, self.visible, None)


@dataclass(frozen=True, slots=True)
class KnownTables:
    """What a session keeps of tables."""

    far_files: FarFiles
    footers: Footers = field(default_factory=Footers)
    estimates: KeptEstimates = field(default_factory=KeptEstimates)


class Tables:
    """Finds the tables of queries.

    Args:
        registry: The catalogs.
        reads: Reads their tables.
        current: The current names.
        known: What is known of tables already.
    """

    def __init__(self, registry: CatalogRegistry, reads: ArrowReads, current: CurrentNames, known: KnownTables) -> None:
        self._registry = registry
        self._reads = reads
        self._current = current
        self._known = known

    def scans(self, query: Query, lease: ReadLease) -> dict[str, TableScan]:
        """The tables by their views, with the hidden columns that the query names.

        Raises:
            ConnectorError: A table is not there, or its catalog refused.
        """
        plain = {view: self._scan(named, lease) for view, named in query.tables.items()}
        schemas = {view: scan.schema for view, scan in plain.items()}
        asked = query.hidden(schemas)
        found = {view: _with_hidden(scan, asked) for view, scan in plain.items()}
        if any(found[view].columns != schema.names for view, schema in schemas.items()):
            query.expand_stars(schemas)
        return found

    def observed(self, reads: ArrowReads) -> Tables:
        """The same for a statement that is explained, whose reads are shown to an observer."""
        return Tables(self._registry, reads, self._current, self._known)

    def scans_with(
        self, tables: Mapping[str, NamedTable], asked: Iterable[str], lease: ReadLease
    ) -> dict[str, TableScan]:
        """Tables by their views, with those hidden columns whose names are asked for; raises as ``scans``."""
        return {view: _with_hidden(self._scan(named, lease), asked) for view, named in tables.items()}

    def catalogs(self, tables: Iterable[NamedTable]) -> set[str]:
        """Those of some tables."""
        return {self._current.full(named.parts).catalog for named in tables}

    def view(self, parts: Sequence[str], lease: ReadLease, owner: str | None = None) -> NamedView | None:
        """The view that parts of a name mean, if it is read by its text; ``None`` for others, and for tables.

        Args:
            parts: Of the name.
            lease: On the transactions of the query.
            owner: Of the view in which they stand.
        """
        full = self._current.full(parts)
        with statement_scope(plain_statement(self._registry, lease, self._current.properties)) as whole:
            statement = whole.of_owner(owner)
            access = statement.access(full.catalog)
            view = access.tables.view(access.begun, access.session, full.schema_table)
            has_char = view is not None and any(_CHAR.fullmatch(one.declared_type or "") for one in view.columns)
            if view is None or (not has_char and view_request(statement, full, ScanRequest(str(full))) is not None):
                return None
            return NamedView(full, view, statement.below(access, view).view_owner)

    def native(
        self, query: ReadingQuery, view: str, named: NamedTable, use: TableUse, lease: ReadLease
    ) -> NativeTable | None:
        """How DuckDB reads the table's files itself; ``None`` where rows have to come from here.

        Args:
            query: Reads the table.
            view: The table's.
            named: The table.
            use: What is needed of it.
            lease: On the transactions of the query.
        """
        if named.changes is not None:
            return None
        with statement_scope(plain_statement(self._registry, lease, self._current.properties)) as statement:
            resolution = self._resolved(statement, named)
            if resolution is None or not resolution[0].engine.native_reader:
                return None
            access, full, resolved = resolution
            columns = _columns(resolved, use)
            files = native_files(access, resolved, columns, use, self._known.far_files.opening(query))
        types: dict[str, pa.DataType] = {name: resolved.columns[name].type for name in columns}
        found = None if files is None else native_query(query.cursor, self._known.footers, files, types, view)
        if files is None or found is None:
            query.forget_errors()
            return None
        if files.opened is not None:
            query.keep(files.opened)
        views = MergedRead(files.files, found.numbers, pa.schema(types)).views() if files.merged else {}
        named_views = {f"{view}_{end}": one for end, one in views.items()}
        return NativeTable(full, found.text, named_views, files, sum(1 for _ in resolved.table.visible_columns()))

    def char_lengths(self, tables: Mapping[str, NamedTable], lease: ReadLease) -> dict[str, dict[str, int]]:
        """Lengths of the columns of type ``char``, by the views of their tables and their names in lower case.

        Args:
            tables: The tables by their views.
            lease: On the transactions of the query.
        """
        found: dict[str, dict[str, int]] = {}
        with statement_scope(plain_statement(self._registry, lease, self._current.properties)) as statement:
            for view, named in tables.items():
                resolution = self._resolved(statement, named)
                for column in () if resolution is None else resolution[2].table.columns:
                    match = _CHAR.fullmatch((column.declared_type or "").lower())
                    if match is not None:
                        found.setdefault(view, {})[column.name.lower()] = int(match[1])
        return found

    def estimated_rows(self, named: NamedTable, use: TableUse, lease: ReadLease) -> int | None:
        """About how many rows are read of a table; ``None`` where that is unknown."""
        if named.changes is not None:
            return None
        with statement_scope(plain_statement(self._registry, lease, self._current.properties)) as statement:
            found = self._resolved(statement, named)
            if found is None:
                return None
            access, full, resolved = found

            def estimate() -> int:
                plan = planned_scan(access, resolved, _columns(resolved, use), use.conditions)
                return estimated_rows(plan, sum(1 for _ in resolved.table.visible_columns()))

            return self._known.estimates.of((full, named.version, named.owner, use.conditions), estimate)

    def _resolved(
        self, statement: Statement, named: NamedTable
    ) -> tuple[CatalogAccess, CatalogSchemaTableName, ResolvedTable] | None:
        """A table of files, its catalog and its full name; ``None`` for views and system tables."""
        full = self._current.full(named.parts)
        access = statement.of_owner(named.owner).access(full.catalog)
        if access.tables.view(access.begun, access.session, full.schema_table) is not None:
            return None
        access, resolved = resolve(access, full, named.version)
        return None if isinstance(resolved, ResolvedSystemTable) else (access, full, resolved)

    def _scan(self, named: NamedTable, lease: ReadLease) -> TableScan:
        full = self._current.full(named.parts)
        name = ".".join(quote_identifier(part) for part in (full.catalog, full.schema, full.table))
        asked = ScanRequest(name, version=named.version, changes=named.changes, ordered=False, owner=named.owner)
        scan = TableScan(self._reads, asked, lease)
        if not scan.columns:
            raise refused(name, "the table has no columns, which DuckDB does not know")
        return scan


def _with_hidden(scan: TableScan, asked: Iterable[str]) -> TableScan:
    for name in sorted(asked):
        with suppress(ColumnNotFoundError):
            scan = scan.select(*scan.columns, name)
    return scan


def _columns(table: ResolvedTable, use: TableUse) -> list[str]:
    """What is read of a table: one column at least."""
    names = {name.lower(): name for name in table.columns}
    return [names[name] for name in use.columns] or [next(iter(table.columns))]
