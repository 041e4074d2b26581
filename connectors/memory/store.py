"""The tables themselves: immutable snapshots of chunks, behind one lock. Driver side."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import numpy as np
import pyarrow as pa

from connector_spi.errors import InvalidArgumentError, ResourceError, TableNotFoundError
from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.schema import TableMetadata
from connectors.memory.chunks import Chunk, cut_into_chunks, numbered
from connectors.memory.snapshots import Snapshot
from connectors.memory.written_rows import ChangedRows, WrittenRows

__all__ = ["MemoryStore", "TransactionCounts"]


@dataclass(slots=True)
class TransactionCounts:
    """How many transactions of a connector began, and how they ended."""

    begun: int = 0
    committed: int = 0
    rolled_back: int = 0

    @property
    def open(self) -> int:
        """Transactions that have not ended."""
        return self.begun - self.committed - self.rolled_back


@dataclass(slots=True)
class MemoryStore:
    """All schemas and tables of one connector; every method may be called from any thread."""

    max_data_bytes: int
    counts: TransactionCounts = field(default_factory=TransactionCounts)
    _tables: dict[str, dict[str, list[Snapshot]]] = field(default_factory=lambda: {"default": {}})
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _next_row: int = 0
    _held: _HeldChunks = field(default_factory=lambda: _HeldChunks())
    _epochs: dict[tuple[SchemaTableName, str], int] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def count(self, *, begun: int = 0, committed: int = 0, rolled_back: int = 0) -> None:
        """Counts transactions."""
        with self._lock:
            self.counts.begun += begun
            self.counts.committed += committed
            self.counts.rolled_back += rolled_back

    def schemas(self) -> list[str]:
        """All schemas, sorted."""
        with self._lock:
            return sorted(self._tables)

    def tables(self, schema: str) -> list[SchemaTableName]:
        """Tables of a schema, sorted; none for an unknown schema."""
        with self._lock:
            return [SchemaTableName(schema, table) for table in sorted(self._tables.get(schema, ()))]

    def snapshots(self, name: SchemaTableName) -> tuple[Snapshot, ...]:
        """All snapshots of a table, oldest first; none for an unknown table."""
        with self._lock:
            return tuple(self._tables.get(name.schema, {}).get(name.table, ()))

    def create_schema(self, schema: str) -> None:
        """Adds a schema, unless it is there."""
        _check_lower_case(schema)
        with self._lock:
            self._tables.setdefault(schema, {})

    def create_table(self, table: TableMetadata, chunks: Sequence[Chunk]) -> None:
        """Adds a table with its first snapshot, and its schema where that is missing.

        Raises:
            InvalidArgumentError: The table is there already, or its name is not lower case.
            ResourceError: The store would hold too much.
        """
        name = table.name
        _check_lower_case(name.table)
        with self._lock:
            self._check_free(name)
            self._check_size(chunks)
            self.create_schema(name.schema)
            self._keep(self._tables[name.schema].setdefault(name.table, []), self._snapshot(1, "create", table, chunks))

    def newest(self, name: SchemaTableName) -> Snapshot:
        """The newest snapshot of a table.

        Raises:
            TableNotFoundError: No such table.
        """
        snapshots = self.snapshots(name)
        if not snapshots:
            raise TableNotFoundError(f"no table {name}")
        return snapshots[-1]

    def add_snapshot(
        self, name: SchemaTableName, operation: str, chunks: Callable[[Snapshot], Sequence[Chunk]]
    ) -> Snapshot:
        """Adds a snapshot to a table.

        Args:
            name: The table.
            operation: What makes it.
            chunks: From the newest snapshot to the chunks of the new one.

        Raises:
            TableNotFoundError: No such table.
            ResourceError: The store would hold too much.
        """
        with self._lock:
            newest = self.newest(name)
            made = self._snapshot(newest.version + 1, operation, newest.table, chunks(newest))
            self._check_size(made.chunks)
            self._keep(self._tables[name.schema][name.table], made)
            return made

    def is_written(self, name: SchemaTableName, epoch: StreamEpoch) -> bool:
        """Whether a table has the rows of a batch of a streaming query, or of a later one."""
        with self._lock:
            return self._epochs.get((name, epoch.query), -1) >= epoch.number

    def write(self, written: Sequence[WrittenRows | ChangedRows]) -> None:
        """Writes rows to tables, each in a new snapshot; to all of them or none, and no batch of a stream twice.

        Raises:
            TableNotFoundError: A table was dropped.
            UserError: Others have changed rows since they were read.
            ResourceError: The store would hold too much.
        """
        with self._lock:
            some = [
                one
                for one in written
                if not one.is_nothing and (one.epoch is None or not self.is_written(one.name, one.epoch))
            ]
            for one in some:
                if one.made is None:
                    one.check(self.newest(one.name))
                else:
                    self._check_free(one.name)
            tables = [one.made or self.newest(one.name).table for one in some]
            found = [
                (one, cut_into_chunks(self.new_rows(one.rows), table.partitioned_by, None))
                for one, table in zip(some, tables, strict=True)
            ]
            self._check_size([chunk for _, chunks in found for chunk in chunks])
            for one, chunks in found:
                if one.made is None:
                    self.add_snapshot(one.name, one.operation, partial(one.chunks, chunks))
                else:
                    self.create_table(one.made, chunks)
                if one.epoch is not None:
                    self._epochs[one.name, one.epoch.query] = one.epoch.number

    def new_rows(self, data: pa.Table) -> pa.Table:
        """The rows with numbers that no row has yet, as ``cut_into_chunks`` takes them."""
        numbers = self.row_numbers(data.num_rows)
        return numbered(data, numbers, numbers)

    def expire(self, name: SchemaTableName, keep: int) -> None:
        """Forgets all but the newest ``keep`` snapshots of a table; transactions that met others still read them.

        Raises:
            TableNotFoundError: No such table.
        """
        with self._lock:
            self.newest(name)
            snapshots = self._tables[name.schema][name.table]
            self._forget(snapshots[: -max(keep, 1)])
            del snapshots[: -max(keep, 1)]

    def row_numbers(self, count: int) -> pa.ChunkedArray:
        """Numbers that no row has yet, ``int64``."""
        with self._lock:
            first, self._next_row = self._next_row, self._next_row + count
        return pa.chunked_array([pa.array(np.arange(first, first + count, dtype=np.int64))])

    def new_id(self) -> int:
        """An identity for a snapshot that is not kept."""
        return next(self._ids)

    def drop_table(self, name: SchemaTableName) -> None:
        """Takes a table away; transactions that met it before still read it.

        Raises:
            TableNotFoundError: No such table.
        """
        with self._lock:
            self.newest(name)
            self._forget(self._tables[name.schema].pop(name.table))
            self._epochs = {key: number for key, number in self._epochs.items() if key[0] != name}

    def clear(self) -> None:
        """Takes everything away."""
        with self._lock:
            self._tables.clear()
            self._held = _HeldChunks()
            self._epochs.clear()

    def _check_free(self, name: SchemaTableName) -> None:
        if self.snapshots(name):
            raise InvalidArgumentError(f"table {name} is there already; drop it first")

    def _snapshot(self, version: int, operation: str, table: TableMetadata, chunks: Sequence[Chunk]) -> Snapshot:
        return Snapshot(
            id=next(self._ids),
            version=version,
            committed_at=datetime.now(UTC),
            operation=operation,
            table=table,
            chunks=tuple(chunks),
        )

    def _keep(self, snapshots: list[Snapshot], made: Snapshot) -> None:
        snapshots.append(made)
        self._held.add(made.chunks)

    def _forget(self, snapshots: Sequence[Snapshot]) -> None:
        for snapshot in snapshots:
            self._held.remove(snapshot.chunks)

    def _check_size(self, added: Sequence[Chunk]) -> None:
        size = self._held.size_with(added)
        if size > self.max_data_bytes:
            raise ResourceError(
                f"the tables of this catalog would hold {size} bytes, more than the "
                f"{self.max_data_bytes} of memory.max-data-size; raise it, or drop tables"
            )


@dataclass(slots=True)
class _HeldChunks:
    """How many bytes the chunks of all snapshots have. Snapshots share chunks; each is counted once."""

    _bytes: int = 0
    _uses: dict[int, int] = field(default_factory=dict)

    def size_with(self, added: Sequence[Chunk]) -> int:
        """Bytes of the chunks that are held and of ``added``."""
        new = {id(chunk): chunk.size_bytes for chunk in added if id(chunk) not in self._uses}
        return self._bytes + sum(new.values())

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Counts the chunks of a snapshot, which keeps them alive."""
        self._bytes = self.size_with(chunks)
        for chunk in chunks:
            self._uses[id(chunk)] = self._uses.get(id(chunk), 0) + 1

    def remove(self, chunks: Sequence[Chunk]) -> None:
        """Counts the chunks of a snapshot that is forgotten no longer."""
        for chunk in chunks:
            self._uses[id(chunk)] -= 1
            if not self._uses[id(chunk)]:
                del self._uses[id(chunk)]
                self._bytes -= chunk.size_bytes


def _check_lower_case(name: str) -> None:
    if not name or name != name.lower():
        raise InvalidArgumentError(f"expected a name in lower case, met {name!r}")
