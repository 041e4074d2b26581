"""A small connector that keeps the whole contract: each table is a SQLite file, ``<folder>/<schema>/<table>.db``.

It is here to be broken: each class of ``faulty_connectors`` breaks one rule of it, and the suite must notice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

import connector_spi as spi
from connector_spi.predicate import Value

FOLDER = spi.string_property("sqlite.folder", "Holds a folder for each schema.", required=True)
PASSWORD = spi.string_property("sqlite.password", "What a server would ask for.", sensitive=True)
BATCH_ROWS = 2_000
SPLIT_ROWS = 5_000
EXACT = (pa.int64(), pa.string())
"""Types whose values SQLite compares as the SPI does."""

Condition = tuple[str, tuple[Value, ...]]
"""SQL with question marks, and the values in their places."""


@dataclass(frozen=True, slots=True)
class SqliteTable(spi.TableHandle):
    name: spi.SchemaTableName
    path: str
    schema: pa.Schema
    rows: int
    """The snapshot: rows are only added, so the first so many are the table as it was."""
    predicate: spi.TupleDomain[spi.ColumnHandle] = field(default_factory=spi.TupleDomain[spi.ColumnHandle].all)
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class SqliteSplit(spi.Split):
    first: int
    last: int

    @property
    def size_bytes(self) -> int:
        return self.last - self.first + 1


@contextmanager
def opened(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that is closed, whose errors are the SPI's."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            yield connection
    except sqlite3.OperationalError as error:
        raise spi.FileMissingError(f"{path} cannot be opened: {error}") from error
    except sqlite3.Error as error:
        raise spi.CorruptFileError(f"{path} is not a SQLite file, or is damaged: {error}") from error


def write(folder: Path, name: spi.SchemaTableName, data: pa.Table) -> Path:
    """Makes a table, or adds rows to it."""
    path = folder / name.schema / f"{name.table}.db"
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.execute("CREATE TABLE columns (arrow BLOB)")
            connection.execute("INSERT INTO columns VALUES (?)", (data.schema.serialize().to_pybytes(),))
            connection.execute(f"CREATE TABLE rows ({', '.join(map(quoted, data.column_names))})")
        marks = ", ".join("?" * data.num_columns)
        # Times become whole numbers, which have no time zone to be wrong about.
        stored = [pa.chunked_array(values.cast(stored_type(values.type))).to_pylist() for values in data.columns]
        connection.executemany(f"INSERT INTO rows VALUES ({marks})", zip(*stored, strict=True))
    return path


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def stored_type(data_type: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_timestamp(data_type) else data_type


class SqliteMetadata(spi.ConnectorMetadata[SqliteTable]):
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def list_schema_names(self, session: spi.ConnectorSession) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.is_dir())

    def list_tables(self, session: spi.ConnectorSession, schema: str) -> list[spi.SchemaTableName]:
        folders = [path for path in self.folder.iterdir() if path.name == schema]
        names = sorted(path.stem for folder in folders for path in folder.glob("*.db"))
        return [spi.SchemaTableName(schema, name) for name in names]

    def get_table_handle(self, session: spi.ConnectorSession, name: spi.SchemaTableName) -> SqliteTable | None:
        if name not in self.list_tables(session, name.schema):
            return None
        path = str(self.folder / name.schema / f"{name.table}.db")
        with opened(path) as connection:
            [arrow] = connection.execute("SELECT arrow FROM columns").fetchone()
            [rows] = connection.execute("SELECT count(*) FROM rows").fetchone()
        return SqliteTable(name, path, pa.ipc.read_schema(pa.py_buffer(arrow)), rows)

    def get_table_handle_at(
        self, session: spi.ConnectorSession, name: spi.SchemaTableName, version: spi.TableVersion
    ) -> SqliteTable | None:
        newest = self.get_table_handle(session, name)
        if newest is None:
            return None
        text = str(version.value)
        if version.kind is not spi.VersionKind.VERSION or not text.isdecimal() or int(text) > newest.rows:
            raise spi.InvalidArgumentError(f"table {name} has no version {text!r}; it has 0 to {newest.rows}")
        return replace(newest, rows=int(text))

    def get_table_metadata(self, session: spi.ConnectorSession, table: SqliteTable) -> spi.TableMetadata:
        columns = tuple(spi.ColumnMetadata(field.name, field.type) for field in table.schema)
        return spi.TableMetadata(table.name, columns, properties=(("location", table.path),))

    def get_table_statistics(self, session: spi.ConnectorSession, table: SqliteTable) -> spi.TableStatistics:
        return spi.TableStatistics(row_count=float(table.rows))

    def apply_filter(
        self, session: spi.ConnectorSession, table: SqliteTable, constraint: spi.Constraint
    ) -> spi.FilterApplication | None:
        if table.limit is not None:
            return None
        predicate = table.predicate.intersect(constraint.summary.keep(lambda column: column.type in EXACT))
        if predicate == table.predicate:
            return None
        remaining = constraint.summary.keep(lambda column: column.type not in EXACT)
        return spi.FilterApplication(replace(table, predicate=predicate), remaining)

    def apply_limit(self, session: spi.ConnectorSession, table: SqliteTable, limit: int) -> spi.LimitApplication | None:
        if table.limit is not None and table.limit <= limit:
            return None
        return spi.LimitApplication(replace(table, limit=limit), guaranteed=True)

    def get_system_table(self, session: spi.ConnectorSession, name: spi.SystemTableName) -> spi.SystemTable | None:
        table = self.get_table_handle(session, name.base) if name.kind == "sizes" else None
        return None if table is None else SizesTable(table)

    def list_system_table_kinds(self) -> tuple[str, ...]:
        return ("sizes",)


class SizesTable(spi.SystemTable):
    """``t$sizes``: one row."""

    def __init__(self, table: SqliteTable) -> None:
        self.table = table

    @property
    def metadata(self) -> spi.TableMetadata:
        name = spi.SchemaTableName(self.table.name.schema, f"{self.table.name.table}$sizes")
        return spi.TableMetadata(name, (spi.ColumnMetadata("row_count", pa.int64(), nullable=False),))

    def read(self, session: spi.ConnectorSession, constraint: spi.TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"row_count": pa.array([self.table.rows], pa.int64())})


class SqliteSplitManager(spi.SplitManager[SqliteTable, SqliteSplit]):
    def get_splits(
        self,
        transaction: spi.ConnectorTransaction,
        session: spi.ConnectorSession,
        table: SqliteTable,
        columns: tuple[spi.ColumnHandle, ...],
        dynamic_filter: spi.TupleDomain[spi.ColumnHandle],
    ) -> spi.SplitSource[SqliteSplit]:
        # A limit holds for the whole scan, so that one split has to count.
        step = SPLIT_ROWS if table.limit is None else max(table.rows, 1)
        splits = [SqliteSplit(first, min(first + step - 1, table.rows)) for first in range(1, table.rows + 1, step)]
        return spi.ListSplitSource(splits, spi.ScanSummary())


class SqliteProvider(spi.GeneratorPageSourceProvider[SqliteTable, SqliteSplit]):
    def read(
        self, split: SqliteSplit, table: SqliteTable, columns: tuple[spi.ColumnHandle, ...]
    ) -> Iterator[pa.RecordBatch]:
        sql, values = self.query(split, table, columns)
        with opened(table.path) as connection:
            cursor = connection.execute(sql, values)
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield self.batch(rows, columns)

    def query(self, split: SqliteSplit, table: SqliteTable, columns: tuple[spi.ColumnHandle, ...]) -> Condition:
        conditions: list[Condition] = [("rowid BETWEEN ? AND ?", (split.first, split.last))]
        for column, domain in (table.predicate.domains or {}).items():
            conditions.append(self.condition(quoted(column.name), domain))
        where = " AND ".join(f"({sql})" for sql, _ in conditions)
        limit = "" if table.limit is None else f" LIMIT {table.limit}"
        names = ", ".join(quoted(column.name) for column in columns) or "1"
        return f"SELECT {names} FROM rows WHERE {where}{limit}", tuple(one for _, some in conditions for one in some)

    def condition(self, column: str, domain: spi.Domain) -> Condition:
        """A column's domain as SQL."""
        found = [f"{column} IS NULL"] if domain.null_allowed else []
        discrete = domain.values.discrete_values()
        if discrete is not None:
            return " OR ".join([*found, f"{column} IN ({', '.join('?' * len(discrete))})"]), discrete
        values: list[Value] = []
        for item in domain.values.ranges() or ():
            bounds = []
            for bound, inclusive, sign in ((item.low, item.low_inclusive, ">"), (item.high, item.high_inclusive, "<")):
                if bound is not None:
                    bounds.append(f"{column} {sign}{'=' if inclusive else ''} ?")
                    values.append(bound)
            found.append(f"({' AND '.join(bounds) or f'{column} IS NOT NULL'})")
        return " OR ".join(found) or "0", tuple(values)

    def batch(self, rows: Sequence[tuple[object, ...]], columns: tuple[spi.ColumnHandle, ...]) -> pa.RecordBatch:
        if not columns:
            return spi.rows_without_columns(len(rows))
        arrays = [
            pa.array([row[at] for row in rows], stored_type(column.type)).cast(column.type)
            for at, column in enumerate(columns)
        ]
        return pa.RecordBatch.from_arrays(arrays, [column.name for column in columns])


class SqliteConnector(spi.Connector):
    metadata_class: ClassVar[type[SqliteMetadata]] = SqliteMetadata
    splits_class: ClassVar[type[SqliteSplitManager]] = SqliteSplitManager
    provider_class: ClassVar[type[SqliteProvider]] = SqliteProvider

    def __init__(self, properties: spi.PropertyValues) -> None:
        self.folder = Path(properties.get(FOLDER))
        self.password = properties.get(PASSWORD)
        self.metadata = self.metadata_class(self.folder)

    def get_metadata(self, transaction: spi.ConnectorTransaction) -> spi.ConnectorMetadata:
        return self.metadata

    @property
    def split_manager(self) -> spi.SplitManager:
        return self.splits_class()

    @property
    def page_source_provider(self) -> spi.PageSourceProvider:
        return self.provider_class()

    @property
    def procedures(self) -> tuple[spi.Procedure, ...]:
        arguments = (
            spi.ProcedureArgument("schema_name", pa.string(), "Schema of the table."),
            spi.ProcedureArgument("table_name", pa.string(), "The table."),
        )
        result = pa.schema([("rows", pa.int64())])
        return (
            spi.Procedure("system", "count_rows", "Counts the rows of a table.", arguments, result, self.count_rows),
        )

    def count_rows(self, session: spi.ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = spi.SchemaTableName(str(arguments["schema_name"]), str(arguments["table_name"]))
        found = SqliteMetadata(self.folder).get_table_handle(session, name)
        if found is None:
            raise spi.TableNotFoundError(f"no table {name}; SHOW TABLES lists those there are")
        return pa.table({"rows": pa.array([found.rows], pa.int64())})


class SqliteFactory(spi.ConnectorFactory):
    name, spi_version, config_properties = "sqlite", spi.SPI_VERSION, (FOLDER, PASSWORD)

    def __init__(self, connector_class: type[SqliteConnector] = SqliteConnector) -> None:
        self._connector_class = connector_class

    def create(self, catalog: str, properties: spi.PropertyValues, context: spi.ConnectorContext) -> SqliteConnector:
        return self._connector_class(properties)
