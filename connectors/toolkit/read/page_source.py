"""Page sources that are made of stages. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Generic, TypeAlias

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import ColumnReference
from connector_spi.scan_counters import count
from connectors.toolkit.partition_values import constant_batch
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.open_file import ColumnarFile
from connectors.toolkit.read.pruning import ColumnBounds, enclosing
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.read.stages import FileT, Stage
from connectors.toolkit.read.summary import RangeSummary

__all__ = ["BatchStage", "FilePageSource", "StagedPageSource"]

BatchStage: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Generator[pa.RecordBatch, None, None]]
"""A step behind a page source: from its batches to others."""


class FilePageSource(PageSource, Generic[FileT]):
    """Reads one range of a file. Opens the file on the first batch.

    Args:
        read: What to read.
        open_file: Opens the file.
        stages: What is done to its rows, in order; the last one is ``project``.
        errors: Maps what the reading library raises about the file of a path.

    Attributes:
        first_row: The number, counted through the whole file from 0, of the first row of the batch given last; unless
            rows may be skipped (``FileRead.skips_rows``).
    """

    first_row: int = 0

    def __init__(
        self,
        read: FileRead,
        open_file: Callable[[], AbstractContextManager[FileT]],
        stages: Sequence[Stage[FileT]],
        errors: Callable[[str], AbstractContextManager[None]],
    ) -> None:
        self._read = read
        self._schema = read.schema
        self._open_file = open_file
        self._stages = stages
        self._errors = errors
        self._file: FileT | None = None
        self._batches = self._run()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return 0 if self._file is None else self._file.bytes_read

    @property
    def file_rows(self) -> int | None:
        """Number of rows of the whole file, once it is open and where its footer says it."""
        return None if self._file is None else self._file.row_count

    def __next__(self) -> pa.RecordBatch:
        with self._errors(self._read.path):
            return next(self._batches)

    def summary(self, counted: frozenset[ColumnHandle]) -> RangeSummary | None:
        """What the file's footer says of all rows that the page source would give; ``None`` on any doubt.

        Args:
            counted: The columns of which only the number of NULLs is asked.
        """
        columns = self._read.columns
        if not self._read.may_have_rows:
            return RangeSummary(0, {column.name: ColumnBounds(None, None, 0, 0) for column in columns})
        is_filtered = self._read.conditions or not self._read.file_predicate.is_all
        if self._read.file_columns != columns or is_filtered:
            return None
        with self._errors(self._read.path), self._open_file() as file:
            return _summary(file, columns, counted) if isinstance(file, ColumnarFile) else None

    def enclosure(self) -> RangeSummary | None:
        """As ``summary``, for estimates: values lie within the bounds, and what is unknown of a column is ``None``."""
        with self._errors(self._read.path), self._open_file() as file:
            return _enclosure(file, self._read.columns) if isinstance(file, ColumnarFile) else None

    def close(self) -> None:
        self._batches.close()

    def _run(self) -> Generator[pa.RecordBatch, None, None]:
        if not self._read.may_have_rows:
            return
        count("ranges of files opened")
        with ExitStack() as stack:
            file = self._file = stack.enter_context(self._open_file())
            rows = file.rows()
            stack.callback(rows.close)
            for stage in self._stages:
                rows = stage(file, rows)
                stack.callback(rows.close)
            for one in rows:
                self.first_row = one.start
                yield self._batch(one)

    def _batch(self, rows: FileRows) -> pa.RecordBatch:
        if not self._schema.names:
            return constant_batch(self._schema, {}, rows.count)
        return pa.RecordBatch.from_arrays(list(rows.arrays.values()), schema=self._schema)


class StagedPageSource(PageSource):
    """The batches of another page source, after some steps.

    Args:
        source: Gives the batches; closed with this one.
        schema: Of the batches after all steps.
        stages: What is done to the batches, in order.
    """

    def __init__(self, source: PageSource, schema: pa.Schema, stages: Sequence[BatchStage]) -> None:
        self._source = source
        self._schema = schema
        self._batches = self._run(stages)

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)

    def close(self) -> None:
        self._batches.close()
        self._source.close()

    def _run(self, stages: Sequence[BatchStage]) -> Generator[pa.RecordBatch, None, None]:
        with ExitStack() as stack:
            batches: Iterator[pa.RecordBatch] = self._source
            for stage in stages:
                staged = stage(batches)
                stack.callback(staged.close)
                batches = staged
            yield from batches


def _enclosure(file: ColumnarFile, columns: Sequence[ColumnHandle]) -> RangeSummary | None:
    parts = list(file.rows())
    if parts and not file.gives_every_row:
        return None
    known = {
        one.name: enclosing([file.bounds(part.part, ColumnReference(one), one.type) for part in parts])
        for one in columns
    }
    return RangeSummary(sum(part.count for part in parts), known)


def _summary(
    file: ColumnarFile, columns: Sequence[ColumnHandle], counted: frozenset[ColumnHandle]
) -> RangeSummary | None:
    rows, known = 0, {column.name: ColumnBounds(None, None, 0, 0) for column in columns}
    parts = list(file.rows())
    # Without a part nothing is looked at: a file without rows may have any schema.
    if parts and not file.gives_every_row:
        return None
    for part in parts:
        rows += part.count
        for column in columns:
            found = file.exact_bounds(part, column, counted=column in counted)
            if found is None:
                return None
            known[column.name] = known[column.name].union(found)
    count("ranges of files summed up by their footers")
    return RangeSummary(rows, known)
