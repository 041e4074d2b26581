"""The result of a query in a notebook: its first rows, and methods to get all of them."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeport.engine import LazyResult
from lakeport.html_table import html_table
from lakeport.shell.output.tables import is_one_text, write_aligned

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["QueryResult", "all_rows"]


class QueryResult:
    """A query whose first rows have been read.

    Args:
        result: The query; it runs again for all rows.
        shown: Number of rows to show.
    """

    def __init__(self, result: LazyResult, shown: int) -> None:
        self._result = result
        self._shown = shown
        self._first = result.first(shown + 1)

    @property
    def spark(self) -> object:
        """The query as Spark's DataFrame; with another engine as what it gives."""
        return self._result.native

    def to_arrow(self) -> pa.Table:
        """All rows; raises the engine's errors."""
        return all_rows(self._result)

    def to_pandas(self) -> pd.DataFrame:
        """All rows."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """All rows."""
        import polars  # the import takes a tenth of a second

        return polars.DataFrame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        found = self._result.rows()
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


def all_rows(result: LazyResult) -> pa.Table:
    """The rows of a query."""
    found = result.rows()
    return pa.Table.from_batches(found.batches, found.schema)
