"""``ANALYZE TABLE table COMPUTE STATISTICS``, which Spark refuses for tables of other catalogs than its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from catalog.resolver import ResolvedSystemTable, ResolvedTable
from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError, NotSupportedError
from connector_spi.handles import TableHandle
from connector_spi.names import CatalogSchemaTableName, parse_name, quote_identifier
from connector_spi.optional.statistics_collection import (
    CollectedColumn,
    CollectedStatistics,
    StatisticsCollection,
    SupportsFileStatistics,
    SupportsStatisticsCollection,
)
from connector_spi.predicate import Constraint
from connector_spi.properties import closest
from connector_spi.schema import ColumnMetadata
from lakeport.planning.redirection import resolve
from lakeport.sql.analyzed_partitions import AnalyzedPartitions
from lakeport.sql.statement_patterns import NAME, PART, statement_pattern
from lakeport.transactions.statement import CatalogAccess, Statement

__all__ = ["AnalyzeRequest", "AnalyzedTable", "analyze_request"]

_STATEMENT = statement_pattern(
    rf"ANALYZE +TABLE +(?P<name>{NAME})(?: *PARTITION *\((?P<partition>.*?)\))? *COMPUTE +STATISTICS"
    r"(?: +(?P<noscan>NOSCAN)| +FOR +(?:ALL +COLUMNS|COLUMNS +(?P<columns>.+?)))? *;? *"
)
_COLUMNS = statement_pattern(rf"{PART}(?: *, *{PART})* *")


@dataclass(frozen=True, slots=True)
class AnalyzeRequest:
    """What an ``ANALYZE TABLE`` statement asks for.

    Attributes:
        name: The table's name, as written.
        columns: The columns, as written; ``None``: all of them.
        partition: What stands between the brackets of ``PARTITION (...)``; ``None``: all partitions.
        noscan: No row is read: only files and their bytes are counted.
    """

    name: str
    columns: str | None = None
    partition: str | None = None
    noscan: bool = False

    def column_names(self) -> list[str] | None:
        """The names of the columns.

        Raises:
            InvalidArgumentError: They are something else.
        """
        if self.columns is None:
            return None
        if not _COLUMNS.fullmatch(self.columns):
            raise InvalidArgumentError(
                f"FOR COLUMNS {self.columns:.100}: expected names of columns, separated by commas"
            )
        return [parse_name(part)[0] for part in re.findall(PART, self.columns)]


def analyze_request(text: str) -> AnalyzeRequest | None:
    """What a statement asks for; ``None`` where it is another statement.

    ``FOR ALL COLUMNS``, and nothing behind ``STATISTICS``, are all columns whose statistics the table's catalog keeps.
    """
    match = _STATEMENT.fullmatch(text)
    if match is None:
        return None
    return AnalyzeRequest(match["name"], match["columns"], match["partition"], noscan=match["noscan"] is not None)


@dataclass(frozen=True, slots=True)
class AnalyzedTable:
    """A table whose statistics are collected: by the rows of one query, which any engine may run.

    Attributes:
        name: In full.
        access: Its catalog.
        handle: The table, with the partitions that are asked for pushed into it.
        metadata: Keeps the statistics.
        keys: Partition keys.
        columns: Those that are asked for.
        partitions: The partitions.
    """

    name: CatalogSchemaTableName
    access: CatalogAccess
    handle: TableHandle
    metadata: SupportsStatisticsCollection
    keys: tuple[str, ...]
    columns: tuple[ColumnMetadata, ...]
    partitions: AnalyzedPartitions

    @classmethod
    def of(cls, statement: Statement, name: CatalogSchemaTableName, request: AnalyzeRequest) -> AnalyzedTable:
        """Resolves a table.

        Raises:
            NotSupportedError: It is a system table, its catalog keeps no statistics of it, or parts are asked for.
            ColumnNotFoundError, InvalidArgumentError: It has no such column, or no such partition key.
        """
        access, resolved = resolve(statement.access(name.catalog), name, None)
        metadata = access.metadata
        if isinstance(resolved, ResolvedSystemTable) or not isinstance(metadata, SupportsStatisticsCollection):
            raise NotSupportedError(f"ANALYZE TABLE {name}: its catalog keeps no statistics that others collect")
        with access.lock:
            found = metadata.get_statistics_collection(access.session, resolved.handle)
        chosen = _chosen(name, resolved, found, request.column_names())
        keys = [column for column in resolved.table.columns if column.name in found.partition_keys]
        partitions = AnalyzedPartitions()
        if request.partition is not None:
            partitions = AnalyzedPartitions.of(request.partition, name, keys)
        handle = _of_partitions(access, resolved, partitions)
        return cls(name, access, handle, metadata, keys=found.partition_keys, columns=chosen, partitions=partitions)

    def query(self, distinct: str) -> str:
        """The query, in Spark's SQL: a row for each partition, without names.

        Args:
            distinct: How the engine counts distinct values, with braces in the place of a column.
        """
        keys = [quote_identifier(key) for key in self.keys]
        parts = [*keys, "count(*)", *(part for column in self.columns for part in _aggregates(column, distinct))]
        selected = ", ".join(f"{part} AS a{index}" for index, part in enumerate(parts))
        table = ".".join(map(quote_identifier, (self.name.catalog, self.name.schema, self.name.table)))
        where = f" WHERE {self.partitions.condition}" if self.partitions.condition else ""
        return f"SELECT {selected} FROM {table}{where}" + (f" GROUP BY {', '.join(keys)}" if keys else "")

    def keep(self, rows: pa.Table) -> None:
        """Has the catalog keep what the query has found."""
        collected = [self._collected(tuple(row.values())) for row in rows.to_pylist()]
        with self.access.lock:
            self.metadata.finish_statistics_collection(self.access.session, self.handle, collected)

    def count_files(self, *, alone: bool) -> None:
        """Has the catalog count files and bytes, where it does.

        Args:
            alone: Nothing else is asked for.

        Raises:
            NotSupportedError: The catalog does not, and nothing else is asked for.
        """
        if isinstance(self.metadata, SupportsFileStatistics):
            with self.access.lock:
                self.metadata.collect_file_statistics(self.access.session, self.handle)
        elif alone:
            raise NotSupportedError(f"ANALYZE TABLE {self.name} with NOSCAN: its catalog counts no files; leave it out")

    def _collected(self, row: tuple[object, ...]) -> CollectedStatistics:
        count = len(self.keys)
        rest = iter(row[count + 1 :])
        rows = _number(row[count])
        columns = tuple(_found(column, rows, rest) for column in self.columns)
        return CollectedStatistics(row[:count], rows, columns)  # type: ignore[arg-type]


def _of_partitions(access: CatalogAccess, resolved: ResolvedTable, partitions: AnalyzedPartitions) -> TableHandle:
    if not partitions.keys:
        return resolved.handle
    metadata = access.metadata
    with access.lock:
        columns = metadata.get_column_handles(access.session, resolved.handle)
        constraint = Constraint(partitions.domain.transform_keys(columns.get))
        applied = metadata.apply_filter(access.session, resolved.handle, constraint)
    if applied is None or not applied.remaining.is_all:
        raise NotSupportedError(f"ANALYZE TABLE {resolved.name} with PARTITION: its catalog does not select partitions")
    return applied.table


def _chosen(
    name: CatalogSchemaTableName, resolved: ResolvedTable, found: StatisticsCollection, asked: Sequence[str] | None
) -> tuple[ColumnMetadata, ...]:
    visible = {column.name.lower(): column for column in resolved.table.visible_columns()}
    if asked is None:
        return tuple(visible[one.lower()] for one in found.columns if one.lower() in visible)
    kept = {one.lower() for one in found.columns}
    for one in asked:
        if one.lower() not in visible:
            raise ColumnNotFoundError(f"{name} has no column '{one}'{closest(one, visible)}")
        if one.lower() not in kept:
            raise NotSupportedError(f"of column '{one}' of {name} no statistics are kept; leave it out")
    return tuple(visible[one] for one in dict.fromkeys(one.lower() for one in asked))


def _aggregates(column: ColumnMetadata, distinct: str) -> list[str]:
    """The aggregates of a column; ``_found`` takes their values in this order."""
    name = quote_identifier(column.name)
    different = distinct.format(name)
    if pt.is_boolean(column.type):
        return [f"count({name})", f"count_if({name})"]
    if _is_text(column.type):
        lengths = f"octet_length({name})"
        return [f"count({name})", different, f"avg({lengths})", f"max({lengths})"]
    return [f"count({name})", different, f"min({name})", f"max({name})"]


def _found(column: ColumnMetadata, rows: int, values: Iterator[object]) -> CollectedColumn:
    present = _number(next(values))
    nulls = rows - present
    if pt.is_boolean(column.type):
        return CollectedColumn(column.name, nulls, true_count=_number(next(values)))
    # It is an estimate, and may be above what there is.
    distinct = min(_number(next(values)), present)
    first, second = next(values), next(values)
    if _is_text(column.type):
        average = float(first) if isinstance(first, (int, float)) else 0.0
        return CollectedColumn(column.name, nulls, distinct, average_length=average, max_length=_number(second))
    # NaN has no place in an order.
    if any(isinstance(bound, float) and bound != bound for bound in (first, second)):
        return CollectedColumn(column.name, nulls, distinct)
    return CollectedColumn(column.name, nulls, distinct, first, second)  # type: ignore[arg-type]


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
