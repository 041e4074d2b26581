"""Keeps events in memory, or, where they are too many, on disk by parts of the keys."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa

from connectors.hudi.merge.columns import KEY
from connectors.hudi.merge.key_index import key_hashes

__all__ = ["EventStore", "KeyRange", "decoded_bytes", "held_bytes"]

# Merging takes a second copy of the events, and then some.
_SHARE = 3
# Of a log block so much is decoded at once: its bytes, a copy of them, and the rows in two forms.
_PART_SHARE = 16
_LEAST_PART = 1 << 20
_MAX_PARTS = 512
# More parts than are needed by a first guess: neighbours are taken together where that was too few.
_FINER = 4
# An Arrow array of texts ends at 2 GB.
_MAX_MEMORY = 4 << 30

Compact = Callable[[list[pa.Table]], pa.Table]


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Some of the keys, by their hash.

    Attributes:
        first: The first part of the keys.
        end: Behind the last one.
        parts: How many parts there are; 1 is all keys in one.
    """

    first: int = 0
    end: int = 1
    parts: int = 1

    @property
    def is_all(self) -> bool:
        """Whether it holds every key."""
        return self.end - self.first == self.parts

    def holds(self, keys: pa.Array) -> pa.Array:
        """Which keys belong to it."""
        part = _part_of_keys(keys, self.parts)
        return pa.array((part >= self.first) & (part < self.end))


def decoded_bytes(memory: int) -> int:
    """Bytes of log blocks that should be decoded at once at most, of the memory that a merge may take."""
    return max(_LEAST_PART, min(memory, _MAX_MEMORY) // _PART_SHARE)


def held_bytes(memory: int) -> int:
    """Bytes of events that are held at most, of the memory that a merge may take."""
    return min(memory, _MAX_MEMORY) // _SHARE


class EventStore:
    """The events of a slice's logs, in order of arrival.

    Args:
        memory: Bytes that may be held, what merging takes included.
        content_size: Bytes of all blocks that will be added, as they lie in the logs.
        compact: Leaves of tables of events what still counts, so that others may follow; ``None`` where all do.

    Attributes:
        records: Number of events that were added.
        is_whole: Whether all of them are held as they were added.
    """

    def __init__(self, memory: int, content_size: int, compact: Compact | None = None) -> None:
        self._memory = min(memory, _MAX_MEMORY)
        self._content_size = max(content_size, 1)
        self._compact = compact
        self._added = 0
        self.records = 0
        self.is_whole = True
        self._tables: list[pa.Table] = []
        self._size = 0
        self._parts = 1
        self._stack = ExitStack()
        self._writers: list[pa.RecordBatchFileWriter | None] = []
        self._folder: Path | None = None

    def __enter__(self) -> EventStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tables = []
        self._stack.close()

    def add(self, table: pa.Table, content_size: int) -> None:
        """Adds events, in order, and about how many bytes they have in the log."""
        self._added += content_size
        self.records += table.num_rows
        if self._folder is not None:
            self._write(table)
            return
        self._tables.append(table)
        self._size += table.nbytes
        if self._is_much(self._size):
            self._make_room()

    def read(self) -> Iterator[tuple[KeyRange, list[pa.Table]]]:
        """The events of the keys, some keys at a time; keys without events come too."""
        if self._folder is None:
            yield KeyRange(), self._tables
            return
        self._close_writers()
        for keys in self._ranges():
            yield keys, self._read(keys)

    def _is_much(self, size: int) -> bool:
        return size * _SHARE > self._memory

    def _make_room(self) -> None:
        self.is_whole = False
        if self._compact is not None:
            before = self._size
            self._tables = [self._compact(self._tables)]
            self._size = self._tables[0].nbytes
            if self._size * 2 <= before:
                return
        self._spill()

    def _spill(self) -> None:
        expected = self._size * max(1.0, self._content_size / max(self._added, 1))
        wanted = -(-expected * _SHARE // self._memory) * _FINER
        self._parts = int(min(max(2, wanted), _MAX_PARTS))
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="lakeport-merge-")))
        self._stack.callback(self._close_writers)
        self._writers = [None] * self._parts
        tables, self._tables = self._tables, []
        while tables:
            self._write(tables.pop(0))

    def _write(self, table: pa.Table) -> None:
        parts = _part_of_keys(table.column(KEY), self._parts)
        order = np.argsort(parts, kind="stable")
        bounds = np.searchsorted(parts[order], np.arange(self._parts + 1))
        for part in range(self._parts):
            rows = order[bounds[part] : bounds[part + 1]]
            if len(rows):
                self._writer(part, table.schema).write_table(table.take(pa.array(rows)))

    def _ranges(self) -> Iterator[KeyRange]:
        """Parts that fit into memory together."""
        first = size = 0
        for part in range(self._parts):
            path = self._path(part)
            more = path.stat().st_size if path.exists() else 0
            if part > first and self._is_much(size + more):
                yield KeyRange(first, part, self._parts)
                first, size = part, 0
            size += more
        yield KeyRange(first, self._parts, self._parts)

    def _read(self, keys: KeyRange) -> list[pa.Table]:
        tables: list[pa.Table] = []
        size = 0
        for part in range(keys.first, keys.end):
            path = self._path(part)
            if not path.exists():
                continue
            with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
                for number in range(reader.num_record_batches):
                    tables.append(pa.Table.from_batches([reader.get_batch(number)]))
                    size += tables[-1].nbytes
                    if self._compact is not None and self._is_much(size):
                        # One key may have most of the events.
                        tables = [self._compact(tables)]
                        size = 0
            path.unlink()
        return tables

    def _writer(self, part: int, schema: pa.Schema) -> pa.RecordBatchFileWriter:
        writer = self._writers[part]
        if writer is None:
            writer = pa.ipc.new_file(str(self._path(part)), schema)
            self._writers[part] = writer
        return writer

    def _path(self, part: int) -> Path:
        assert self._folder is not None
        return self._folder / f"{part}.arrow"

    def _close_writers(self) -> None:
        for part, writer in enumerate(self._writers):
            if writer is not None:
                writer.close()
                self._writers[part] = None


def _part_of_keys(keys: pa.Array | pa.ChunkedArray, parts: int) -> np.ndarray:
    return (key_hashes(keys) % np.uint64(parts)).astype(np.int64)
