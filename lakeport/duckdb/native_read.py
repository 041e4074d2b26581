"""Plain Parquet files of a table as DuckDB's own ``read_parquet``, where that gives the table's rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa
from sqlglot import exp

from catalog.resolver import ResolvedTable, resolve_column
from connector_spi.errors import ConnectorError
from connector_spi.handles import ColumnHandle, NativeFile
from connector_spi.predicate import Constraint, TupleDomain
from lakeport.arrow.expression_filter import row_filters
from lakeport.duckdb.kinds import column_type
from lakeport.planning.scan_plan import ScanPlan, plan_native_splits
from lakeport.transactions.statement import CatalogAccess

__all__ = ["native_files", "native_query"]

# Each combination of values of partition keys is a part of a UNION ALL.
_MOST_PARTS = 64
_PATTERN = frozenset("*?[]")
_NAMES = {
    pa.bool_(): ("BOOLEAN",),
    pa.int8(): ("TINYINT",),
    pa.int16(): ("SMALLINT", "TINYINT"),
    pa.int32(): ("INTEGER", "SMALLINT", "TINYINT"),
    pa.int64(): ("BIGINT", "INTEGER", "SMALLINT", "TINYINT"),
    pa.float32(): ("FLOAT",),
    pa.float64(): ("DOUBLE",),
    pa.string(): ("VARCHAR",),
    pa.date32(): ("DATE",),
}
_TYPES = """
    SELECT name, type, max(number)
    FROM (
        SELECT lower(name) AS name, duckdb_type AS type,
               count(*) OVER (PARTITION BY file_name, lower(name)) AS number
        FROM parquet_schema($files)
    ) WHERE list_contains($columns, name) GROUP BY ALL
"""
# Spark 2, and later ones if asked, wrote dates before 1582 in a calendar that DuckDB does not know.
_OLD_DATES = """
    SELECT count(*) FROM parquet_kv_metadata($files)
    WHERE key::VARCHAR = 'org.apache.spark.legacyDateTime'
       OR (key::VARCHAR = 'org.apache.spark.version' AND value::VARCHAR < '3')
"""


@dataclass(frozen=True, slots=True)
class _Part:
    """Files that have the same values of the columns that they do not hold."""

    constants: tuple[tuple[str, object], ...]
    paths: tuple[str, ...]


def native_files(
    access: CatalogAccess, table: ResolvedTable, columns: Sequence[str], conditions: Sequence[str]
) -> tuple[NativeFile, ...] | None:
    """The files whose rows, as they stand, are those of a table; ``None`` where there are others.

    Args:
        access: The catalog of the table.
        table: The table.
        columns: What is read.
        conditions: In Spark's SQL; rows that do not pass them all are not needed, but may be in the files.

    Raises:
        ConnectorError: The catalog or its storage failed.
    """
    handles = tuple(table.columns[name] for name in columns)
    everything = TupleDomain[ColumnHandle].all()
    plan = ScanPlan(access, table.handle, handles, everything, everything)
    domain = _domain(table, conditions)
    if not domain.is_all:
        plan = plan.with_filter(Constraint(domain.transform_keys(lambda name: table.columns[name])))
    splits = plan_native_splits(plan.with_columns(handles))
    if splits is None:
        return None
    found = [split.native_file for split in splits.splits]
    return tuple(file for file in found if file is not None) if found else None


def native_query(
    connection: duckdb.DuckDBPyConnection, files: Iterable[NativeFile], columns: Mapping[str, pa.DataType]
) -> str | None:
    """The query of DuckDB that reads files; ``None`` where it would read something else than the table's values.

    Args:
        connection: Reads the files' footers.
        files: All of one table.
        columns: What is read, by name; with at least one.
    """
    parts = _parts(files, columns)
    if not parts or len(parts) > _MOST_PARTS:
        return None
    paths = [path for part in parts for path in part.paths]
    given = {name for part in parts for name, _ in part.constants}
    if any(_PATTERN.intersection(path) or not path.startswith("/") for path in paths):
        return None
    held = {name: arrow for name, arrow in columns.items() if name not in given}
    if not _are_as_declared(connection, paths, held):
        return None
    return " UNION ALL ".join(_select(part, columns) for part in parts)


def _domain(table: ResolvedTable, conditions: Sequence[str]) -> TupleDomain[str]:
    known = pa.schema([(handle.name, handle.type) for handle in table.columns.values()])

    def find(written: str) -> tuple[str, pa.DataType]:
        handle = resolve_column(table, written)
        return handle.name, handle.type

    domain = TupleDomain[str].all()
    for condition in conditions:
        try:
            [rows] = row_filters((condition,), known, find)
        except ConnectorError:
            # DuckDB checks it anyway.
            continue
        domain = domain.intersect(rows.domain())
    return domain


def _parts(files: Iterable[NativeFile], columns: Iterable[str]) -> list[_Part]:
    """Files by what they do not hold; none where one is no Parquet, or is not read as a whole."""
    asked = set(columns)
    sizes: dict[str, int] = {}
    found: dict[tuple[tuple[str, object], ...], dict[str, int]] = {}
    for file in files:
        constants = tuple(sorted((name, value) for name, value in file.constants if name in asked))
        path = file.path.removeprefix("file://")
        path = path.removeprefix("file:")
        read = found.setdefault(constants, {})
        read[path] = read.get(path, 0) + file.length
        sizes[path] = file.file_size
        if file.format != "parquet" or len({name for name, _ in constants}) < len(constants):
            return []
    if any(length != sizes[path] for read in found.values() for path, length in read.items()):
        return []
    if len({tuple(name for name, _ in constants) for constants in found}) > 1:
        return []
    return [_Part(constants, tuple(read)) for constants, read in found.items()]


def _are_as_declared(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], columns: Mapping[str, pa.DataType]
) -> bool:
    """Whether all files have the columns in types that every reader takes for the table's, or lack them."""
    wanted = {name.lower(): _duckdb_types(arrow) for name, arrow in columns.items()}
    if not all(wanted.values()):
        return False
    asked = {"files": list(paths), "columns": list(wanted)}
    found = connection.execute(_TYPES, asked).fetchall()
    if any(number > 1 or written not in wanted[name] for name, written, number in found):
        return False
    if not any(pa.types.is_date(arrow) for arrow in columns.values()):
        return True
    return connection.execute(_OLD_DATES, {"files": list(paths)}).fetchall() == [(0,)]


def _duckdb_types(arrow: pa.DataType) -> tuple[str, ...]:
    if pa.types.is_decimal(arrow):
        return (f"DECIMAL({arrow.precision},{arrow.scale})",)
    return _NAMES.get(arrow, ())


def _select(part: _Part, columns: Mapping[str, pa.DataType]) -> str:
    constants = dict(part.constants)
    types = {name: column_type(arrow).sql("duckdb") for name, arrow in columns.items()}
    held = [name for name in columns if name not in constants]
    fields = ", ".join(
        f"{_text(name)}: {{name: {_text(name)}, type: {_text(types[name])}, default_value: NULL}}" for name in held
    )
    shown = ", ".join(
        f"CAST({exp.convert(constants[name]).sql('duckdb')} AS {types[name]}) AS {_quoted(name)}"
        if name in constants
        else _quoted(name)
        for name in columns
    )
    schema = f", schema = MAP {{{fields}}}" if held else ""
    paths = ", ".join(map(_text, part.paths))
    return f"SELECT {shown} FROM read_parquet([{paths}], hive_partitioning = false, can_have_nan = true{schema})"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
