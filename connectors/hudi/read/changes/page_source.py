"""The changes of one file group as record batches. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.changes import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, ChangeType
from connector_spi.page_source import PageSource
from connectors.hudi.changes.handles import CHANGE_COLUMNS, ChangedWrite
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE
from connectors.hudi.read.changes.group_changes import ChangedRows, GroupChanges
from connectors.hudi.read.slice_read import schema_of
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.type_adaptation import LOSSLESS

__all__ = ["ChangePageSource", "change_page_source"]

_BATCH_ROWS = 16384
_ADDED = frozenset(name for name, _ in CHANGE_COLUMNS)
_BOTH_SIDES = (
    ("i", "after", ChangeType.INSERT),
    ("d", "before", ChangeType.DELETE),
    ("u", "before", ChangeType.UPDATE_PREIMAGE),
    ("u", "after", ChangeType.UPDATE_POSTIMAGE),
)


class ChangePageSource(PageSource):
    """Gives tables of changes in batches.

    Args:
        schema: Of the batches.
        tables: The changes, with the columns of ``schema`` and perhaps more; found while they are read.
    """

    def __init__(self, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
        self._schema = schema
        # A batch of no columns keeps its number of rows.
        self._batches = (batch.select(schema.names) for table in tables for batch in table.to_batches(_BATCH_ROWS))

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)

    def close(self) -> None:
        self._batches.close()


def change_page_source(changes: GroupChanges, columns: tuple[ColumnHandle, ...]) -> PageSource:
    """Gives a row for each row that was inserted or deleted, and two for each that was updated.

    Args:
        changes: The changes of a file group.
        columns: The asked columns, in order.
    """
    schema = schema_of(columns)
    of_table = tuple(column for column in columns if column.name not in _ADDED)
    found = _logged(changes, of_table) if changes.split.change_logs else _compared(changes, of_table)
    return ChangePageSource(schema, map(partial(_described, write=changes.split.write, schema=schema), found))


def _compared(changes: GroupChanges, columns: tuple[ColumnHandle, ...]) -> Iterator[ChangedRows]:
    yield from changes.compared(columns)


def _logged(changes: GroupChanges, columns: tuple[ColumnHandle, ...]) -> Iterator[ChangedRows]:
    for records, path in changes.logged():
        for operation, side, change in _BOTH_SIDES:
            chosen = records.filter(pc.equal(records.column("op"), operation)).column(side)
            if len(chosen):
                yield change, _adapted(chosen.combine_chunks(), columns, path)


def _adapted(images: pa.StructArray, columns: Sequence[ColumnHandle], path: str) -> pa.Table:
    """Rows of a log in the table's types."""
    if images.null_count:
        raise CorruptFileError(f"{path} records a change without its row", HUDI_BAD_LOG_FILE)
    adapter = SchemaAdapter(pa.schema(list(images.type)), columns, where=path, rules=LOSSLESS)
    if not columns:
        return pa.table({"rows": pa.nulls(len(images))})
    arrays = [None if at is None else images.field(at) for at in adapter.positions]
    return pa.Table.from_arrays(adapter.adapt(arrays, len(images)), schema=schema_of(tuple(columns)))


def _described(changed: ChangedRows, write: ChangedWrite, schema: pa.Schema) -> pa.Table:
    """The asked columns of rows, and those that describe the change."""
    change, rows = changed
    constants = {CHANGE_TYPE: change.value, COMMIT_VERSION: write.requested, COMMIT_TIMESTAMP: write.committed}
    if not schema.names:
        return rows
    arrays = [
        pa.repeat(pa.scalar(constants[field.name], field.type), rows.num_rows)
        if field.name in constants
        else rows.column(field.name)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
