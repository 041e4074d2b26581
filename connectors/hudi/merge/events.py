"""From blocks to events: the rows and deletes of one block as an Arrow table of a common form. Pure.

The columns of an event are those that the merge gives out, of the table's types, and behind them:

- ``$key``: the record key, string; or, where ``MergeColumns.by_position``, the row's position in the base file, int64.
- ``$deleted``, ``$commit_time``: boolean, as ``fold.Events`` has them.
- ``$shape``: int32, which columns the event has values for, a number in ``MergeColumns.shapes``; with partial updates.
- ``$ordering0``, ``$ordering1`` ...: the values of the ordering fields, where events are compared by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hudi.log.block import BlockType, LogBlock, damaged
from connectors.hudi.log.data_block import PART_BYTES, POSITION, read_data_block_parts, read_data_blocks
from connectors.hudi.log.delete_block import COMMIT_TIME_DELETE, ORDERING, RECORD_KEY, read_delete_block
from connectors.hudi.log.row_columns import combined
from connectors.hudi.merge.columns import COMMIT_TIME, DELETED, KEY, SHAPE, MergeColumns, ordering_name
from connectors.hudi.merge.ordering import as_table_type, is_default
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.hudi.schema.timestamp_unit import check_unit
from connectors.toolkit.avro.records import ByteRange
from connectors.toolkit.avro.schema import AvroRecordSchema
from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.type_adaptation import LOSSLESS

__all__ = ["blocks_read_at_once", "column_names", "read_events"]

_IS_DELETED = "_hoodie_is_deleted"
_OPERATION = "_hoodie_operation"


def blocks_read_at_once(blocks: Sequence[LogBlock], most_bytes: int) -> Iterator[list[LogBlock]]:
    """Puts Avro blocks of one schema that follow each other together, for ``read_events``."""
    together: list[LogBlock] = []
    size = 0
    for block in blocks:
        size += block.content_length
        if together and (size > most_bytes or not _alike(together[0], block)):
            yield together
            together, size = [], block.content_length
        together.append(block)
    if together:
        yield together


def _alike(one: LogBlock, other: LogBlock) -> bool:
    is_avro = one.type is BlockType.AVRO_DATA and other.type is BlockType.AVRO_DATA
    return is_avro and one.schema == other.schema and one.is_partial == other.is_partial


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
    written = _Written.of(block, columns, evolved)
    shape = columns.shape(written.present if block.is_partial else None)
    if len(blocks) > 1:
        whole = [piece.slice(0, piece.size) for piece in contents]
        tables = iter([read_data_blocks(blocks, whole, written.asked, positions=columns.by_position)])
    else:
        tables = read_data_block_parts(
            block, content, written.asked, positions=columns.by_position, part_bytes=part_bytes
        )
    for rows in tables:
        arrays = _arrays(block, rows, columns) if evolved is None else _evolved_arrays(block, rows, evolved)
        yield _row_events(block, rows, arrays, columns, shape)


def column_names(block: LogBlock) -> tuple[str, ...]:
    """Names of the columns of a data block; none where its header is damaged, which its reader refuses."""
    return _field_names(block.schema or "{}")


@dataclass(frozen=True, slots=True)
class _Written:
    """What of a data block is read.

    Attributes:
        asked: Names of its columns: those of the merge, and those that mark deletes.
        present: Names of the merge's columns that it has.
    """

    asked: frozenset[str]
    present: frozenset[str]

    @classmethod
    def of(cls, block: LogBlock, columns: MergeColumns, evolved: Sequence[EvolvedColumn] | None) -> _Written:
        """Finds the columns, each by its own name or where ``evolved`` says."""
        written = pa.schema([pa.field(name, pa.null()) for name in column_names(block)])
        names = [column.name for column in columns.read] if evolved is None else [_name(item) for item in evolved]
        positions = [None if name is None else find_column(written, name) for name in names]
        found = {column.name: at for column, at in zip(columns.read, positions, strict=True) if at is not None}
        markers = {_IS_DELETED, _OPERATION, columns.config.rules.delete_field}
        asked = {written.names[at] for at in found.values()} | {name for name in written.names if name in markers}
        # A table without columns would lose the number of rows.
        return cls(frozenset(asked or written.names[:1]), frozenset(found))


def _name(column: EvolvedColumn) -> str | None:
    return None if column.written is None else column.written.name


def _arrays(block: LogBlock, rows: pa.Table, columns: MergeColumns) -> list[pa.Array]:
    adapter = columns.adapter(rows.schema, block)
    read = [None if at is None else combined(rows.column(at)) for at in adapter.positions]
    return adapter.adapt(read, len(rows))


def _evolved_arrays(block: LogBlock, rows: pa.Table, evolved: Sequence[EvolvedColumn]) -> list[pa.Array]:
    columns = [item.written for item in evolved if item.written is not None]
    adapter = SchemaAdapter(rows.schema, columns, where=block.where, rules=LOSSLESS)
    for column, at in zip(columns, adapter.positions, strict=True):
        if at is not None:
            check_unit(column, rows.schema.field(at).type, block.path)
    read = [None if at is None else combined(rows.column(at)) for at in adapter.positions]
    arrays = dict(zip((column.name for column in columns), adapter.adapt(read, len(rows)), strict=True))
    return [item.adapt(arrays.get(_name(item) or ""), len(rows)) for item in evolved]


def _row_events(
    block: LogBlock, rows: pa.Table, arrays: list[pa.Array], columns: MergeColumns, shape: int | None
) -> pa.Table:
    table = pa.Table.from_arrays(arrays, schema=pa.schema([(column.name, column.type) for column in columns.read]))
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
    values = pa.table({column.name: pa.nulls(count, column.type) for column in columns.given}, schema=columns.schema)
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
        values=values,
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
    if _IS_DELETED in rows.column_names and pa.types.is_boolean(rows.schema.field(_IS_DELETED).type):
        tests.append(rows.column(_IS_DELETED))
    if _OPERATION in rows.column_names:
        tests.append(pc.is_in(rows.column(_OPERATION), value_set=_deleting_operations()))
    rules = columns.config.rules
    if rules.delete_field in rows.column_names:
        tests.append(pc.equal(rows.column(rules.delete_field).cast(pa.string()), rules.delete_marker))
    for test in tests:
        deleted = pc.or_(deleted, pc.fill_null(combined(test), False))
    return deleted


@lru_cache(maxsize=64)
def _field_names(schema: str) -> tuple[str, ...]:
    try:
        return tuple(AvroRecordSchema(schema).fields)
    except ValueError:
        # The reader of the block says what is wrong.
        return ()


@lru_cache(maxsize=1)
def _deleting_operations() -> pa.Array:
    """``HoodieOperation``: what a change stream says of a row that is no longer so."""
    # Made on use: the first array of a list imports pandas where that is installed, which takes a third of a second.
    return pa.array(["D", "-U"])
