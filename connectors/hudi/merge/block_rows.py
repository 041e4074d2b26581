"""The rows of log blocks in the columns of a merge. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from connectors.hudi.log.block import BlockType, LogBlock
from connectors.hudi.log.data_block import PART_BYTES, read_data_block_parts, read_data_blocks
from connectors.hudi.log.delete_block import read_delete_block
from connectors.hudi.log.row_columns import combined
from connectors.hudi.merge.columns import MergeColumns
from connectors.hudi.schema.evolution import EvolvedColumn
from connectors.hudi.schema.timestamp_unit import check_unit
from connectors.toolkit.avro.records import ByteRange
from connectors.toolkit.avro.schema import AvroRecordSchema
from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.type_adaptation import LOSSLESS

__all__ = [
    "IS_DELETED",
    "OPERATION",
    "BlockColumns",
    "blocks_read_at_once",
    "column_names",
    "no_values",
    "read_block_rows",
    "read_values",
]

IS_DELETED = "_hoodie_is_deleted"
"""The column that says of a row that it is a delete."""

OPERATION = "_hoodie_operation"
"""The column that says what a change stream did to a row (``HoodieOperation``)."""


def blocks_read_at_once(blocks: Sequence[LogBlock], most_bytes: int) -> Iterator[list[LogBlock]]:
    """Puts Avro blocks of one schema that follow each other together, to be read at once."""
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


def column_names(block: LogBlock) -> tuple[str, ...]:
    """Names of the columns of a data block; none where its header is damaged, which its reader refuses."""
    return _field_names(block.schema or "{}")


@dataclass(frozen=True, slots=True)
class BlockColumns:
    """What of a data block is read.

    Attributes:
        asked: Names of its columns: those of the merge, and those that mark deletes.
        present: Names of the merge's columns that it has.
        evolved: Where each of ``MergeColumns.read`` is in the block; by its own name where nothing is said.
    """

    asked: frozenset[str]
    present: frozenset[str]
    evolved: Sequence[EvolvedColumn] | None

    @classmethod
    def of(cls, block: LogBlock, columns: MergeColumns, evolved: Sequence[EvolvedColumn] | None) -> BlockColumns:
        """Finds the columns, each by its own name or where ``evolved`` says."""
        written = pa.schema([pa.field(name, pa.null()) for name in column_names(block)])
        names = [column.name for column in columns.read] if evolved is None else [_name(item) for item in evolved]
        positions = [None if name is None else find_column(written, name) for name in names]
        found = {column.name: at for column, at in zip(columns.read, positions, strict=True) if at is not None}
        markers = {IS_DELETED, OPERATION, columns.config.rules.delete_field}
        asked = {written.names[at] for at in found.values()} | {name for name in written.names if name in markers}
        # A table without columns would lose the number of rows.
        return cls(frozenset(asked or written.names[:1]), frozenset(found), evolved)


def read_block_rows(
    blocks: Sequence[LogBlock],
    contents: Sequence[ByteRange],
    columns: MergeColumns,
    asked: BlockColumns,
    part_bytes: int = PART_BYTES,
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The rows of a data block, or of several of ``blocks_read_at_once``, in order; a large block in several parts.

    Args:
        blocks: The blocks.
        contents: The content of each.
        columns: The columns of the merge.
        asked: What is read of the blocks.
        part_bytes: Bytes of an Avro block that are decoded at once.

    Yields:
        Rows as the block has them, and their columns ``columns.read``.
    """
    block, content = blocks[0], contents[0]
    if len(blocks) > 1:
        whole = [piece.slice(0, piece.size) for piece in contents]
        tables = iter([read_data_blocks(blocks, whole, asked.asked, positions=columns.by_position)])
    else:
        tables = read_data_block_parts(
            block, content, asked.asked, positions=columns.by_position, part_bytes=part_bytes
        )
    schema = pa.schema([(column.name, column.type) for column in columns.read])
    evolved = asked.evolved
    for rows in tables:
        arrays = _arrays(block, rows, columns) if evolved is None else _evolved_arrays(block, rows, evolved)
        yield rows, pa.Table.from_arrays(arrays, schema=schema)


def read_values(
    blocks: Sequence[LogBlock],
    contents: Sequence[ByteRange],
    columns: MergeColumns,
    evolved: Sequence[EvolvedColumn] | None = None,
    part_bytes: int = PART_BYTES,
) -> Iterator[pa.Table]:
    """The columns ``columns.given`` of the events that ``read_events`` makes of the same blocks, in the same order.

    Args:
        blocks: As for ``read_events``, like the others.
        contents: The content of each.
        columns: The columns of the merge.
        evolved: Where each of ``columns.read`` is in the blocks.
        part_bytes: Bytes of an Avro block that are decoded at once.
    """
    block, content = blocks[0], contents[0]
    if block.type is BlockType.DELETE:
        deletes = read_delete_block(block, content.slice(0, content.size))
        yield no_values(len(deletes), columns)
        return
    asked = BlockColumns.of(block, columns, evolved)
    for _, values in read_block_rows(blocks, contents, columns, asked, part_bytes):
        yield values.select(columns.names)


def no_values(count: int, columns: MergeColumns) -> pa.Table:
    """What deletes have in the columns ``columns.given``: NULL."""
    return pa.table({column.name: pa.nulls(count, column.type) for column in columns.given}, schema=columns.schema)


def _alike(one: LogBlock, other: LogBlock) -> bool:
    is_avro = one.type is BlockType.AVRO_DATA and other.type is BlockType.AVRO_DATA
    return is_avro and one.schema == other.schema and one.is_partial == other.is_partial


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


@lru_cache(maxsize=64)
def _field_names(schema: str) -> tuple[str, ...]:
    try:
        return tuple(AvroRecordSchema(schema).fields)
    except ValueError:
        # The reader of the block says what is wrong.
        return ()
