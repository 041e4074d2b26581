"""The changes of one file group in the columns of Hudi's own change feed. Executor side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.changes import ChangeType
from connector_spi.page_source import PageSource
from connectors.hudi.changes.handles import FEED_COLUMNS, HudiChangeSplit
from connectors.hudi.error_codes import HUDI_DUPLICATE_KEYS
from connectors.hudi.read.changes.group_changes import GroupChanges
from connectors.hudi.read.changes.page_source import ChangePageSource
from connectors.hudi.read.changes.row_json import avro_json, row_json
from connectors.hudi.read.slice_read import schema_of
from connectors.hudi.schema.table_schema import RECORD_KEY

__all__ = ["change_feed_page_source"]

_FEED = pa.schema(FEED_COLUMNS)


def change_feed_page_source(changes: GroupChanges, columns: tuple[ColumnHandle, ...]) -> PageSource:
    """Gives a row for each change of a split: operation, write, row before and row after (CDCFileGroupIterator).

    A row that was not there is NULL where slices were compared, and the text ``null`` where a log has the change, as
    in Hudi.

    Args:
        changes: The changes of a file group.
        columns: The asked columns of the feed, in order.
    """
    found = _logged(changes) if changes.split.change_logs else _compared(changes)
    return ChangePageSource(schema_of(columns), found)


def _logged(changes: GroupChanges) -> Iterator[pa.Table]:
    for records, _ in changes.logged():
        operations = records.column("op").combine_chunks()
        before, after = (avro_json(records.column(side).combine_chunks()) for side in ("before", "after"))
        yield _feed(changes.split, operations, before, after)


def _compared(changes: GroupChanges) -> Iterator[pa.Table]:
    columns = tuple(ColumnHandle(field.name, field.type) for field in changes.table.schema)
    names = [column.name for column in columns]
    rows = dict(changes.compared(columns))
    inserted, deleted = (row_json(rows[kind].select(names)) for kind in (ChangeType.INSERT, ChangeType.DELETE))
    old, new = rows[ChangeType.UPDATE_PREIMAGE], rows[ChangeType.UPDATE_POSTIMAGE]
    pairs = _pairs(changes.split, old.column(RECORD_KEY), new.column(RECORD_KEY))
    yield _feed(changes.split, "i", None, inserted)
    yield _feed(changes.split, "u", row_json(old.select(names)).take(pairs), row_json(new.select(names)))
    yield _feed(changes.split, "d", deleted, None)


def _pairs(split: HudiChangeSplit, old: pa.ChunkedArray, new: pa.ChunkedArray) -> pa.Array:
    """Of each new row the number of the old one of the same key."""
    if pc.count_distinct(old).as_py() != len(old) or len(old) != len(new):
        side = split.after or split.before
        raise NotSupportedError(
            f"a change feed cannot pair the rows of file group {side.file_id if side is not None else ''} that the "
            f"write {split.write.requested} updated: several have one record key; read the changes with CHANGES FROM "
            "VERSION, or with session.changes",
            HUDI_DUPLICATE_KEYS,
        )
    return pc.index_in(new, value_set=old.combine_chunks()).combine_chunks()


def _feed(
    split: HudiChangeSplit, operation: str | pa.Array, before: pa.Array | None, after: pa.Array | None
) -> pa.Table:
    """Changes; a side that is ``None`` is NULL in each."""
    shown = before if before is not None else after
    rows = len(shown) if shown is not None else 0
    arrays = [
        pa.array(np.full(rows, operation), pa.string()) if isinstance(operation, str) else operation,
        pa.array(np.full(rows, split.write.requested), pa.string()),
        before if before is not None else pa.nulls(rows, pa.string()),
        after if after is not None else pa.nulls(rows, pa.string()),
    ]
    return pa.Table.from_arrays(arrays, schema=_FEED)
