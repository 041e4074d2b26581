"""Rows that DuckDB leaves out of files that it reads itself, and those that come in their place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from connector_spi.optional.native_files import MergedFile, MergedRows
from connector_spi.page_source import MAX_BATCH_ROWS
from lakeport.arrow.filters.conditions import RowTest
from lakeport.arrow.parallel_read import default_threads
from lakeport.frames.open_reader import OpenReader

__all__ = ["MergedRead"]

_REMOVED = pa.schema([("file", pa.int64()), ("position", pa.int64())])


class MergedRead:
    """What a connector says of the files of one table.

    It is asked when DuckDB asks for the first rows, and what it said is dropped when DuckDB has both of its parts: a
    query that reads the table again asks again.

    Args:
        files: The files.
        numbers: Of the files, by their locations.
        schema: The columns that are read.
    """

    def __init__(self, files: Sequence[MergedFile], numbers: Mapping[str, int], schema: pa.Schema) -> None:
        self._merges = [
            (-1 if one.file is None else numbers[one.file.path], one.merge) for one in files if one.merge is not None
        ]
        self._schema = schema
        self._lock = threading.Lock()
        self._found: dict[str, pa.Table] = {}

    def views(self) -> Mapping[str, tuple[pa.Schema, OpenReader]]:
        """The columns of the views that a query needs, by the ends of their names, and what reads their rows."""
        return {
            "removed": (_REMOVED, self._reader(lambda: self._take("removed"))),
            "added": (self._schema, self._reader(lambda: self._take("added"))),
        }

    @staticmethod
    def _reader(rows: Callable[[], pa.Table]) -> OpenReader:
        def opened(
            columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
        ) -> pa.RecordBatchReader:
            found = rows() if columns is None else rows().select(columns)
            return found.to_reader(max_chunksize=MAX_BATCH_ROWS)

        return opened

    def _take(self, part: str) -> pa.Table:
        with self._lock:
            if part not in self._found:
                with ThreadPoolExecutor(min(default_threads(), len(self._merges))) as threads:
                    merged = list(threads.map(lambda one: one[1](), self._merges))
                self._found = {"removed": self._removed(merged), "added": self._added(merged)}
            return self._found.pop(part)

    def _removed(self, merged: Sequence[MergedRows]) -> pa.Table:
        numbers = (number for number, _ in self._merges)
        batches = [
            pa.record_batch([pa.array(np.full(len(one.removed), number)), one.removed], schema=_REMOVED)
            for number, one in zip(numbers, merged, strict=True)
        ]
        return pa.Table.from_batches(batches, schema=_REMOVED)

    def _added(self, merged: Sequence[MergedRows]) -> pa.Table:
        return pa.Table.from_batches(list(_batches(merged)), schema=self._schema)


def _batches(merged: Sequence[MergedRows]) -> Iterator[pa.RecordBatch]:
    for one in merged:
        yield from one.added.to_batches()
