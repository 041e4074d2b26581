"""The connector on SQLite with one rule broken in each class, as authors of connectors have broken it."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import pyarrow as pa

import connector_spi as spi
from connector_spi.predicate import Value
from tests.connector_spi.testing.sqlite_connector import (
    Condition,
    SizesTable,
    SqliteConnector,
    SqliteMetadata,
    SqliteProvider,
    SqliteSplit,
    SqliteSplitManager,
    SqliteTable,
)

Rows = Sequence[tuple[object, ...]]
Columns = tuple[spi.ColumnHandle, ...]
_KEPT: dict[int, spi.TupleDomain[spi.ColumnHandle]] = {}
_LEFT_OPEN: list[object] = []


@dataclass(frozen=True, slots=True)
class NumberedTable(SqliteTable):
    number: int = 0


class DriverFilterMetadata(SqliteMetadata):
    """Keeps a filter in the process, where the task does not see it."""

    def apply_filter(
        self, session: spi.ConnectorSession, table: SqliteTable, constraint: spi.Constraint
    ) -> spi.FilterApplication | None:
        taken = super().apply_filter(session, table, constraint)
        if taken is None or isinstance(table, NumberedTable) or not isinstance(taken.table, SqliteTable):
            return None
        _KEPT[len(_KEPT)] = taken.table.predicate
        kept = NumberedTable(table.name, table.path, table.schema, table.rows, number=len(_KEPT) - 1)
        return spi.FilterApplication(kept, taken.remaining)


class DriverFilterProvider(SqliteProvider):
    def query(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Condition:
        if isinstance(table, NumberedTable) and table.number in _KEPT:
            table = SqliteTable(table.name, table.path, table.schema, table.rows, _KEPT[table.number])
        return super().query(split, table, columns)


class NeverNullMetadata(SqliteMetadata):
    """Says that no column holds NULL."""

    def get_table_metadata(self, session: spi.ConnectorSession, table: SqliteTable) -> spi.TableMetadata:
        found = super().get_table_metadata(session, table)
        return replace(found, columns=tuple(replace(one, nullable=False) for one in found.columns))


class PastedValuesProvider(SqliteProvider):
    """Writes values into the SQL."""

    def condition(self, column: str, domain: spi.Domain) -> Condition:
        if domain.is_single_value and isinstance(domain.values.single_value, str):
            return f"{column} = '{domain.values.single_value}'", ()
        return super().condition(column, domain)


class PastedNamesProvider(SqliteProvider):
    """Writes column names into the SQL with quotes around them, whatever is in them."""

    def query(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Condition:
        sql, values = super().query(split, table, columns)
        return sql.replace('""', '"'), values


class BareNamesProvider(SqliteProvider):
    """Writes column names into the SQL as they are."""

    def query(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Condition:
        sql, values = super().query(split, table, columns)
        return sql.replace('"', ""), values


class PathNamesMetadata(SqliteMetadata):
    """Makes paths and patterns of names."""

    def list_tables(self, session: spi.ConnectorSession, schema: str) -> list[spi.SchemaTableName]:
        return [spi.SchemaTableName(schema, path.stem) for path in sorted(self.folder.glob(f"{schema}/*.db"))]


class EarlyLimitProvider(SqliteProvider):
    """Counts the rows of a limit before it filters."""

    def query(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Condition:
        sql, values = super().query(split, replace(table, limit=None), columns)
        limit = "" if table.limit is None else f" LIMIT {table.limit}"
        return sql.replace("FROM rows", f"FROM (SELECT rowid, * FROM rows{limit})"), values


class ShortListProvider(SqliteProvider):
    """Looks for the first hundred values of a list."""

    def condition(self, column: str, domain: spi.Domain) -> Condition:
        values = domain.values.discrete_values()
        if values is not None and len(values) > 100:
            domain = spi.Domain.multiple_values(domain.type, values[:100])
        return super().condition(column, domain)


class FloatProvider(SqliteProvider):
    """Compares whole numbers as floating-point ones."""

    def condition(self, column: str, domain: spi.Domain) -> Condition:
        sql, values = super().condition(f"CAST({column} AS REAL)" if domain.type == pa.int64() else column, domain)
        return sql, tuple(float(one) if isinstance(one, int) else one for one in values)


class CaseProvider(SqliteProvider):
    """Takes a letter for its capital."""

    def condition(self, column: str, domain: spi.Domain) -> Condition:
        return super().condition(f"{column} COLLATE NOCASE" if domain.type == pa.string() else column, domain)


class OddResultConnector(SqliteConnector):
    """Its procedure gives another column than it says."""

    def count_rows(self, session: spi.ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        return super().count_rows(session, arguments).rename_columns(["count"])


class KeyErrorConnector(SqliteConnector):
    """Its procedure asks for an argument that it does not have."""

    def count_rows(self, session: spi.ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        return super().count_rows(session, {**arguments, "table_name": arguments["tabel_name"]})


class OddSizesTable(SizesTable):
    def read(self, session: spi.ConnectorSession, constraint: spi.TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"row_count": pa.array([self.table.rows], pa.int32())})


class NoSizesTable(SizesTable):
    def read(self, session: spi.ConnectorSession, constraint: spi.TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        yield from ()


class OddSystemTableMetadata(SqliteMetadata):
    """Its system table has another type than it says."""

    def get_system_table(self, session: spi.ConnectorSession, name: spi.SystemTableName) -> spi.SystemTable | None:
        found = super().get_system_table(session, name)
        return OddSizesTable(found.table) if isinstance(found, SizesTable) else None


class EmptySystemTableMetadata(SqliteMetadata):
    """Its system table never has a row."""

    def get_system_table(self, session: spi.ConnectorSession, name: spi.SystemTableName) -> spi.SystemTable | None:
        found = super().get_system_table(session, name)
        return NoSizesTable(found.table) if isinstance(found, SizesTable) else None


class RawErrorProvider(SqliteProvider):
    """Leaves errors to its library."""

    def read(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Iterator[pa.RecordBatch]:
        sql, values = self.query(split, table, columns)
        connection = sqlite3.connect(f"file:{table.path}?mode=ro", uri=True)
        yield self.batch(connection.execute(sql, values).fetchall(), columns)
        connection.close()


class RawKeyErrorMetadata(SqliteMetadata):
    """Takes any version for a number."""

    def get_table_handle_at(
        self, session: spi.ConnectorSession, name: spi.SchemaTableName, version: spi.TableVersion
    ) -> SqliteTable | None:
        newest = self.get_table_handle(session, name)
        rows = {str(number): number for number in range(newest.rows + 1)} if newest is not None else {}
        return newest and replace(newest, rows=rows[str(version.value)])


class RawArrowProvider(SqliteProvider):
    """Has Arrow meet what is not there."""

    def read(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Iterator[pa.RecordBatch]:
        try:
            yield from super().read(split, table, columns)
        except spi.ConnectorError:
            yield pa.ipc.open_stream(b"").read_next_batch()


class ForgivingProvider(SqliteProvider):
    """Takes damaged data for no data."""

    def read(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Iterator[pa.RecordBatch]:
        try:
            yield from super().read(split, table, columns)
        except spi.ExternalError:
            return


class ForgivingMetadata(SqliteMetadata):
    """Takes a damaged table for an empty one."""

    def get_table_handle(self, session: spi.ConnectorSession, name: spi.SchemaTableName) -> SqliteTable | None:
        try:
            return super().get_table_handle(session, name)
        except spi.ExternalError:
            schema = pa.schema([("id", pa.int64()), ("v", pa.string())])
            return SqliteTable(name, str(self.folder / name.schema / f"{name.table}.db"), schema, 0)


class SecretHandleConnector(SqliteConnector):
    """Puts the password into the handle, for the task to use."""

    def __init__(self, properties: spi.PropertyValues) -> None:
        super().__init__(properties)
        self.metadata = SecretHandleMetadata(self.folder)
        self.metadata.password = self.password


class SecretHandleMetadata(SqliteMetadata):
    password: str | None = None

    def get_table_handle(self, session: spi.ConnectorSession, name: spi.SchemaTableName) -> SqliteTable | None:
        found = super().get_table_handle(session, name)
        if found is None or self.password is None:
            return found
        return replace(found, schema=found.schema.with_metadata({"password": self.password}))


class SecretPropertyConnector(SqliteConnector):
    """Shows the password in the table's location."""

    def __init__(self, properties: spi.PropertyValues) -> None:
        super().__init__(properties)
        self.metadata = SecretPropertyMetadata(self.folder)
        self.metadata.password = self.password


class SecretPropertyMetadata(SqliteMetadata):
    password: str | None = None

    def get_table_metadata(self, session: spi.ConnectorSession, table: SqliteTable) -> spi.TableMetadata:
        found = super().get_table_metadata(session, table)
        return replace(found, properties=(("location", f"sqlite://user:{self.password}@{table.path}"),))


class OpenConnectionProvider(SqliteProvider):
    """Leaves a connection open for each split."""

    def read(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Iterator[pa.RecordBatch]:
        connection = sqlite3.connect(f"file:{table.path}?mode=ro", uri=True)
        connection.execute("SELECT count(*) FROM rows")
        _LEFT_OPEN.append(connection)
        yield from super().read(split, table, columns)


class OpenFileConnector(SqliteConnector):
    """Does not close its log at the end."""

    def __init__(self, properties: spi.PropertyValues) -> None:
        super().__init__(properties)
        _LEFT_OPEN.append(open(self.folder / "log.txt", "w"))  # noqa: SIM115  the fault


class AllAtOnceProvider(SqliteProvider):
    """Gives a split in one batch."""

    def read(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Iterator[pa.RecordBatch]:
        yield pa.Table.from_batches(list(super().read(split, table, columns))).combine_chunks().to_batches()[0]


class LargeSplitManager(SqliteSplitManager):
    """Makes splits of 250,000 rows."""

    def get_splits(
        self,
        transaction: spi.ConnectorTransaction,
        session: spi.ConnectorSession,
        table: SqliteTable,
        columns: Columns,
        dynamic_filter: spi.TupleDomain[spi.ColumnHandle],
    ) -> spi.SplitSource[SqliteSplit]:
        step = 250_000
        splits = [SqliteSplit(first, min(first + step - 1, table.rows)) for first in range(1, table.rows + 1, step)]
        return spi.ListSplitSource(splits, spi.ScanSummary())


class EndlessSource(spi.SplitSource[SqliteSplit]):
    def __iter__(self) -> Iterator[Sequence[SqliteSplit]]:
        return ([SqliteSplit(1, 1)] * 1000 for _ in itertools.count())

    def summary(self) -> spi.ScanSummary:
        return spi.ScanSummary()


class EndlessSplitManager(SqliteSplitManager):
    """Always has one more batch of splits."""

    def get_splits(
        self,
        transaction: spi.ConnectorTransaction,
        session: spi.ConnectorSession,
        table: SqliteTable,
        columns: Columns,
        dynamic_filter: spi.TupleDomain[spi.ColumnHandle],
    ) -> spi.SplitSource[SqliteSplit]:
        return EndlessSource()


class EagerSplitManager(EndlessSplitManager):
    """Wants all of them before it gives the first."""

    def get_splits(
        self,
        transaction: spi.ConnectorTransaction,
        session: spi.ConnectorSession,
        table: SqliteTable,
        columns: Columns,
        dynamic_filter: spi.TupleDomain[spi.ColumnHandle],
    ) -> spi.SplitSource[SqliteSplit]:
        for _ in itertools.count():
            table = replace(table)
        return EndlessSource()


class LocalTimeProvider(SqliteProvider):
    """Takes the process's time zone for that of the values."""

    def batch(self, rows: Rows, columns: Columns) -> pa.RecordBatch:
        batch = super().batch(rows, columns)
        for at, column in enumerate(columns):
            if column.type == pa.timestamp("us"):
                micros = batch.column(at).cast(pa.int64()).to_pylist()
                local = [None if one is None else datetime.fromtimestamp(one / 1_000_000) for one in micros]
                batch = batch.set_column(at, column.name, pa.array(local, column.type))
        return batch


class LosesLastBatchProvider(SqliteProvider):
    """Loses the last of several batches."""

    def read(self, split: SqliteSplit, table: SqliteTable, columns: Columns) -> Iterator[pa.RecordBatch]:
        batches = list(super().read(split, table, columns))
        yield from batches[:-1] or batches


class LosesLastSplitManager(SqliteSplitManager):
    """Loses the last of several splits."""

    def get_splits(
        self,
        transaction: spi.ConnectorTransaction,
        session: spi.ConnectorSession,
        table: SqliteTable,
        columns: Columns,
        dynamic_filter: spi.TupleDomain[spi.ColumnHandle],
    ) -> spi.SplitSource[SqliteSplit]:
        found = super().get_splits(transaction, session, table, columns, dynamic_filter)
        splits = [split for batch in found for split in batch]
        return spi.ListSplitSource(splits[:-1] or splits, spi.ScanSummary())


class FirstWriteMetadata(SqliteMetadata):
    """Remembers how many rows a table has."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._rows: dict[spi.SchemaTableName, int] = {}

    def get_table_handle(self, session: spi.ConnectorSession, name: spi.SchemaTableName) -> SqliteTable | None:
        found = super().get_table_handle(session, name)
        # A file is found by what wrote it first: two rows at a time.
        return found and replace(found, rows=max(found.rows - 2, 2))


class PlainZeroProvider(SqliteProvider):
    """Makes 0.0 of -0.0."""

    def batch(self, rows: Rows, columns: Columns) -> pa.RecordBatch:
        plain = [tuple(0.0 if isinstance(value, float) and not value else value for value in row) for row in rows]
        return super().batch(plain, columns)
