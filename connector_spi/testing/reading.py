"""A small reader that drives the SPI as the engine does, with no regard to speed: for the tests of connectors.

Everything that a task needs goes through a pickle before it is used, and what a connector leaves of a filter is
checked value by value in Python.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType

import pyarrow as pa

from connector_spi.connector import Connector
from connector_spi.connector_transaction import TransactionState
from connector_spi.errors import ColumnNotFoundError, InternalError, NotSupportedError, TableNotFoundError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.metadata import SupportsLimit, SupportsTimeTravel, TableVersion
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import ChangeRange, SupportsChanges
from connector_spi.page_source import rows_without_columns
from connector_spi.predicate import Constraint, TupleDomain
from connector_spi.properties import parse_properties
from connector_spi.session import ConnectorSession
from connector_spi.splits import ScanSummary

__all__ = ["ReferenceQuery", "ReferenceScan", "read_table", "rows_that_fit"]

_MAX_ROUNDS = 8
_MAX_SPLITS = 100_000


def read_table(
    connector: Connector,
    name: SchemaTableName,
    columns: Sequence[str] | None = None,
    domain: TupleDomain[str] | None = None,
    *,
    version: TableVersion | None = None,
    session_properties: Mapping[str, str] | None = None,
) -> pa.Table:
    """Reads a table in a transaction of its own.

    Args:
        connector: The catalog.
        name: The table.
        columns: Names in output order; ``None`` for those of ``SELECT *``.
        domain: Filter by column name; ``None`` for none.
        version: An older state.
        session_properties: Texts by name.

    Returns:
        Exactly the rows of the filter, split after split.

    Raises:
        TableNotFoundError: No such table.
        ColumnNotFoundError: No such column.
        InternalError: The connector broke the contract.
    """
    with ReferenceQuery(connector, session_properties) as query:
        return query.table(name, version).filter_by_name(domain or TupleDomain.all()).project_names(columns).read()


class ReferenceQuery:
    """One query: a session and a transaction, committed at the end or rolled back on an error.

    As the engine does, it asks for the handle of each table and version once.
    """

    def __init__(self, connector: Connector, session_properties: Mapping[str, str] | None = None) -> None:
        self.connector = connector
        values = parse_properties(connector.session_properties, session_properties or {}, lambda name: name)
        self.session = ConnectorSession(
            "reference_query", "tester", "America/Los_Angeles", datetime.now(UTC), tuple(values.as_dict().items())
        )
        self.transaction = connector.begin_transaction(self.session)
        self.metadata = connector.get_metadata(self.transaction)
        self._handles: dict[tuple[SchemaTableName, TableVersion | None], TableHandle] = {}

    def __enter__(self) -> ReferenceQuery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.transaction.state is not TransactionState.OPEN:
            return
        if error is None:
            self.transaction.commit()
        else:
            self.transaction.rollback()

    def table(self, name: SchemaTableName, version: TableVersion | None = None) -> ReferenceScan:
        """A scan of the visible columns with nothing pushed.

        Raises:
            TableNotFoundError: No such table.
            NotSupportedError: A version of a connector without older states.
        """
        handle = self._handles.get((name, version)) or self._handle(name, version)
        if handle is None:
            raise TableNotFoundError(f"no table {name}")
        self._handles[name, version] = handle
        return self.scan(handle)

    def changes(self, name: SchemaTableName, change_range: ChangeRange) -> ReferenceScan:
        """A scan of the changes of a table with nothing pushed.

        Raises:
            TableNotFoundError: No such table.
            NotSupportedError: The connector knows no changes.
        """
        if not isinstance(self.metadata, SupportsChanges):
            raise NotSupportedError(f"{name}: the connector knows no changes")
        return self.scan(self.metadata.get_changes(self.session, self.table(name).table, change_range).table)

    def scan(self, handle: TableHandle) -> ReferenceScan:
        """A scan of the visible columns of a handle."""
        table = self.metadata.get_table_metadata(self.session, handle)
        handles = self.metadata.get_column_handles(self.session, handle)
        columns = tuple(handles[column.name] for column in table.visible_columns())
        return ReferenceScan(self, handle, handles, columns, TupleDomain.all())

    def _handle(self, name: SchemaTableName, version: TableVersion | None) -> TableHandle | None:
        if version is None:
            return self.metadata.get_table_handle(self.session, name)
        if not isinstance(self.metadata, SupportsTimeTravel):
            raise NotSupportedError(f"{name}: the connector has no older states")
        return self.metadata.get_table_handle_at(self.session, name, version)


@dataclass(frozen=True, slots=True)
class ReferenceScan:
    """A table and what was pushed into it.

    Attributes:
        query: The query.
        table: The handle.
        handles: All columns by name.
        columns: Output columns.
        remaining: What is left to check.
    """

    query: ReferenceQuery
    table: TableHandle
    handles: Mapping[str, ColumnHandle]
    columns: tuple[ColumnHandle, ...]
    remaining: TupleDomain[ColumnHandle]

    def by_handle(self, domain: TupleDomain[str]) -> TupleDomain[ColumnHandle]:
        """A filter by names as one by handles.

        Raises:
            ColumnNotFoundError: No such column.
        """
        return domain.transform_keys(self.column)

    def column(self, name: str) -> ColumnHandle:
        """The handle of a column.

        Raises:
            ColumnNotFoundError: No such column.
        """
        if name not in self.handles:
            raise ColumnNotFoundError(f"no column {name!r}; there are {list(self.handles)}")
        return self.handles[name]

    def filter_by_name(self, domain: TupleDomain[str]) -> ReferenceScan:
        """Offers a filter by column names."""
        return self.filter(self.by_handle(domain))

    def filter(self, domain: TupleDomain[ColumnHandle]) -> ReferenceScan:
        """Offers a filter until nothing changes any more.

        Raises:
            InternalError: The connector never returns ``None``.
        """
        scan, remaining = self, domain
        if domain.is_none or domain.is_all:
            return replace(scan, remaining=scan.remaining.intersect(domain))
        for _ in range(_MAX_ROUNDS):
            taken = self.query.metadata.apply_filter(self.query.session, scan.table, Constraint(domain))
            if taken is None:
                return replace(scan, remaining=scan.remaining.intersect(remaining))
            scan, remaining = replace(scan, table=taken.table), taken.remaining
        raise InternalError(f"apply_filter changed its handle {_MAX_ROUNDS} times for one filter; expected None")

    def project_names(self, columns: Sequence[str] | None) -> ReferenceScan:
        """Offers columns by names; ``None`` leaves them as they are."""
        return self if columns is None else self.project(tuple(self.column(name) for name in columns))

    def project(self, columns: tuple[ColumnHandle, ...]) -> ReferenceScan:
        """Offers output columns, and those that the rest of the filter needs.

        Raises:
            InternalError: The connector never returns ``None``, or gives other columns than asked for.
        """
        scan = replace(self, columns=columns)
        read = scan.read_columns()
        for _ in range(_MAX_ROUNDS):
            taken = self.query.metadata.apply_projection(self.query.session, scan.table, read)
            if taken is None:
                return scan
            if taken.columns != read:
                raise InternalError(f"apply_projection was offered {read} and returned {taken.columns}")
            scan = replace(scan, table=taken.table)
        raise InternalError(f"apply_projection changed its handle {_MAX_ROUNDS} times for the same columns")

    def limit(self, count: int) -> tuple[ReferenceScan, bool]:
        """Offers a limit; also says whether the connector guarantees it.

        Raises:
            InternalError: The connector never returns ``None``.
        """
        metadata = self.query.metadata
        scan, guaranteed = self, False
        if not isinstance(metadata, SupportsLimit):
            return scan, guaranteed
        for _ in range(_MAX_ROUNDS):
            taken = metadata.apply_limit(self.query.session, scan.table, count)
            if taken is None:
                return scan, guaranteed
            scan, guaranteed = replace(scan, table=taken.table), taken.guaranteed
        raise InternalError(f"apply_limit changed its handle {_MAX_ROUNDS} times for one limit; expected None")

    def read_columns(self) -> tuple[ColumnHandle, ...]:
        """The output columns, then those that only the rest of the filter needs."""
        wanted = dict.fromkeys(self.columns)
        wanted.update(dict.fromkeys(self.remaining.domains or {}))
        return tuple(wanted)

    def splits(self, dynamic_filter: TupleDomain[ColumnHandle] | None = None) -> tuple[tuple[Split, ...], ScanSummary]:
        """All splits in order, and the summary after the last one."""
        query = self.query
        source = query.connector.split_manager.get_splits(
            query.transaction, query.session, self.table, self.read_columns(), dynamic_filter or TupleDomain.all()
        )
        with source:
            splits: list[Split] = []
            for batch in source:
                splits += batch
                if len(splits) > _MAX_SPLITS:
                    raise InternalError(f"more than {_MAX_SPLITS} splits came for {self.table!r:.200}; expected an end")
            return tuple(splits), source.summary()

    def read_split(self, split: Split, dynamic_filter: TupleDomain[ColumnHandle] | None = None) -> pa.Table:
        """The rows of one split as a task reads it: from what came out of a pickle.

        Raises:
            InternalError: A batch has another schema than asked for.
        """
        sent = (self.query.connector.page_source_provider, self.query.session, split, self.table, self.read_columns())
        provider, session, split, table, columns = pickle.loads(pickle.dumps(sent))
        expected = [(column.name, column.type) for column in columns]
        with provider.create_page_source(session, split, table, columns, dynamic_filter or TupleDomain.all()) as source:
            batches = list(source)
            for schema in (source.schema, *(batch.schema for batch in batches)):
                given = list(zip(schema.names, schema.types, strict=True))
                if given != expected:
                    odd = [name for name, _ in expected if name not in schema.names] or [
                        f"{name}: {met}"
                        for (name, met), one in zip(given, expected, strict=False)
                        if (name, met) != one
                    ]
                    raise InternalError(f"asked for {expected}, met a batch of {given}; look at {odd}")
            return _table(batches, source.schema)

    def read_raw(self, dynamic_filter: TupleDomain[ColumnHandle] | None = None) -> pa.Table:
        """The rows as the connector gives them, with the columns of ``read_columns``."""
        if self.remaining.is_none:
            return _table([], pa.schema([(column.name, column.type) for column in self.read_columns()]))
        splits, _ = self.splits(dynamic_filter)
        tables = [self.read_split(split, dynamic_filter) for split in splits]
        batches = [batch for table in tables for batch in _batches(table)]
        return _table(batches, pa.schema([(column.name, column.type) for column in self.read_columns()]))

    def read(self) -> pa.Table:
        """The output columns of the rows that fit the filter."""
        raw = self.read_raw()
        if self.remaining.is_all:
            return raw
        fitting = rows_that_fit(raw, self.remaining.transform_keys(lambda column: column.name))
        return fitting.select([column.name for column in self.columns])


def rows_that_fit(table: pa.Table, domain: TupleDomain[str]) -> pa.Table:
    """The rows of a table that a filter lets through, found value by value."""
    if domain.domains is None:
        return table.slice(0, 0)
    fits = [True] * table.num_rows
    for name, allowed in domain.domains.items():
        values = table.column(name).to_pylist()
        fits = [fit and allowed.includes_value(value) for fit, value in zip(fits, values, strict=True)]
    return table.filter(pa.array(fits, pa.bool_()))


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    # Table.to_batches gives none for rows of no columns.
    return list(table.to_batches()) if table.num_columns else [rows_without_columns(table.num_rows)]


def _table(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    if len(schema):
        return pa.Table.from_batches([batch.cast(schema) for batch in batches], schema)
    return pa.Table.from_batches([rows_without_columns(sum(batch.num_rows for batch in batches))])
