"""Keeps events in memory, or, where they are too many, on disk by parts of the keys."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np
import polars as pl
import pyarrow as pa

from connectors.hudi.merge.columns import KEY

__all__ = ["EventStore", "part_of_keys"]

# Merging takes a second copy of the events, and then some.
_SHARE = 3
_MAX_PARTS = 512
# An Arrow array of texts ends at 2 GB.
_MAX_MEMORY = 4 << 30


class EventStore:
    """The events of a slice's logs, in order of arrival.

    Args:
        memory: Bytes that may be held, what merging takes included.
        content_size: Bytes of all blocks that will be added, as they lie in the logs.

    Attributes:
        parts: Number of parts that the keys are split into; 1 while all is in memory.
    """

    def __init__(self, memory: int, content_size: int) -> None:
        self._memory = min(memory, _MAX_MEMORY)
        self._content_size = max(content_size, 1)
        self._added = 0
        self._tables: list[pa.Table] = []
        self._size = 0
        self._stack = ExitStack()
        self._writers: list[pa.RecordBatchFileWriter | None] = []
        self._folder: Path | None = None
        self.parts = 1

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
        if self._folder is not None:
            self._write(table)
            return
        self._tables.append(table)
        self._size += table.nbytes
        if self._size * _SHARE > self._memory:
            self._spill()

    def read(self) -> Iterator[tuple[int, list[pa.Table]]]:
        """The events of each part of the keys, with its number; parts without events come too."""
        if self._folder is None:
            yield 0, self._tables
            return
        for part in range(self.parts):
            writer = self._writers[part]
            if writer is not None:
                writer.close()
                self._writers[part] = None
        for part in range(self.parts):
            path = self._path(part)
            if path.exists():
                with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as reader:
                    yield part, [reader.read_all()]
                path.unlink()
            else:
                yield part, []

    def _spill(self) -> None:
        expected = self._size * max(1.0, self._content_size / max(self._added, 1))
        self.parts = int(min(max(2, -(-expected * _SHARE // self._memory)), _MAX_PARTS))
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="lakeport-merge-")))
        self._stack.callback(self._close_writers)
        self._writers = [None] * self.parts
        tables, self._tables = self._tables, []
        while tables:
            self._write(tables.pop(0))

    def _write(self, table: pa.Table) -> None:
        parts = part_of_keys(table.column(KEY), self.parts)
        order = np.argsort(parts, kind="stable")
        bounds = np.searchsorted(parts[order], np.arange(self.parts + 1))
        for part in range(self.parts):
            rows = order[bounds[part] : bounds[part + 1]]
            if len(rows):
                self._writer(part, table.schema).write_table(table.take(pa.array(rows)))

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
        for writer in self._writers:
            if writer is not None:
                writer.close()


def part_of_keys(keys: pa.Array | pa.ChunkedArray, parts: int) -> np.ndarray:
    """Which part each key belongs to."""
    hashes = pl.Series("key", keys).hash(seed=0)
    return np.asarray((hashes % parts).to_numpy()).astype(np.int64)
