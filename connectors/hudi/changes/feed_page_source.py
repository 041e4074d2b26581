"""The changes of one file group in the columns of Hudi's own change feed. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.changes import ChangeType
from connector_spi.page_source import PageSource
from connectors.hudi.changes.handles import FEED_COLUMNS
from connectors.hudi.changes.page_source import GroupChanges
from connectors.hudi.changes.row_json import avro_json, row_json
from connectors.hudi.error_codes import HUDI_DUPLICATE_KEYS
from connectors.hudi.schema.table_schema import RECORD_KEY

__all__ = ["ChangeFeedPageSource"]

_BATCH_ROWS = 16384
_FEED = pa.schema(FEED_COLUMNS)


class ChangeFeedPageSource(PageSource):
    """Gives a row for each change of a split: operation, write, row before and row after (CDCFileGroupIterator).

    A row that was not there is NULL where slices were compared, and the text ``null`` where a log told the change, as
    Hudi has it.

    Args:
        changes: The changes of a file group.
        columns: The asked columns of the feed, in order.
        table_columns: The columns of the table, which the rows before and after have.
    """

    def __init__(
        self, changes: GroupChanges, columns: Sequence[ColumnHandle], table_columns: tuple[ColumnHandle, ...]
    ) -> None:
        self._changes = changes
        self._schema = pa.schema([pa.field(column.name, column.type) for column in columns])
        self._table_columns = table_columns
        self._batches = self._read()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)

    def _read(self) -> Iterator[pa.RecordBatch]:
        for told in self._logged() if self._changes.split.change_logs else self._compared():
            for batch in told.to_batches(_BATCH_ROWS):
                yield batch.select(self._schema.names)

    def _logged(self) -> Iterator[pa.Table]:
        for records, _ in self._changes.logged():
            operations = records.column("op").combine_chunks()
            before, after = (avro_json(records.column(side).combine_chunks()) for side in ("before", "after"))
            yield self._told(operations, before, after)

    def _compared(self) -> Iterator[pa.Table]:
        rows = dict(self._changes.compared(self._table_columns))
        inserted, deleted = rows[ChangeType.INSERT], rows[ChangeType.DELETE]
        old, new = rows[ChangeType.UPDATE_PREIMAGE], rows[ChangeType.UPDATE_POSTIMAGE]
        pairs = self._pairs(old.column(RECORD_KEY), new.column(RECORD_KEY))
        yield self._told("i", None, self._json(inserted))
        yield self._told("u", self._json(old).take(pairs), self._json(new))
        yield self._told("d", self._json(deleted), None)

    def _json(self, rows: pa.Table) -> pa.Array:
        return row_json(rows.select([column.name for column in self._table_columns]))

    def _pairs(self, old: pa.ChunkedArray, new: pa.ChunkedArray) -> pa.Array:
        """Of each new row the place of the old one of the same key."""
        if pc.count_distinct(old).as_py() != len(old) or len(old) != len(new):
            raise NotSupportedError(
                f"a change feed cannot tell which rows of file group {self._group} the write "
                f"{self._changes.split.write.requested} updated: several have one record key; read the changes with "
                "CHANGES FROM VERSION, or with session.changes",
                HUDI_DUPLICATE_KEYS,
            )
        return pc.index_in(new, value_set=old.combine_chunks()).combine_chunks()

    @property
    def _group(self) -> str:
        side = self._changes.split.after or self._changes.split.before
        return side.file_id if side is not None else ""

    def _told(self, operation: str | pa.Array, before: pa.Array | None, after: pa.Array | None) -> pa.Table:
        """Changes; a side that is ``None`` is NULL in each."""
        shown = before if before is not None else after
        rows = len(shown) if shown is not None else 0
        write = self._changes.split.write.requested
        arrays = [
            pa.array(np.full(rows, operation), pa.string()) if isinstance(operation, str) else operation,
            pa.array(np.full(rows, write), pa.string()),
            before if before is not None else pa.nulls(rows, pa.string()),
            after if after is not None else pa.nulls(rows, pa.string()),
        ]
        return pa.Table.from_arrays(arrays, schema=_FEED)
