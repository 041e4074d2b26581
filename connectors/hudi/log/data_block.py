"""The rows of a data block as an Arrow table. Executor side."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_LOG_BLOCK
from connectors.hudi.hfile.reader import HFile
from connectors.hudi.log.block import BlockType, LogBlock, damaged
from connectors.hudi.log.positions import POSITION, positions_column
from connectors.hudi.log.row_columns import combined
from connectors.hudi.schema.table_schema import RECORD_KEY, arrow_schema
from connectors.toolkit.avro.records import (
    AvroRecords,
    ByteRange,
    frame_records,
    read_avro_pieces,
    read_avro_table,
    split_records,
)
from connectors.toolkit.avro.schema import AvroRecordSchema
from connectors.toolkit.parquet.footer import narrow_schema, typed_schema
from connectors.toolkit.parquet.maps import restored_maps
from connectors.toolkit.parquet.opening import open_plain_file
from connectors.toolkit.parquet.reader import parquet_errors
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.time_conventions import parquet_conventions
from connectors.toolkit.schema.type_adaptation import LOSSLESS
from connectors.toolkit.storage.byte_source import MemorySource

__all__ = ["PART_BYTES", "POSITION", "read_data_block", "read_data_block_parts", "read_data_blocks"]

PART_BYTES = 8 << 20
"""Bytes of an Avro block that are decoded at once by ``read_data_block_parts``, which takes some five times as much."""

AVRO_BLOCK_VERSIONS = (1, 2, 3)

_HEAD = struct.Struct(">ii")
# The blocks of a table have few schemas, and many blocks the same.
_KEPT_SCHEMAS = 64


def read_data_block(
    block: LogBlock, content: pa.Buffer, columns: Collection[str] | None = None, *, positions: bool = False
) -> pa.Table:
    """Decodes a block.

    Args:
        block: An Avro, Parquet or HFile data block, or one of a change-data log.
        content: Its content.
        columns: Names of the columns asked, as the block spells them; all where ``None``. A column that the block's
            schema lacks is left out of the result: of a block of partial updates, that is what it does not update.
        positions: Add ``POSITION`` (int64): positions in the base file of ``block.positions_base_instant``. All NULL
            where the block records none, and for an HFile, which is sorted by key and not by position.

    Returns:
        The rows in the block's order, columns in the order of the block's schema, of the types that
        ``connectors.hudi.schema.table_schema.arrow_schema`` gives the schema, meta columns included as
        they stand in the block.

    Raises:
        CorruptFileError: The content is not what the header says.
        NotSupportedError: A column of a type that is not understood is asked, or a block version.
    """
    where = block.where
    writer = _writer_schema(block, where)
    target = _target(writer, columns, where)
    if block.type is BlockType.PARQUET_DATA:
        table = _read_parquet(content, target, where)
    elif block.type is BlockType.HFILE_DATA:
        table = _read_hfile(content, writer, target, where)
    elif block.type in (BlockType.AVRO_DATA, BlockType.CDC_DATA):
        table = _read_avro(_avro_records(content, writer, where), target, where)
    else:
        raise NotSupportedError(f"{where}: a {block.type.name} block holds no rows", HUDI_UNSUPPORTED_LOG_BLOCK)
    if not positions:
        return table
    if block.type is BlockType.HFILE_DATA:
        return table.append_column(POSITION, pa.nulls(len(table), pa.int64()))
    return table.append_column(POSITION, positions_column(block, len(table)))


def read_data_blocks(
    blocks: Sequence[LogBlock],
    contents: Sequence[pa.Buffer],
    columns: Collection[str] | None = None,
    *,
    positions: bool = False,
) -> pa.Table:
    """Decodes several Avro blocks of one schema at once, which costs less than one after the other.

    Args:
        blocks: One at least.
        contents: The content of each.
        columns: As for ``read_data_block``.
        positions: As for ``read_data_block``.

    Returns:
        The rows of all blocks, in order.

    Raises:
        CorruptFileError: The content of a block is not what its header says.
        NotSupportedError: A column of a type that is not understood is asked, or a block version.
    """
    where = [block.where for block in blocks]
    writer = _writer_schema(blocks[0], where[0])
    target = _target(writer, columns, where[0])
    pieces = [_avro_records(content, writer, name) for content, name in zip(contents, where, strict=True)]
    try:
        table = read_avro_pieces(pieces, target)
    except ValueError as error:
        # Once more one by one, to say where.
        for piece, name in zip(pieces, where, strict=True):
            _read_avro(piece, target, name)
        raise _damaged_rows(where[0], error) from error
    if not positions:
        return table
    numbers = [positions_column(block, piece.count) for block, piece in zip(blocks, pieces, strict=True)]
    return table.append_column(POSITION, pa.concat_arrays(numbers))


def read_data_block_parts(
    block: LogBlock,
    content: ByteRange,
    columns: Collection[str] | None = None,
    *,
    positions: bool = False,
    part_bytes: int = PART_BYTES,
) -> Iterator[pa.Table]:
    """Decodes a block as ``read_data_block`` does, a large Avro block in several tables, to hold less in memory.

    Args:
        block: As for ``read_data_block``, like the others.
        content: Its content, which for a large Avro block is read part by part.
        columns: Names of the columns asked.
        positions: Add ``POSITION``.
        part_bytes: Bytes of Avro records that are decoded at once.

    Yields:
        The rows in the block's order; one table at least.

    Raises:
        CorruptFileError: The content is not what the header says.
        NotSupportedError: A column of a type that is not understood is asked, or a block version.
    """
    if block.type is not BlockType.AVRO_DATA or content.size <= part_bytes:
        yield read_data_block(block, content.slice(0, content.size), columns, positions=positions)
        return
    where = block.where
    writer = _writer_schema(block, where)
    target = _target(writer, columns, where)
    count = _record_count(content, where)
    all_positions = positions_column(block, count) if positions else None
    done = 0
    parts = split_records(writer, content, _HEAD.size, count, part_bytes)
    while (part := _next_part(parts, where)) is not None:
        table = _read_avro(part, target, where)
        yield table if all_positions is None else table.append_column(POSITION, all_positions.slice(done, len(table)))
        done += len(table)


def _next_part(parts: Iterator[AvroRecords], where: str) -> AvroRecords | None:
    try:
        return next(parts, None)
    except ValueError as error:
        raise _damaged_rows(where, error) from error


def _damaged_rows(where: str, error: ValueError) -> CorruptFileError:
    return damaged(where, f"the rows of the block are damaged: {error}")


def _target(writer: AvroRecordSchema, columns: Collection[str] | None, where: str) -> pa.Schema:
    names = tuple(name for name in writer.fields if columns is None or name in columns)
    try:
        return _arrow_columns(writer, names)
    except (NotSupportedError, CorruptFileError):
        # Once more, to say where.
        return arrow_schema(writer.projected(names), where)


@lru_cache(maxsize=_KEPT_SCHEMAS)
def _arrow_columns(writer: AvroRecordSchema, names: tuple[str, ...]) -> pa.Schema:
    return arrow_schema(writer.projected(names), "")


@lru_cache(maxsize=_KEPT_SCHEMAS)
def _parsed(schema: str) -> AvroRecordSchema:
    return AvroRecordSchema(schema)


def _writer_schema(block: LogBlock, where: str) -> AvroRecordSchema:
    if block.schema is None:
        raise damaged(where, "a data block without a schema in its header")
    try:
        return _parsed(block.schema)
    except ValueError as error:
        raise damaged(where, f"the schema in the block's header is damaged: {error}") from error


def _avro_records(content: pa.Buffer, writer: AvroRecordSchema, where: str) -> AvroRecords:
    count = _record_count(content, where)
    return AvroRecords(writer, content.slice(_HEAD.size), count)


def _record_count(content: ByteRange, where: str) -> int:
    """A block has an int version, an int count, then each record behind its length (HoodieAvroDataBlock)."""
    if content.size < _HEAD.size:
        raise damaged(where, f"a block of {content.size} bytes, expected 8 at least")
    version, count = _HEAD.unpack(content.slice(0, _HEAD.size))
    if version not in AVRO_BLOCK_VERSIONS:
        known = ", ".join(map(str, AVRO_BLOCK_VERSIONS))
        raise NotSupportedError(
            f"{where}: an Avro block of version {version}, expected one of {known}; compact the table with Hudi",
            HUDI_UNSUPPORTED_LOG_BLOCK,
        )
    # The shortest record is its length alone.
    if not 0 <= count <= (content.size - _HEAD.size) // 4:
        raise damaged(where, f"{count} records in {content.size} bytes")
    return int(count)


def _read_avro(records: AvroRecords, target: pa.Schema, where: str) -> pa.Table:
    try:
        return read_avro_table(records, target)
    except ValueError as error:
        raise _damaged_rows(where, error) from error


def _read_hfile(content: pa.Buffer, writer: AvroRecordSchema, target: pa.Schema, where: str) -> pa.Table:
    keys, values = HFile(MemorySource(content), where).read_all()
    table = _read_avro(AvroRecords(writer, frame_records(values), len(values)), target, where)
    at = target.get_field_index(RECORD_KEY)
    if at < 0:
        return table
    # Where the file's key is the record's, the row may leave it out (HoodieHFileDataBlock.serializeRecord); Hudi 1.0
    # keeps it in the row, and numbers the rows for the file.
    own = table.column(at)
    kept = pc.fill_null(pc.not_equal(own, ""), False)
    if pc.all(kept).as_py():
        return table
    return table.set_column(at, target.field(at), pc.if_else(kept, own, pa.array(keys, pa.binary()).cast(pa.string())))


def _read_parquet(content: pa.Buffer, target: pa.Schema, where: str) -> pa.Table:
    try:
        return _read_parquet_columns(content, target, where)
    except UnicodeDecodeError as error:
        raise damaged(where, "a name in the block's Parquet footer is damaged") from error


def _read_parquet_columns(content: pa.Buffer, target: pa.Schema, where: str) -> pa.Table:
    columns = tuple(ColumnHandle(field.name, field.type) for field in target)
    with parquet_errors(where), open_plain_file(pa.BufferReader(content)) as file:
        conventions = parquet_conventions(file.metadata.metadata, file.metadata.created_by, "UTC")
        schema = typed_schema(file)
        narrowed, leaves = narrow_schema(schema, columns, {})
        adapter = SchemaAdapter(narrowed, columns, conventions=conventions, where=where, rules=LOSSLESS)
        found = [at for at in adapter.positions if at is not None]
        if len(found) < len(columns):
            missing = columns[adapter.positions.index(None)].name
            raise damaged(where, f"the block lacks the column '{missing}' that its header names")
        read = sorted(set(found))
        # By index, since a dotted path may mean a nested field or a name that holds a dot.
        table = file.reader.read_all(column_indices=leaves) if leaves else None
        rows = file.metadata.num_rows
    arrays = [restored_maps(combined(table.column(read.index(at))), where) for at in found] if table is not None else []
    return pa.Table.from_arrays(adapter.adapt(arrays, rows), schema=target)
