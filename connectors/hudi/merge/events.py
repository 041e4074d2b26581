"""From blocks to events: the rows and deletes of one block as an Arrow table of a common form. Pure.

The columns of an event are those that the merge gives out, of the table's types, and behind them:

- ``$key``: the record key, string; or, where ``MergeColumns.by_position``, the row's position in the base file, int64.
- ``$deleted``, ``$commit_time``: boolean, as ``fold.Events`` has them.
- ``$shape``: int32, which columns the event has values for, a number in ``MergeColumns.shapes``; with partial updates.
- ``$ordering0``, ``$ordering1`` ...: the values of the ordering fields, where events are compared by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hudi.log.block import BlockType, LogBlock, damaged
from connectors.hudi.log.data_block import PART_BYTES, POSITION
from connectors.hudi.log.delete_block import COMMIT_TIME_DELETE, ORDERING, RECORD_KEY, read_delete_block
from connectors.hudi.log.row_columns import combined
from connectors.hudi.merge.block_rows import IS_DELETED, OPERATION, BlockColumns, no_values, read_block_rows
from connectors.hudi.merge.columns import COMMIT_TIME, DELETED, KEY, SHAPE, MergeColumns, ordering_name
from connectors.hudi.merge.ordering import as_table_type, is_default
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.toolkit.avro.records import ByteRange

__all__ = ["read_events"]


def read_events(
    blocks: Sequence[LogBlock],
    contents: Sequence[ByteRange],
    columns: MergeColumns,
    evolved: Sequence[EvolvedColumn] | None = None,
    part_bytes: int = PART_BYTES,
) -> Iterator[pa.Table]:
    """The events of a data or delete block, in its order; those of a large block in several tables.

    Args:
        blocks: The block, or several of ``blocks_read_at_once``.
        contents: The content of each.
        columns: The columns of the merge.
        evolved: Where each of ``columns.read`` is in the blocks; by its own name where nothing is said.
        part_bytes: Bytes of an Avro block that are decoded at once.

    Raises:
        CorruptFileError: The block is damaged, or a row has no key.
        NotSupportedError: Something in it is not understood.
    """
    block, content = blocks[0], contents[0]
    if block.type is BlockType.DELETE:
        yield _delete_events(block, content.slice(0, content.size), columns)
        return
    asked = BlockColumns.of(block, columns, evolved)
    shape = columns.shape(asked.present if block.is_partial else None)
    for rows, values in read_block_rows(blocks, contents, columns, asked, part_bytes):
        yield _row_events(block, rows, values, columns, shape)


def _row_events(block: LogBlock, rows: pa.Table, table: pa.Table, columns: MergeColumns, shape: int | None) -> pa.Table:
    keys = combined(rows.column(POSITION)) if columns.by_position else columns.keys(table)
    if keys.null_count:
        raise damaged(block.where, "a row has no record key")
    deleted = _deleted(rows, columns)
    ordering = columns.ordering(table)
    return _events(
        values=table.select(columns.names),
        keys=keys,
        deleted=deleted,
        commit_time=_commit_time(ordering, len(rows)),
        ordering=ordering,
        shape=shape,
    )


def _delete_events(block: LogBlock, content: pa.Buffer, columns: MergeColumns) -> pa.Table:
    deletes = read_delete_block(block, content, positions=columns.by_position)
    count = len(deletes)
    keys = combined(deletes.column(POSITION if columns.by_position else RECORD_KEY))
    if keys.null_count:
        raise damaged(block.where, "a delete has no record key")
    commit_time = combined(deletes.column(COMMIT_TIME_DELETE))
    ordering: list[pa.Array] = []
    if columns.ordering_types:
        recorded = combined(deletes.column(ORDERING))
        fields = recorded.flatten() if pa.types.is_struct(recorded.type) else [recorded]
        cast = _ordering(block, fields, columns)
        if cast is None:
            # HoodieRecord.compareTo of two classes: the delete wins.
            commit_time = pa.repeat(True, count)
        ordering = cast if cast is not None else [pa.nulls(count, kind) for kind in columns.ordering_types]
    else:
        commit_time = pa.repeat(True, count)
    return _events(
        values=no_values(count, columns),
        keys=keys,
        deleted=pa.repeat(True, count),
        commit_time=commit_time,
        ordering=ordering,
        shape=columns.shape(None),
    )


def _ordering(block: LogBlock, fields: list[pa.Array], columns: MergeColumns) -> list[pa.Array] | None:
    if len(fields) != len(columns.ordering_types):
        return None
    try:
        cast = [as_table_type(array, kind) for array, kind in zip(fields, columns.ordering_types, strict=True)]
    except pa.ArrowInvalid as error:
        raise damaged(block.where, f"the ordering values of the deletes do not fit the table's: {error}") from error
    found = [array for array in cast if array is not None]
    return found if len(found) == len(cast) else None


def _events(
    values: pa.Table,
    keys: pa.Array,
    deleted: pa.Array,
    commit_time: pa.Array,
    ordering: list[pa.Array],
    shape: int | None,
) -> pa.Table:
    more = {KEY: keys, DELETED: deleted, COMMIT_TIME: commit_time}
    if shape is not None:
        more[SHAPE] = pa.array(np.full(len(keys), shape, dtype=np.int32))
    more |= {ordering_name(at): array for at, array in enumerate(ordering)}
    for name, array in more.items():
        values = values.append_column(name, array)
    return values


def _commit_time(ordering: list[pa.Array], count: int) -> pa.Array:
    if not ordering:
        return pa.repeat(True, count)
    return pa.array(is_default(ordering[0])) if len(ordering) == 1 else pa.repeat(False, count)


def _deleted(rows: pa.Table, columns: MergeColumns) -> pa.Array:
    deleted = pa.array(np.zeros(len(rows), dtype=bool))
    tests: list[pa.ChunkedArray] = []
    if IS_DELETED in rows.column_names and pa.types.is_boolean(rows.schema.field(IS_DELETED).type):
        tests.append(rows.column(IS_DELETED))
    if OPERATION in rows.column_names:
        tests.append(pc.is_in(rows.column(OPERATION), value_set=_deleting_operations()))
    rules = columns.config.rules
    if rules.delete_field in rows.column_names:
        tests.append(pc.equal(rows.column(rules.delete_field).cast(pa.string()), rules.delete_marker))
    for test in tests:
        deleted = pc.or_(deleted, pc.fill_null(combined(test), False))
    return deleted


@lru_cache(maxsize=1)
def _deleting_operations() -> pa.Array:
    """``HoodieOperation``: what a change stream says of a row that is no longer so."""
    # Made on use: the first array of a list imports pandas where that is installed, which takes a third of a second.
    return pa.array(["D", "-U"])
