"""Scans with no Spark: a connector whose splits a test makes, and an environment that a test describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pyarrow as pa

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.names import CatalogSchemaTableName, SchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata
from connector_spi.session import ConnectorSession
from connector_spi.splits import ListSplitSource, ScanSummary, SplitManager, SplitSource
from connectors.memory.connector import MemoryConnector
from lakeport.planning.packing import Packing
from lakeport.planning.scan_plan import ScanPlan
from lakeport.spark.bridge.types import spark_schema_json
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.tasks.counters import TaskCounters
from lakeport.transactions.plain_statement import plain_statement
from tests.lakeport.memory_session import memory_session, put

ID = ColumnHandle("id", pa.int64())
AT = ColumnHandle("at", pa.timestamp("us"))
PART = ColumnHandle("part", pa.int64())
ROWS = pa.table({"id": pa.array([1], ID.type), "at": pa.array([0], AT.type), "part": pa.array([7], PART.type)})


@dataclass(frozen=True, slots=True)
class FileSplit(Split):
    """A range of a file, which an engine may read itself where it has a ``file``."""

    file: NativeFile | None

    @property
    def size_bytes(self) -> int:
        return 10

    @property
    def native_file(self) -> NativeFile | None:
        return self.file


def native(path: str = "/t/f", file_format: str = "parquet", *constants: str) -> FileSplit:
    return FileSplit(NativeFile(file_format, path, 0, 10, 10, 0, tuple((name, 7) for name in constants)))


FOR_TASKS = FileSplit(None)
MakeSplits = Callable[[tuple[ColumnHandle, ...]], Sequence[Split]]


class CountingSplits(SplitManager):
    """Gives the splits of a test, and keeps the columns of each question."""

    def __init__(self, make: MakeSplits) -> None:
        self._make = make
        self.asked: list[list[str]] = []

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource:
        self.asked.append([column.name for column in columns])
        return ListSplitSource(self._make(columns), ScanSummary())


class FilesConnector(MemoryConnector):
    """The memory connector with the splits of a test."""

    splits: CountingSplits

    @property
    def split_manager(self) -> SplitManager:
        return self.splits


@dataclass(slots=True)
class FakeSpark:
    """A Spark as a test describes it."""

    case_sensitive: bool = False
    utc: bool = True
    schemes: frozenset[str] = field(default_factory=lambda: frozenset({"file"}))

    def is_case_sensitive(self) -> bool:
        return self.case_sensitive

    def has_file_system(self, scheme: str) -> bool:
        return scheme in self.schemes

    def tasks_are_in_utc(self) -> bool:
        return self.utc

    def columns_unavailable(self) -> str | None:
        return None

    def rows_need_a_column(self) -> bool:
        return False

    def packing(self) -> Packing:
        return Packing(parallelism=2, max_bytes=1000, open_cost=1)

    def uses_column_statistics(self) -> bool:
        return False

    def joins_by_partitioning(self) -> bool:
        return False

    def joins_other_bucket_counts(self) -> bool:
        return False

    def keeps_order_of_tasks(self) -> bool:
        return True

    def new_counters(self) -> TaskCounters:
        raise AssertionError("no one wants metrics")


@contextmanager
def scanned(make: MakeSplits, *, native_reader: bool = True) -> Iterator[tuple[ScannedTable, CountingSplits]]:
    """A table with the columns ``id``, ``at`` and the key ``part``; ``make`` gives splits for the columns read."""
    with memory_session() as (session, memory):
        put(memory, "t", ROWS, "part")
        memory.__class__ = FilesConnector
        assert isinstance(memory, FilesConnector)
        memory.splits = CountingSplits(make)
        access = plain_statement(session.catalogs).access("mem")
        access = replace(access, engine=replace(access.engine, native_reader=native_reader))
        handle = access.metadata.get_table_handle(access.session, SchemaTableName("s", "t"))
        assert handle is not None
        everything = TupleDomain[ColumnHandle].all()
        plan = ScanPlan(access, handle, (ID, AT, PART), everything, everything)
        columns = {column.name: column for column in plan.columns}
        schema = spark_schema_json(ColumnMetadata(column.name, column.type) for column in plan.columns)
        name = CatalogSchemaTableName("mem", "s", "t")
        yield ScannedTable(name, plan, columns, ("part",), schema), memory.splits
