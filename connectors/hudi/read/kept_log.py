"""The merged logs of a file slice, and which columns of them are there. Executor side."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connectors.hudi.log.row_columns import combined
from connectors.hudi.merge.base import MergedLog
from connectors.hudi.merge.columns import MergeColumns
from connectors.hudi.merge.key_index import KeyIndex

__all__ = ["KeptLog", "LogForm"]

# Of a key's flags and of its place in the index.
_BYTES_OF_KEY = 64


@dataclass(frozen=True, slots=True)
class LogForm:
    """What the blocks of a slice's logs have in common.

    Attributes:
        partial: Some block holds the updated columns only.
        by_position: All events have positions in the base file.
    """

    partial: bool
    by_position: bool


@dataclass(frozen=True, slots=True)
class KeptLog:
    """The merged logs of a slice.

    Attributes:
        form: Of their blocks.
        log: What they say; ``None`` where they have no event.
        index: Finds its keys; ``None`` without events.
        blocks: How many blocks were merged.
        records: How many events.
    """

    form: LogForm
    log: MergedLog | None
    index: KeyIndex | None
    blocks: int
    records: int

    @property
    def nbytes(self) -> int:
        """About the memory that it takes."""
        log = self.log
        if log is None:
            return _BYTES_OF_KEY
        arrays = [*log.filled.values(), *(() if log.ordering is None else log.ordering.columns)]
        arrays += [] if log.events is None else [log.events]
        return int(log.rows.nbytes + log.keys.nbytes + sum(a.nbytes for a in arrays) + _BYTES_OF_KEY * len(log.keys))

    @property
    def schema(self) -> pa.Schema:
        """The columns that it has; any others are served too where there is no event."""
        return pa.schema([]) if self.log is None else self.log.rows.schema

    def of(self, columns: MergeColumns) -> KeptLog | None:
        """The same with the columns of a merge alone; ``None`` where it lacks one."""
        if self.log is None:
            return self
        known = {(field.name, field.type) for field in self.schema}
        if not known.issuperset((field.name, field.type) for field in columns.schema):
            return None
        return self._select(columns.names)

    def missing(self, columns: MergeColumns) -> list[ColumnHandle]:
        """The columns of a merge that it lacks, where those of other events can be added; none else."""
        if self.log is None or self.log.events is None:
            return []
        known = {(field.name, field.type) for field in self.schema}
        return [column for column in columns.given if (column.name, column.type) not in known]

    def with_values(self, values: pa.Table) -> KeptLog:
        """The same with more columns.

        Args:
            values: Of all events, in order; there are as many as ``records``.
        """
        log = self.log
        assert log is not None
        assert log.events is not None
        stay = [field for field in self.schema if field.name not in values.column_names]
        added = values.take(pa.array(log.events))
        columns = [*(log.rows.column(field.name) for field in stay), *map(combined, added.columns)]
        rows = pa.Table.from_arrays(columns, schema=pa.schema([*stay, *added.schema]))
        return replace(self, log=replace(log, rows=rows))

    def within(self, memory: int, names: Collection[str]) -> KeptLog:
        """The same with some of its columns, and as many of the others as the bytes that are left hold."""
        if self.log is None:
            return self
        chosen = [name for name in self.schema.names if name in names]
        more = {name: self.log.rows.column(name).nbytes for name in self.schema.names if name not in names}
        size = self._select(chosen).nbytes
        for name in sorted(more, key=lambda name: more[name]):
            size += more[name]
            if size > memory:
                break
            chosen.append(name)
        return self._select(chosen)

    def _select(self, names: list[str]) -> KeptLog:
        log = self.log
        assert log is not None
        filled = {name: has for name, has in log.filled.items() if name in names}
        return replace(self, log=replace(log, rows=log.rows.select(names), filled=filled))
