"""A plugin over a database, which pushes down what it can say in SQL. Schemas are files ``<folder>/<schema>.db``."""

import contextlib
import itertools
import sqlite3
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

import connector_spi as spi

FOLDER = spi.string_property("sqlite.folder", "Holds a file for each schema.", required=True)
TYPES = {"INTEGER": pa.int64(), "TEXT": pa.string()}
"""Of these two SQLite has every value, and compares them as Lakeport does: numbers exactly, texts by their bytes."""
BATCH_ROWS = 20_000
MOST_VALUES = 1000
OPERATORS = {
    spi.Function.AND: "AND",
    spi.Function.OR: "OR",
    spi.Function.EQUAL: "=",
    spi.Function.NOT_EQUAL: "<>",
    spi.Function.LESS: "<",
    spi.Function.LESS_OR_EQUAL: "<=",
    spi.Function.GREATER: ">",
    spi.Function.GREATER_OR_EQUAL: ">=",
    spi.Function.NULL_SAFE_EQUAL: "IS",
}
Row = tuple[str, ...]
Sql = tuple[str, tuple[spi.Value | None, ...]]
"""A text with question marks, and the values that stand for these: values never become part of the text."""


@dataclass(frozen=True, slots=True)
class SqliteTable(spi.TableHandle):
    """A table, and the query that was pushed into it so far."""

    name: spi.SchemaTableName
    path: str
    columns: tuple[spi.ColumnHandle, ...]
    constraint: spi.TupleDomain[spi.ColumnHandle] = field(default_factory=spi.TupleDomain.all)
    expressions: tuple[spi.ConnectorExpression, ...] = ()
    order: tuple[spi.SortItem, ...] = ()
    limit: int | None = None
    aggregation: spi.Aggregation | None = None


@dataclass(frozen=True, slots=True)
class SqliteSplit(spi.Split):
    """The whole table: SQLite answers one query at a time."""

    size_bytes: int


class SqliteMetadata(spi.ConnectorMetadata[SqliteTable]):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_schema_names(self, session: spi.ConnectorSession) -> list[str]:
        return sorted(path.stem for path in self._folder.glob("*.db") if path.stem == path.stem.lower())

    def list_tables(self, session: spi.ConnectorSession, schema: str) -> list[spi.SchemaTableName]:
        if schema not in self.list_schema_names(session):
            return []
        names = run(self._path(schema), ("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", ()))
        return [spi.SchemaTableName(schema, name) for (name,) in names if name == name.lower()]

    def get_table_handle(self, session: spi.ConnectorSession, name: spi.SchemaTableName) -> SqliteTable | None:
        if name not in self.list_tables(session, name.schema):
            return None
        path = self._path(name.schema)
        declared = run(path, ("SELECT name, type FROM pragma_table_info(?) ORDER BY cid", (name.table,)))
        columns = []
        for column, data_type in declared:
            if data_type not in TYPES:
                raise spi.NotSupportedError(f"{name}: column {column} is {data_type}; expected one of {list(TYPES)}")
            columns.append(spi.ColumnHandle(column, TYPES[data_type]))
        return SqliteTable(name, path, tuple(columns))

    def get_table_metadata(self, session: spi.ConnectorSession, table: SqliteTable) -> spi.TableMetadata:
        columns = (spi.ColumnMetadata(column.name, column.type) for column in table.columns)
        return spi.TableMetadata(table.name, tuple(columns), properties=(("location", table.path),))

    def apply_filter(
        self, session: spi.ConnectorSession, table: SqliteTable, constraint: spi.Constraint
    ) -> spi.FilterApplication | None:
        """Takes every domain, and the expressions that it can say; guarantees both."""
        if table.limit is not None or table.aggregation is not None:
            return None  # a filter after them is another one
        said = tuple(one for one in constraint.expressions if sql(one) is not None)
        new = tuple(one for one in said if one not in table.expressions)
        domains = table.constraint.intersect(constraint.summary)
        if domains == table.constraint and not new:
            return None
        taken = replace(table, constraint=domains, expressions=(*table.expressions, *new))
        return spi.FilterApplication(taken, spi.TupleDomain.all(), said)

    def apply_limit(self, session: spi.ConnectorSession, table: SqliteTable, limit: int) -> spi.LimitApplication | None:
        if table.aggregation is not None or (table.limit is not None and table.limit <= limit):
            return None
        return spi.LimitApplication(replace(table, limit=limit), guaranteed=True)

    def apply_top_n(
        self, session: spi.ConnectorSession, table: SqliteTable, count: int, order: tuple[spi.SortItem, ...]
    ) -> spi.TopNApplication | None:
        if table.aggregation is not None or table.limit is not None:
            return None
        return spi.TopNApplication(replace(table, order=order, limit=count), guaranteed=True)

    def apply_aggregation(
        self, session: spi.ConnectorSession, table: SqliteTable, aggregation: spi.Aggregation
    ) -> spi.AggregationApplication | None:
        """All but sums: the INTEGER of SQLite, an int64, has sums that overflow, and these are never offered."""
        sums = any(one.kind is spi.AggregateKind.SUM for one in aggregation.functions)
        if sums or table.limit is not None or table.aggregation is not None:
            return None
        types = [*(key.type for key in aggregation.keys), *(one.type for one in aggregation.functions)]
        columns = tuple(spi.ColumnHandle(f"c{number}", data_type) for number, data_type in enumerate(types))
        return spi.AggregationApplication(replace(table, aggregation=aggregation), columns, complete=True)

    def _path(self, schema: str) -> str:
        return str(self._folder / f"{schema}.db")


class SqliteSplitManager(spi.SplitManager[SqliteTable, SqliteSplit]):
    def get_splits(
        self,
        transaction: spi.ConnectorTransaction,
        session: spi.ConnectorSession,
        table: SqliteTable,
        columns: tuple[spi.ColumnHandle, ...],
        dynamic_filter: spi.TupleDomain[spi.ColumnHandle],
    ) -> spi.SplitSource[SqliteSplit]:
        return spi.ListSplitSource([SqliteSplit(Path(table.path).stat().st_size)], spi.ScanSummary())


class SqlitePageSourceProvider(spi.GeneratorPageSourceProvider[SqliteTable, SqliteSplit]):
    def read(
        self, split: SqliteSplit, table: SqliteTable, columns: tuple[spi.ColumnHandle, ...]
    ) -> Iterator[pa.RecordBatch]:
        with contextlib.closing(rows(table.path, select(table, columns))) as found:
            while some := list(itertools.islice(found, BATCH_ROWS)):
                yield batch(some, columns, table.path) if columns else spi.rows_without_columns(len(some))


class SqliteConnector(spi.Connector):
    split_manager = SqliteSplitManager()
    page_source_provider = SqlitePageSourceProvider()

    def __init__(self, folder: Path) -> None:
        self._metadata = SqliteMetadata(folder)

    def get_metadata(self, transaction: spi.ConnectorTransaction) -> spi.ConnectorMetadata:
        return self._metadata


class SqliteFactory(spi.ConnectorFactory):
    name = "sqlite"
    spi_version = 2
    config_properties = (FOLDER,)

    def create(self, catalog: str, properties: spi.PropertyValues, context: spi.ConnectorContext) -> SqliteConnector:
        return SqliteConnector(Path(properties.get(FOLDER)))


def select(table: SqliteTable, columns: tuple[spi.ColumnHandle, ...]) -> Sql:
    """The query of a scan: what was pushed into the handle, and the columns that are read of it."""
    conditions = [domain_sql(quoted(c.name), d) for c, d in (table.constraint.domains or {}).items()]
    conditions += [found for one in table.expressions if (found := sql(one)) is not None]
    values = [value for _, given in conditions for value in given]
    if table.aggregation is None:
        output = [quoted(column.name) for column in columns] or ["1"]
        keys: list[str] = []
    else:
        keys = [quoted(key.name) for key in table.aggregation.keys]
        computed = {f"c{n}": text for n, text in enumerate([*keys, *map(function_sql, table.aggregation.functions)])}
        output = [computed[column.name] for column in columns] or ["1"]
    order = [
        f"{quoted(item.column.name)} {'ASC' if item.ascending else 'DESC'} "
        f"NULLS {'FIRST' if item.nulls_first else 'LAST'}"
        for item in table.order
    ]
    text = f"SELECT {', '.join(output)} FROM {quoted(table.name.table)}"
    text += f" WHERE {' AND '.join(condition for condition, _ in conditions)}" if conditions else ""
    text += f" GROUP BY {', '.join(keys)}" if keys else ""
    text += f" ORDER BY {', '.join(order)}" if order else ""
    return text + ("" if table.limit is None else f" LIMIT {table.limit}"), tuple(values)


def domain_sql(column: str, domain: spi.Domain) -> Sql:
    """A condition that is true for the values of a domain, and false for all others, NULL included."""
    parts: list[Sql] = [(f"{column} IS NULL", ())] if domain.null_allowed else []
    if domain.values.is_all:
        parts.append((f"{column} IS NOT NULL", ()))
    for item in domain.values.ranges() or () if not domain.values.is_all else ():
        bounds = [
            (f"{column} {operator}{'=' if inclusive else ''} ?", (bound,))
            for operator, bound, inclusive in (
                (">", item.low, item.low_inclusive),
                ("<", item.high, item.high_inclusive),
            )
            if bound is not None
        ]
        parts.append(joined(" AND ", bounds))
    return joined(" OR ", parts) if parts else ("0", ())


def sql(expression: spi.ConnectorExpression) -> Sql | None:
    """An expression in SQLite's SQL; ``None`` where it has no such thing, or another one by that name."""
    match expression:
        case spi.Constant(value=value):
            return ("?", (value,))
        case spi.ColumnReference(column=column):
            return (quoted(column.name), ())
        case spi.FieldDereference():
            return None
        case spi.Call(function=function, arguments=arguments):
            parts = [sql(argument) for argument in arguments]
            known = [part for part in parts if part is not None]
            return call_sql(function, known) if len(known) == len(parts) else None


def call_sql(function: spi.Function, parts: list[Sql]) -> Sql | None:
    values = tuple(value for _, given in parts for value in given)
    first, *others = [text for text, _ in parts]
    if function in OPERATORS:
        return joined(f" {OPERATORS[function]} ", parts)
    if function is spi.Function.NOT:
        return f"(NOT {first})", values
    if function is spi.Function.IS_NULL:
        return f"({first} IS NULL)", values
    if function is spi.Function.IN and len(others) <= MOST_VALUES:
        return f"({first} IN ({', '.join(others)}))", values
    # GLOB and LIKE have patterns, and LIKE knows no case; texts with a zero byte end there for instr and substr.
    return None


def function_sql(function: spi.AggregateFunction) -> str:
    return function.kind.value if function.column is None else f"{function.kind.value}({quoted(function.column.name)})"


def joined(word: str, parts: Iterable[Sql]) -> Sql:
    texts, values = zip(*parts, strict=True)
    return f"({word.join(texts)})", tuple(value for given in values for value in given)


def batch(some: list[Row], columns: tuple[spi.ColumnHandle, ...], path: str) -> pa.RecordBatch:
    values = zip(*some, strict=True)
    try:
        arrays = [pa.array(column, handle.type) for column, handle in zip(values, columns, strict=True)]
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise spi.CorruptFileError(f"{path} holds a value that is not of its column's type: {error}") from error
    return pa.RecordBatch.from_arrays(arrays, names=[handle.name for handle in columns])


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def run(path: str, query: Sql) -> list[Row]:
    with contextlib.closing(rows(path, query)) as found:
        return list(found)


def rows(path: str, query: Sql) -> Generator[Row, None, None]:
    """The rows of a query, read only; closing the generator closes the file."""
    text, values = query
    try:
        with contextlib.closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            yield from connection.execute(text, values)
    except sqlite3.DatabaseError as error:
        if not Path(path).is_file():
            raise spi.FileMissingError(f"{path} is not there any more") from error
        raise spi.CorruptFileError(f"{path} cannot be read as an SQLite database: {error}") from error
