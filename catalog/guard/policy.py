"""Row filters and column masks of a table, which travel in its handle to the tasks that read it. Task side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from catalog.guard.expressions import Expression, column_names, evaluate
from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource, rows_without_columns
from connector_spi.serializable import Serializable

__all__ = ["MaskedPageSource", "TablePolicy"]


@dataclass(frozen=True, slots=True)
class TablePolicy(Serializable):
    """What is shown of a table's rows.

    Attributes:
        filters: Rows meet all of them; they see values without masks.
        masks: By column, what is shown instead of its values; they see values without masks, too.
        inputs: The columns that filters and masks read.
    """

    filters: tuple[Expression, ...]
    masks: tuple[tuple[str, Expression], ...]
    inputs: tuple[ColumnHandle, ...]

    @property
    def masked(self) -> frozenset[str]:
        """Names of the masked columns."""
        return frozenset(name for name, _ in self.masks)

    def read_columns(self, asked: Sequence[ColumnHandle]) -> tuple[ColumnHandle, ...]:
        """What has to be read to show some columns: those without masks, and what filters and masks need."""
        masks = dict(self.masks)
        shown = [column for column in asked if column.name not in masks]
        needed = {name for one in self.filters for name in column_names(one)}
        needed |= {name for column in asked if column.name in masks for name in column_names(masks[column.name])}
        have = {column.name for column in shown}
        return (*shown, *(column for column in self.inputs if column.name in needed - have))

    def show(self, batch: pa.RecordBatch, asked: Sequence[ColumnHandle]) -> pa.RecordBatch:
        """The rows and values of a batch of ``read_columns`` that may be seen."""
        for one in self.filters:
            batch = batch.filter(evaluate(one, batch))  # rows where it is unknown are left out
        if not asked:
            return rows_without_columns(batch.num_rows)
        masks = dict(self.masks)
        arrays = [
            batch.column(column.name) if column.name not in masks else _masked(masks[column.name], column, batch)
            for column in asked
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema([(column.name, column.type) for column in asked]))


class MaskedPageSource(PageSource):
    """The rows of a page source that may be seen, as they may be seen.

    Args:
        source: Gives the policy's ``read_columns``.
        asked: What is shown.
        policy: The policy.
    """

    def __init__(self, source: PageSource, asked: tuple[ColumnHandle, ...], policy: TablePolicy) -> None:
        self._source = source
        self._asked = asked
        self._policy = policy
        self._schema = pa.schema([(column.name, column.type) for column in asked])

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        return self._policy.show(next(self._source), self._asked)

    def close(self) -> None:
        self._source.close()


def _masked(mask: Expression, column: ColumnHandle, batch: pa.RecordBatch) -> pa.Array:
    found = evaluate(mask, batch)
    if found.type == column.type:
        return found
    if found.null_count == len(found):
        return pa.nulls(len(found), column.type)  # a nested column, of which a query uses some fields
    raise InternalError(f"the mask of column '{column.name}' gave {found.type}, expected {column.type}")
