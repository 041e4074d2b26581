"""Reading a table as Arrow record batches with no Spark."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pyarrow as pa

from catalog.resolver import ResolvedSystemTable, ResolvedTable, resolve_column
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.handles import ColumnHandle, Split
from connector_spi.names import CatalogSchemaTableName
from connector_spi.page_source import PageSource
from connector_spi.predicate import Constraint, TupleDomain
from lakeport.arrow.filters.column_names import column_finder, wanted_columns
from lakeport.arrow.filters.conditions import Junction, RowTest
from lakeport.arrow.filters.expression_filter import row_filters
from lakeport.arrow.filters.pushed_conditions import pushed_conditions
from lakeport.arrow.filters.where import RowFilter
from lakeport.arrow.observed_read import ObservedRead
from lakeport.arrow.parallel_read import ParallelRead, default_threads
from lakeport.arrow.scan_request import ScanRequest
from lakeport.arrow.stream import ArrowScan, close_batches
from lakeport.arrow.view_request import view_request
from lakeport.error_codes import UNSUPPORTED_VIEW
from lakeport.planning.names import full_table_name
from lakeport.planning.redirection import resolve, resolve_with_changes
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan, plan_splits
from lakeport.scan_facts import ScanObserver
from lakeport.transactions.statement import CatalogAccess, Statement

__all__ = ["open_scan"]

_SMALL_BYTES = 4 << 20
_MOST_THREADS = 16
"""Where small splits are waited for: a request to an object store takes tens of milliseconds, and hardly any CPU."""


def open_scan(statement: Statement, request: ScanRequest) -> ArrowScan:
    """Plans a read.

    Args:
        statement: What the read belongs to; it ends with the batches.
        request: What to read.

    Raises:
        InvalidArgumentError: A name, filter, limit, version, range or option that is not understood, or changes that
            are gone.
        NotSupportedError: Changes are asked for, and the catalog or the table has none.
        CatalogNotFoundError, SchemaNotFoundError, TableNotFoundError, ColumnNotFoundError: It is not there; names what
            is close.
        ConnectorError: The catalog or its storage failed.
    """
    return _open(statement.of_owner(request.owner), request, ())


def _open(statement: Statement, request: ScanRequest, views: tuple[CatalogSchemaTableName, ...]) -> ArrowScan:
    full = full_table_name(request.name)
    if request.changes is not None:
        access, table, _ = resolve_with_changes(statement.access(full.catalog), full, request.changes)
        return _table(access, full, table, request)
    if full in views:
        raise NotSupportedError(f"{full} is a view that reads itself; correct its text", UNSUPPORTED_VIEW)
    view = view_request(statement, full, request)
    if view is not None:
        below = _open(statement.of_owner(view.request.owner), view.request, (*views, full))
        return ArrowScan(view.schema, _shape(view.renamed(below.batches), view.schema, view.filters, request.limit))
    access, resolved = resolve(statement.access(full.catalog), full, request.version)
    if isinstance(resolved, ResolvedSystemTable):
        if request.options:
            raise InvalidArgumentError(f"system table {resolved.name} has no read options; leave them out")
        return _system_table(access, resolved, request)
    return _table(access, full, resolved, request)


def _table(
    access: CatalogAccess, name: CatalogSchemaTableName, resolved: ResolvedTable, request: ScanRequest
) -> ArrowScan:
    given = {key.lower(): text for key, text in request.options.items()}
    resolved = access.tables.with_options(access.begun, access.session, resolved, given)

    def find(written: str) -> tuple[str, pa.DataType]:
        handle = resolve_column(resolved, written)
        return handle.name, handle.type

    visible = [column.name for column in resolved.table.visible_columns()]
    wanted = wanted_columns(request.columns, visible, find)
    handles = {handle.name: handle for handle in resolved.columns.values()}
    known = pa.schema([(handle.name, handle.type) for handle in handles.values()])
    filters = row_filters(request.filters, known, find)
    filtered = [column for rows in filters for column in rows.columns]
    read = tuple(handles[column] for column in dict.fromkeys((*wanted, *filtered)))
    everything = TupleDomain[ColumnHandle].all()
    plan = ScanPlan(access, resolved.handle, read, everything, everything)
    needed = _needed(request, filters)
    domain, conditions = needed.domain(), pushed_conditions(needed, handles)
    if not domain.is_all or conditions:
        summary = domain.transform_keys(lambda column: handles[column])
        plan = plan.with_filter(Constraint(summary, tuple(map(str, conditions)), conditions))
    plan = plan.with_columns(read)
    if request.limit is not None and not needed.columns and not filters:
        plan = plan.with_limit(request.limit)
    schema = pa.schema([(column, handles[column].type) for column in wanted])
    observer = access.statement.observer
    if observer is None:
        batches = _splits(plan, lambda: plan_splits(plan), request)
        return ArrowScan(schema, _shape(batches, schema, filters, request.limit))
    observed = ObservedRead(name, plan, len(visible), request.threads or default_threads())
    observer.scan_built(observed)
    batches = _splits(plan, observed.planned, request)
    return ArrowScan(schema, _observed(observed, _shape(batches, schema, filters, request.limit), observer))


def _system_table(access: CatalogAccess, resolved: ResolvedSystemTable, request: ScanRequest) -> ArrowScan:
    table = resolved.system_table
    types = {column.name: column.type for column in table.metadata.columns}
    find = column_finder(types, resolved.name)
    visible = [column.name for column in table.metadata.visible_columns()]
    wanted = wanted_columns(request.columns, visible, find)
    filters = row_filters(request.filters, pa.schema(types.items()), find)
    constraint = _needed(request, filters).domain()

    def read() -> Iterator[pa.RecordBatch]:
        asked = f"read the system table {resolved.name}"
        with access.lock.asking(asked):
            batches = table.read(access.session, constraint)
        while True:
            # Not held between batches: who reads may take its time, and the next one in another thread.
            with access.lock.asking(asked):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    schema = pa.schema([(column, types[column]) for column in wanted])
    return ArrowScan(schema, _shape(read(), schema, filters, request.limit))


def _needed(request: ScanRequest, filters: Sequence[RowFilter]) -> RowTest:
    """What every asked row fits."""
    return Junction(True, (request.needed, *(rows.needed for rows in filters)))


def _observed(
    read: ObservedRead, batches: Iterator[pa.RecordBatch], observer: ScanObserver
) -> Iterator[pa.RecordBatch]:
    """The batches; the observer hears when the first one is asked for."""
    observer.scan_started(read)
    yield from read.counted(batches)


def _splits(plan: ScanPlan, planned: Callable[[], PlannedSplits], request: ScanRequest) -> Iterator[pa.RecordBatch]:
    """The batches of all splits."""
    access = plan.access
    provider = access.connector.page_source_provider
    splits = planned().splits

    def open_split(split: Split) -> PageSource:
        return access.origin.open_split(provider, access.session, split, plan.table, plan.columns)

    threads = request.threads or default_threads()
    if min(threads, len(splits)) > 1:
        # Of large splits each thread may hold a row group.
        may_grow = request.threads is None and max(split.size_bytes for split in splits) <= _SMALL_BYTES
        most = _MOST_THREADS if may_grow else None
        read = ParallelRead(splits, open_split, threads, most_threads=most, ordered=request.ordered)
        with closing(read) as batches:
            yield from batches
        return
    for split in splits:
        with open_split(split) as source:
            yield from source


def _shape(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, filters: Sequence[RowFilter], limit: int | None
) -> Iterator[pa.RecordBatch]:
    """Filters, cuts at the limit, and gives the columns in the asked order."""
    left = limit
    try:
        if left == 0:
            return
        for batch in batches:
            passed = functools.reduce(lambda rows, one: one.apply(rows), filters, batch)
            if left is not None:
                passed = passed.slice(0, left)
                left -= passed.num_rows
            if passed.num_rows:
                yield _with_columns(passed, schema)
            if left == 0:
                return
    finally:
        close_batches(batches)


def _with_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if not schema.names:
        return batch.select([])  # made anew, it would forget its number of rows
    return pa.RecordBatch.from_arrays([batch.column(column) for column in schema.names], schema=schema)
