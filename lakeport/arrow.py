"""Reading a table as Arrow record batches with no Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from catalog.registry import SESSION_CLOSED
from catalog.resolver import ResolvedSystemTable, ResolvedTable, resolve_column, with_read_options
from connector_spi.changes import ChangeRange
from connector_spi.errors import ColumnNotFoundError, FileMissingError, InvalidArgumentError, UserError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import TableVersion
from connector_spi.names import CatalogSchemaTableName, parse_name, quote_identifier
from connector_spi.predicate import Constraint, TupleDomain
from connector_spi.properties import closest
from lakeport.filters import RowFilter, Where, parse_where
from lakeport.planning import ScanPlan, plan_splits
from lakeport.redirection import resolve, resolve_with_changes
from lakeport.statement import CatalogAccess, Statement

__all__ = ["ArrowScan", "ArrowStream", "open_changes", "open_scan"]


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

    def __next__(self) -> pa.RecordBatch:
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

    def close(self) -> None:
        """Ends the read; where rows were left, a later ``next`` is an error."""
        batches, self._batches = self._batches, None
        statement, self._statement = self._statement, None
        close = getattr(batches, "close", None)
        try:
            if close is not None:
                close()
        finally:
            if statement is not None:
                statement.commit()


def open_scan(
    statement: Statement,
    name: str,
    columns: Sequence[str] | None,
    where: Where | None,
    limit: int | None,
    version: TableVersion | None = None,
    options: Mapping[str, str] | None = None,
) -> ArrowScan:
    """Plans a read.

    Args:
        statement: What the read belongs to; it ends with the batches.
        name: Catalog, schema and table, joined by dots.
        columns: What to read, in order; ``None`` is every column that is not hidden.
        where: Rows to read; ``None`` is all.
        limit: Most rows to give; ``None`` is all.
        version: An older state; ``None`` is the newest.
        options: Options of the connector, in any case; ``None`` is none.

    Raises:
        InvalidArgumentError: A name, filter, limit, version or option that is not understood.
        CatalogNotFoundError, SchemaNotFoundError, TableNotFoundError, ColumnNotFoundError: It is not there; names what
            is close.
        ConnectorError: The catalog or its storage failed.
    """
    _check_limit(limit)
    full = _full_name(name)
    access, resolved = resolve(statement.access(full.catalog), full, version)
    if isinstance(resolved, ResolvedSystemTable):
        if options:
            raise InvalidArgumentError(f"system table {resolved.name} has no read options; leave them out")
        return _system_table(access, resolved, columns, where, limit)
    return _table(access, resolved, columns, where, limit, options or {})


def open_changes(
    statement: Statement,
    name: str,
    change_range: ChangeRange,
    columns: Sequence[str] | None,
    where: Where | None,
    limit: int | None,
) -> ArrowScan:
    """Plans a read of the changes of a table.

    Args:
        statement: What the read belongs to; it ends with the batches.
        name: Catalog, schema and table, joined by dots.
        change_range: Which versions' changes.
        columns: What to read, in order; ``None`` is every column that is not hidden.
        where: Rows to read; ``None`` is all.
        limit: Most rows to give; ``None`` is all.

    Raises:
        InvalidArgumentError: A name, range, filter or limit that is not understood, or changes that are gone.
        NotSupportedError: The catalog or the table has no changes.
        CatalogNotFoundError, SchemaNotFoundError, TableNotFoundError, ColumnNotFoundError: It is not there; names what
            is close.
        ConnectorError: The catalog or its storage failed.
    """
    _check_limit(limit)
    full = _full_name(name)
    access, resolved, _ = resolve_with_changes(statement.access(full.catalog), full, change_range)
    return _table(access, resolved, columns, where, limit)


def _table(
    access: CatalogAccess,
    resolved: ResolvedTable,
    columns: Sequence[str] | None,
    where: Where | None,
    limit: int | None,
    options: Mapping[str, str] = MappingProxyType({}),
) -> ArrowScan:
    given = {key.lower(): text for key, text in options.items()}
    with access.lock:
        resolved = with_read_options(access.session, access.metadata, resolved, given)

    def find(written: str) -> tuple[str, pa.DataType]:
        handle = resolve_column(resolved, written)
        return handle.name, handle.type

    visible = [column.name for column in resolved.table.visible_columns()]
    wanted = _wanted(visible if columns is None else columns, find)
    rows = None if where is None else parse_where(where, find)
    handles = {handle.name: handle for handle in resolved.columns.values()}
    read = tuple(handles[column] for column in dict.fromkeys((*wanted, *(rows.columns if rows else ()))))
    everything = TupleDomain[ColumnHandle].all()
    plan = ScanPlan(access, resolved.handle, read, everything, everything)
    if rows is not None:
        domain = rows.domain().transform_keys(lambda column: handles[column])
        plan = plan.with_filter(Constraint(domain))
    plan = plan.with_columns(read)
    if limit is not None and rows is None:
        plan = plan.with_limit(limit)
    schema = pa.schema([(column, handles[column].type) for column in wanted])
    return ArrowScan(schema, _shape(_splits(plan), schema, rows, limit))


def _system_table(
    access: CatalogAccess,
    resolved: ResolvedSystemTable,
    columns: Sequence[str] | None,
    where: Where | None,
    limit: int | None,
) -> ArrowScan:
    table = resolved.system_table
    types = {column.name: column.type for column in table.metadata.columns}
    find = _finder(types, resolved.name)
    visible = [column.name for column in table.metadata.visible_columns()]
    wanted = _wanted(visible if columns is None else columns, find)
    rows = None if where is None else parse_where(where, find)
    constraint = TupleDomain[str].all() if rows is None else rows.domain()

    def read() -> Iterator[pa.RecordBatch]:
        with access.lock:
            yield from table.read(access.session, constraint)

    schema = pa.schema([(column, types[column]) for column in wanted])
    return ArrowScan(schema, _shape(read(), schema, rows, limit))


def _splits(plan: ScanPlan) -> Iterator[pa.RecordBatch]:
    """The batches of all splits, one split after the other."""
    access = plan.access
    provider = access.connector.page_source_provider
    for split in plan_splits(plan, TupleDomain.all()).splits:
        with provider.create_page_source(access.session, split, plan.table, plan.columns, TupleDomain.all()) as source:
            yield from source


def _shape(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, rows: RowFilter | None, limit: int | None
) -> Iterator[pa.RecordBatch]:
    """Filters, cuts at the limit, and gives the columns in the asked order."""
    left = limit
    try:
        for batch in batches:
            if left == 0:
                return
            passed = batch if rows is None else rows.apply(batch)
            if left is not None:
                passed = passed.slice(0, left)
                left -= passed.num_rows
            if passed.num_rows:
                yield pa.RecordBatch.from_arrays([passed.column(column) for column in schema.names], schema=schema)
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            close()


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 0:
        raise InvalidArgumentError(f"the limit is {limit}; expected 0 or more rows, or None")


def _full_name(name: str) -> CatalogSchemaTableName:
    parts = parse_name(name)
    if len(parts) != 3:
        raise InvalidArgumentError(
            f"'{name}' has {len(parts)} parts; expected catalog, schema and table, such as hive.sales.orders"
        )
    return CatalogSchemaTableName(parts[0].lower(), parts[1].lower(), parts[2].lower())


def _wanted(columns: Sequence[str], find: Callable[[str], tuple[str, pa.DataType]]) -> list[str]:
    if isinstance(columns, str):
        raise InvalidArgumentError(f"columns is the text '{columns}'; expected a list of names, such as ['{columns}']")
    if not columns:
        raise InvalidArgumentError("columns names no column; expected at least one, or None for all")
    wanted = [find(column)[0] for column in columns]
    for column in wanted:
        if wanted.count(column) > 1:
            raise InvalidArgumentError(f"column '{column}' is asked for twice; ask for it once")
    return wanted


def _finder(types: Mapping[str, pa.DataType], table: object) -> Callable[[str], tuple[str, pa.DataType]]:
    def find(written: str) -> tuple[str, pa.DataType]:
        found = written if written in types else written.lower()
        if found not in types:
            raise ColumnNotFoundError(
                f"no column {quote_identifier(written)} in table {table}{closest(written, types)}"
            )
        return found, types[found]

    return find
