"""Rows that wait on a local disk. Executor side."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from connectors.hive.write.sink.file_rows import FileKey

__all__ = ["SpilledRows"]


class SpilledRows:
    """Rows of many files in one temporary file, which no one else sees and the end of the process removes.

    Args:
        schema: Of the rows.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchFileWriter | None = None
        self._reader: pa.RecordBatchFileReader | None = None
        self._count = 0
        self._places: dict[FileKey, list[int]] = {}

    def put(self, key: FileKey, rows: pa.Table) -> list[int]:
        """Writes rows of a file behind those that it has here; returns where."""
        if self._writer is None:
            self._file = tempfile.TemporaryFile(prefix="lakeport-insert-")  # noqa: SIM115
            self._writer = pa.ipc.new_file(pa.PythonFile(self._file, "w"), self._schema)
        places, made = self._places.setdefault(key, []), list[int]()
        for batch in rows.combine_chunks().to_batches():
            self._writer.write_batch(batch)
            places.append(self._count)
            made.append(self._count)
            self._count += 1
        return made

    @property
    def keys(self) -> tuple[FileKey, ...]:
        """The files that have rows here."""
        return tuple(self._places)

    def take(self, key: FileKey) -> Iterator[pa.Table]:
        """The rows of a file, in order; nothing is put after the first call."""
        for place in self._places.pop(key, ()):
            yield self.read(place)

    def read(self, place: int) -> pa.Table:
        """What ``put`` has written at a place; nothing is put after the first call."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._reader is None:
            self._reader = pa.ipc.open_file(pa.PythonFile(self._file, "r"))
        return pa.Table.from_batches([self._reader.get_batch(place)])

    def close(self) -> None:
        """Removes the file."""
        self._places.clear()
        self._reader = self._writer = None
        if self._file is not None:
            self._file.close()
            self._file = None
