"""The keys of a delete block as an Arrow table. Executor side."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_LOG_BLOCK
from connectors.hudi.log.block import LogBlock, damaged
from connectors.hudi.log.kryo_deletes import read_kryo_deletes
from connectors.hudi.log.ordering_values import ARRAY, AvroCursor, OrderingValue, read_branch
from connectors.hudi.log.positions import POSITION, positions_column
from connectors.hudi.log.uniform_deletes import (
    COMMIT_TIME_DELETE,
    INT_BRANCH,
    ORDERING,
    PARTITION_PATH,
    RECORD_KEY,
    DeleteShape,
    read_uniform_deletes,
)

__all__ = ["COMMIT_TIME_DELETE", "ORDERING", "PARTITION_PATH", "RECORD_KEY", "read_delete_block"]

AVRO_VERSION = 3
KRYO_VERSIONS = (1, 2)
_HEAD = struct.Struct(">ii")


def read_delete_block(block: LogBlock, content: pa.Buffer, *, positions: bool = False) -> pa.Table:
    """Decodes a block.

    Args:
        block: A delete block.
        content: Its content.
        positions: Add ``data_block.POSITION``, as ``read_data_block`` does.

    Returns:
        The deletes in the block's order:

        - ``record_key``, ``partition_path``: string.
        - ``ordering``: the ordering value, of the type of the block's values (boolean, int32, int64, float, double,
          binary, string, date32, decimal128(30, 15), time64[us], timestamp[us, UTC]; a struct of such with fields
          ``0``, ``1`` ... for several ordering fields; the null type where no row has one). NULL where
          ``commit_time_delete``.
        - ``commit_time_delete``: boolean, never NULL: the delete has no ordering value, or the default one, the
          int 0 (OrderingValues.isDefault), and wins over everything that was there before.

    Raises:
        CorruptFileError: The content is no list of deletes.
        NotSupportedError: Ordering values of several types, or a block version that is not understood.
    """
    where = block.where
    try:
        version, data = _split_head(content, where)
        table = _read(data, where) if version == AVRO_VERSION else _table(_read_kryo(data, version, where), where)
    except ValueError as error:
        raise damaged(where, f"the deletes of the block are damaged: {error}") from error
    return table.append_column(POSITION, positions_column(block, len(table))) if positions else table


def _split_head(content: pa.Buffer, where: str) -> tuple[int, bytes]:
    """The version of the block, and its data."""
    if content.size < _HEAD.size:
        raise ValueError(f"{content.size} bytes, expected 8 at least")
    version, length = _HEAD.unpack(content.slice(0, _HEAD.size))
    if version not in (*KRYO_VERSIONS, AVRO_VERSION):
        raise NotSupportedError(
            f"{where}: a delete block of version {version}, expected 1, 2 or 3; compact the table with Hudi",
            HUDI_UNSUPPORTED_LOG_BLOCK,
        )
    if length != content.size - _HEAD.size:
        raise ValueError(f"{length} bytes of data in a block of {content.size}")
    return version, content.slice(_HEAD.size).to_pybytes()


def _read(datum: bytes, where: str) -> pa.Table:
    """The datum of a HoodieDeleteRecordList: an array of records."""
    cursor = AvroCursor(datum)
    if cursor.long() > 0:
        shape = _read_delete(cursor).shape
        try:
            return read_uniform_deletes(datum, shape)
        except ValueError:
            # Other rows have values of other types, or the data is damaged: row by row it will show.
            pass
    return _table(_read_one_by_one(datum), where)


@dataclass(frozen=True, slots=True)
class _Delete:
    key: str | None
    partition: str | None
    shape: DeleteShape
    values: tuple[OrderingValue, ...]

    @property
    def is_commit_time(self) -> bool:
        branches = self.shape.branches
        return not self.shape.is_array and (branches == (0,) or (branches == (INT_BRANCH,) and self.values == (0,)))


def _read_one_by_one(datum: bytes) -> list[_Delete]:
    cursor = AvroCursor(datum)
    deletes: list[_Delete] = []
    while (count := cursor.long()) != 0:
        if count < 0:
            # A negative count is followed by the bytes of that part of the array.
            count = -count
            cursor.long()
        if count > len(datum):
            raise ValueError(f"{count} deletes in {len(datum)} bytes")
        deletes += [_read_delete(cursor) for _ in range(count)]
    if cursor.at != len(datum):
        raise ValueError(f"{len(datum) - cursor.at} bytes lie behind the last delete")
    return deletes


def _read_delete(cursor: AvroCursor) -> _Delete:
    key, partition = _read_text(cursor), _read_text(cursor)
    branch = cursor.long()
    if branch != ARRAY:
        return _Delete(key, partition, DeleteShape((branch,), False), (cursor.value(branch),))
    branches: list[int] = []
    values: list[OrderingValue] = []
    if _choice(cursor):
        while (count := cursor.long()) != 0:
            if not 0 < count <= len(cursor.data):
                raise ValueError(f"{count} ordering fields")
            for _ in range(count):
                branches.append(cursor.long())
                values.append(cursor.value(branches[-1]))
    return _Delete(key, partition, DeleteShape(tuple(branches), True), tuple(values))


def _read_kryo(data: bytes, version: int, where: str) -> list[_Delete]:
    try:
        return [
            _Delete(key, partition, DeleteShape((branch,), False), (value,))
            for key, partition, branch, value in read_kryo_deletes(data, version)
        ]
    except NotImplementedError as error:
        raise NotSupportedError(
            f"{where}: ordering values of the Java class {error} in deletes of version {version}, which are not "
            "understood; compact the table with the Hudi that wrote it",
            HUDI_UNSUPPORTED_LOG_BLOCK,
        ) from error


def _read_text(cursor: AvroCursor) -> str | None:
    return cursor.byte_string().decode("utf-8") if _choice(cursor) else None


def _choice(cursor: AvroCursor) -> bool:
    """Which of null and the other type a union has."""
    choice = cursor.long()
    if choice not in (0, 1):
        raise ValueError(f"branch {choice} of a union of two types")
    return choice == 1


def _table(deletes: list[_Delete], where: str) -> pa.Table:
    commit_time = [delete.is_commit_time for delete in deletes]
    others = [delete for delete in deletes if not delete.is_commit_time]
    shapes = {(len(delete.values), delete.shape.is_array) for delete in others}
    if len(shapes) > 1:
        raise _mixed(where)
    width, is_array = next(iter(shapes), (1, False))
    columns = [_values(deletes, at, where) for at in range(width)]
    if is_array:
        ordering = pa.StructArray.from_arrays(
            columns, names=[str(at) for at in range(width)], mask=pa.array(commit_time, pa.bool_())
        )
    else:
        ordering = columns[0]
    return pa.table(
        {
            RECORD_KEY: pa.array([delete.key for delete in deletes], pa.string()),
            PARTITION_PATH: pa.array([delete.partition for delete in deletes], pa.string()),
            ORDERING: ordering,
            COMMIT_TIME_DELETE: pa.array(commit_time, pa.bool_()),
        }
    )


def _values(deletes: list[_Delete], at: int, where: str) -> pa.Array:
    used = {delete.shape.branches[at] for delete in deletes if not delete.is_commit_time} - {0}
    if len(used) > 1:
        raise _mixed(where)
    values = [None if delete.is_commit_time else delete.values[at] for delete in deletes]
    arrow = read_branch(used.pop()).arrow if used else pa.null()
    if pa.types.is_temporal(arrow):
        return pa.array(values, pa.int32() if arrow.bit_width == 32 else pa.int64()).view(arrow)
    return pa.array(values, arrow)


def _mixed(where: str) -> NotSupportedError:
    return NotSupportedError(
        f"{where}: the deletes of one block have ordering values of several types; compact the table with Hudi",
        HUDI_UNSUPPORTED_LOG_BLOCK,
    )
