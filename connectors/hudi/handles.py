"""What of a Hudi table travels to tasks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pyarrow as pa

from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.aggregation import Aggregation
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import ConnectorExpression, TupleDomain, Value
from connector_spi.serializable import Serializable
from connectors.hudi.partition_path import PartitionPaths
from connectors.hudi.schema.history import SchemaHistory
from connectors.hudi.table_config import TableConfig
from connectors.hudi.timeline.view import TimelineView
from connectors.toolkit.storage.file_ranges import file_ranges

__all__ = [
    "LOG_ONLY",
    "HudiSplit",
    "HudiTableHandle",
    "IndexUse",
    "LogFile",
    "SourceFile",
    "TopN",
    "WriteRange",
]

LOG_ONLY = "log"
"""The format of a split without a base file."""


@dataclass(frozen=True, slots=True)
class WriteRange(Serializable):
    """What an incremental query reads.

    Attributes:
        begin: Exclusive; a completion time in timeline layout 2, a requested time in layout 1.
        end: Inclusive; ``None`` is the newest write.
        instants: Requested times of the writes in the range.
        whole: The range is all writes of the table: its rows are those of the snapshot.
        full_scan: Files of the range are gone; its rows are looked for in the newest state.
        path_glob: Only of files whose paths end like this, in Hadoop's patterns; empty is any.
    """

    begin: str
    end: str | None
    instants: tuple[str, ...]
    whole: bool = False
    full_scan: bool = False
    path_glob: str = ""


@dataclass(frozen=True, slots=True)
class IndexUse(Serializable):
    """What of the metadata table a query uses, as far as the table has it and it is valid.

    Attributes:
        files: Partitions and their files, instead of listing directories; without it nothing else is used.
        partition_stats: Partitions without wanted rows are left out by their statistics.
        column_stats: File slices, likewise.
        record_index: File slices are found by record keys.
    """

    files: bool = False
    partition_stats: bool = False
    column_stats: bool = False
    record_index: bool = False


@dataclass(frozen=True, slots=True)
class TopN(Serializable):
    """The first rows in an order, of which slices are known that cannot hold one.

    Attributes:
        count: How many rows are wanted.
        item: The first column of the order.
    """

    count: int
    item: SortItem


@dataclass(frozen=True, slots=True)
class HudiTableHandle(TableHandle):
    """A table at one instant.

    Attributes:
        name: Schema and table.
        location: The table's directory, as the metastore writes it.
        config: The table's properties; ``properties`` and ``create_schema`` are left out.
        view: The completed writes; fixed, so that a commit that finishes later is not seen (invariant I1).
        schema: All columns in order, meta columns first.
        keys_last: Lower-case names of columns that ``SELECT *`` shows after all others.
        metastore_partitions: The metastore lists partitions of the table.
        read_optimized: Base files are read without their logs.
        writes: With an incremental query: the writes whose rows are read.
        indexes: What of the metadata table is used.
        history: The versions of the columns, where they have ids (schema on read).
        constraint: What was pushed; by handles of columns, hidden ones included.
        conditions: Pushed filters that domains cannot say; they only skip parts of base files.
        aggregation: Each split gives one group instead of rows; ``None`` for rows.
        top_n: Slices that hold none of the first rows are left out; ``None`` for all rows.
    """

    name: SchemaTableName
    location: str
    config: TableConfig
    view: TimelineView
    schema: pa.Schema
    keys_last: tuple[str, ...] = ()
    metastore_partitions: bool = False
    read_optimized: bool = False
    writes: WriteRange | None = None
    indexes: IndexUse = IndexUse()
    history: SchemaHistory | None = None
    constraint: TupleDomain[ColumnHandle] = field(default_factory=TupleDomain.all)
    aggregation: Aggregation | None = None
    conditions: tuple[ConnectorExpression, ...] = ()
    top_n: TopN | None = None

    @property
    def snapshot(self) -> str:
        """The instant or range in words, for ``EXPLAIN``."""
        if self.writes is not None:
            end = f" up to {self.writes.end}" if self.writes.end is not None else ""
            return f"writes after {self.writes.begin}{end}"
        latest = self.view.latest
        return f"instant {latest.requested}" if latest else "no instant: the table is empty"

    @property
    def written_in(self) -> tuple[str, ...] | None:
        """Requested times that a row's commit time must be one of; ``None`` is any."""
        return None if self.writes is None or self.writes.whole else self.writes.instants

    @property
    def merged_writes(self) -> tuple[str, ...] | None:
        """Requested times of the writes whose logs count; ``None`` is all.

        Of an incremental query a write of the range alone decides what a row is, though an older one might have won.
        """
        return None if self.writes is None or self.writes.full_scan else self.written_in

    @property
    def partition_paths(self) -> PartitionPaths:
        """How the partitions' paths are to be read."""
        known = set(self.schema.names)
        fields = tuple((name, self.schema.field(name).type) for name in self.config.partition_fields if name in known)
        complete = len(fields) == len(self.config.partition_fields)
        return PartitionPaths(
            fields,
            self.config.path_tells_values and complete,
            self.config.hive_style,
            self.config.url_encoded,
            self.config.bootstrapped,
        )


@dataclass(frozen=True, slots=True)
class LogFile(Serializable):
    """A log file of a slice.

    Attributes:
        path: The file.
        size: Bytes of it when the query was planned; what comes later is not read.
    """

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class SourceFile(Serializable):
    """The file that holds the rows of a skeleton file, which are in the same order.

    Attributes:
        path: The file.
        size: Bytes of it when it was bootstrapped.
    """

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class HudiSplit(Split):
    """A range of the base file of one file slice, with all logs of the slice.

    Attributes:
        path: The base file; of a slice without one, its first log.
        start: First byte of the range; row groups or stripes whose middle lies in the range belong to it.
        length: Bytes of the range.
        file_size: Bytes of the file.
        modified_millis: Modification time, milliseconds since 1970, UTC.
        format: ``parquet`` or ``orc``; ``log`` for a slice without a base file.
        partition: Path of the partition, relative to the table.
        file_id: Id of the file group.
        base_instant: Requested time of the write that made the base file.
        path_values: Values of the partition fields that the file lacks, as the partition's path gives them for certain.
        native: The rows of the base file are those of the table as they stand, in the columns asked, but for what the
            logs say.
        constants: With ``native``: the values of asked columns that are not in the file.
        logs: The logs of the slice, in the order of merging.
        holds_inserts: The rows that are in the logs alone come with this split, and with no other of the slice.
        source: Of a skeleton file, the one that holds its rows; such a split is a whole file.
    """

    path: str
    start: int
    length: int
    file_size: int
    modified_millis: int
    format: str
    partition: str
    file_id: str
    base_instant: str
    path_values: tuple[tuple[str, Value | None], ...] = ()
    native: bool = False
    constants: tuple[tuple[str, Value | None], ...] = ()
    logs: tuple[LogFile, ...] = ()
    holds_inserts: bool = False
    source: SourceFile | None = None

    @property
    def has_base(self) -> bool:
        """Whether the slice has a base file."""
        return self.format != LOG_ONLY

    @property
    def size_bytes(self) -> int:
        base = (self.length if self.has_base else 0) + (self.source.size if self.source is not None else 0)
        return base + sum(log.size for log in self.logs)

    def cut(self, most_bytes: int) -> list[HudiSplit]:
        # Each part would read all logs again.
        if not self.has_base or self.source is not None or self.logs:
            return [self]
        found = file_ranges(self.length, most_bytes, self.start)
        return [replace(self, start=start, length=length) for start, length in found]

    @property
    def native_file(self) -> NativeFile | None:
        return None if self.logs else self.base_file

    @property
    def base_file(self) -> NativeFile | None:
        """The range of the base file, where an engine may read it itself; the logs come on top."""
        if not self.native:
            return None
        return NativeFile(
            format=self.format,
            path=self.path,
            start=self.start,
            length=self.length,
            file_size=self.file_size,
            modified_millis=self.modified_millis,
            constants=self.constants,
        )
