"""The result of a query in a notebook: its first rows, and methods to get all of them."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame

from lakeport.html_table import html_table
from lakeport.shell.output.tables import is_one_text, write_aligned
from lakeport.spark.results import arrow_result

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["QueryResult", "all_rows"]


class QueryResult:
    """A query whose first rows have been read.

    Args:
        frame: The query; it runs again for all rows.
        shown: Number of rows to show.

    Attributes:
        spark: The query as Spark's DataFrame.
    """

    def __init__(self, frame: DataFrame, shown: int) -> None:
        self.spark = frame
        self._shown = shown
        self._first = all_rows(frame.limit(shown + 1))

    def to_arrow(self) -> pa.Table:
        """All rows; raises Spark's errors."""
        return all_rows(self.spark)

    def to_pandas(self) -> pd.DataFrame:
        """All rows."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """All rows."""
        import polars  # the import takes a tenth of a second

        return polars.DataFrame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        found = arrow_result(self.spark)
        reader = pa.RecordBatchReader.from_batches(found.schema, found.batches)
        return reader.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        out = io.BytesIO()
        write_aligned(self._first.schema, iter(self._rows().to_batches()), out)
        text = out.getvalue().decode().rstrip("\n")
        if not self._has_more():
            return text
        lines, _, _ = text.rpartition("\n")
        return f"{lines}\n(first {self._shown} rows, there are more)"

    def _repr_html_(self) -> str:
        if is_one_text(self._first.schema):
            return f"<pre>{escape(repr(self))}</pre>"
        return html_table(self._rows(), more=self._has_more())

    def _rows(self) -> pa.Table:
        return self._first.slice(0, self._shown)

    def _has_more(self) -> bool:
        return len(self._first) > self._shown


def all_rows(frame: DataFrame) -> pa.Table:
    """The rows of a DataFrame."""
    found = arrow_result(frame)
    return pa.Table.from_batches(found.batches, found.schema)
