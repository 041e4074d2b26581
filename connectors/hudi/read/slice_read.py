"""What to read of a file slice, as one value. Executor side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain, Value
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from connectors.hudi.hidden_columns import hidden_values
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["SliceRead", "schema_of"]


@dataclass(frozen=True, slots=True)
class SliceRead:
    """The read of one split: a range of a base file with the logs of its slice.

    Attributes:
        files: Storage.
        split: The split.
        table: The table.
        columns: What to read, in output order; nested types may be narrowed.
        predicate: What the rows asked for fit; only prunes.
        merge_memory: Bytes that the events of logs may take.
        merge_cache: Bytes of merged logs that this process keeps for other reads.
    """

    files: FileSystem
    split: HudiSplit
    table: HudiTableHandle
    columns: tuple[ColumnHandle, ...]
    predicate: TupleDomain[ColumnHandle]
    merge_memory: int
    merge_cache: int = 0

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the batches."""
        return schema_of(self.columns)

    @property
    def constants(self) -> Mapping[str, Value | None]:
        """Values of the columns that are in no file, by name."""
        return {**dict(self.split.path_values), **hidden_values(self.split)}

    def with_columns(self, columns: tuple[ColumnHandle, ...], predicate: TupleDomain[ColumnHandle]) -> SliceRead:
        """The same split with other columns and another filter."""
        return replace(self, columns=columns, predicate=predicate)

    def of_range(self, start: int, length: int) -> SliceRead:
        """Another range of the same base file."""
        return replace(self, split=replace(self.split, start=start, length=length))


def schema_of(columns: tuple[ColumnHandle, ...]) -> pa.Schema:
    """Names and types of columns."""
    return pa.schema([pa.field(column.name, column.type) for column in columns])
