"""The rows of a statement, which are computed when they are asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from lakeport.engine import LazyResult, ResultRows
from lakeport.scan_facts import JobCounts

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["LocalResult"]

_SHOWN_ROWS = 20


class LocalResult(LazyResult):
    """What a statement gives. Each use of it reads the tables again, of the snapshot that the statement saw.

    Args:
        schema: Names and types of the columns.
        open_reader: Runs the statement.
        interrupt: Ends what runs of it.
        rows_read: How many rows of tables came from here so far.
    """

    def __init__(
        self,
        schema: pa.Schema,
        open_reader: Callable[[], pa.RecordBatchReader],
        interrupt: Callable[[], object],
        rows_read: Callable[[], int] = lambda: 0,
    ) -> None:
        self._schema = schema
        self._open_reader = open_reader
        self._interrupt = interrupt
        self._rows_read = rows_read

    @classmethod
    def of(cls, table: pa.Table) -> LocalResult:
        """Rows that are there."""
        return cls(table.schema, table.to_reader, lambda: None)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._schema

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._schema.names)

    @property
    def native(self) -> LocalResult:
        """This itself."""
        return self

    def rows(self) -> ResultRows:
        """Runs it."""
        return ResultRows(self._schema, _batches(self._open_reader()))

    def first(self, count: int) -> pa.Table:
        """Its first rows."""
        found: list[pa.RecordBatch] = []
        missing = count
        with self._open_reader() as reader:
            while missing > 0 and (batch := next(reader, None)) is not None:
                found.append(batch.slice(0, missing))
                missing -= found[-1].num_rows
        return pa.Table.from_batches(found, self._schema)

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows as a stream."""
        return self._open_reader()

    def arrow(self) -> pa.Table:
        """All rows at once."""
        return self.to_reader().read_all()

    def pandas(self, dtype_backend: Literal["numpy", "pyarrow"] = "numpy") -> pd.DataFrame:
        """All rows as a pandas DataFrame; ``pyarrow`` keeps the types."""
        import pandas as pd

        return self.arrow().to_pandas(types_mapper=pd.ArrowDtype if dtype_backend == "pyarrow" else None)

    def polars(self) -> pl.DataFrame:
        """All rows as a Polars DataFrame."""
        import polars as pl

        frame = pl.from_arrow(self.arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def fetchall(self) -> list[tuple[object, ...]]:
        """All rows as tuples."""
        columns = [column.to_pylist() for column in self.arrow().columns]
        return list(zip(*columns, strict=True))

    def show(self, rows: int = _SHOWN_ROWS) -> None:
        """Prints the first rows."""
        import polars as pl

        frame = pl.from_arrow(self.arrow().slice(0, rows))
        with pl.Config(tbl_rows=rows, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
            sys.stdout.write(f"{frame}\n")

    def cancel(self) -> None:
        """Ends what runs of it; whoever reads it gets an error."""
        self._interrupt()

    def counts(self) -> JobCounts:
        """How many rows of tables it has read; those of files that DuckDB reads itself are not known."""
        return JobCounts(rows=self._rows_read())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"LocalResult({self.columns})"


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    with reader:
        yield from reader
