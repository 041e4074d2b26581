"""The keys of a delete block as an Arrow table. Executor side."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_LOG_BLOCK
from connectors.hudi.log.block import LogBlock, damaged
from connectors.hudi.log.kryo_deletes import read_kryo_deletes
from connectors.hudi.log.ordering_values import ARRAY, AvroCursor, OrderingValue, read_branch
from connectors.hudi.log.positions import POSITION, positions_column
from connectors.toolkit.avro.records import AvroRecords, frame_records, read_avro_table
from connectors.toolkit.avro.schema import AvroRecordSchema, Json

__all__ = ["COMMIT_TIME_DELETE", "ORDERING", "PARTITION_PATH", "RECORD_KEY", "read_delete_block"]

RECORD_KEY = "record_key"
PARTITION_PATH = "partition_path"
ORDERING = "ordering"
COMMIT_TIME_DELETE = "commit_time_delete"

AVRO_VERSION = 3
KRYO_VERSIONS = (1, 2)
_HEAD = struct.Struct(">ii")
_INT_BRANCH = 2
_DELETES = "deletes"
_TEXT: Json = ["null", "string"]


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
            return _read_uniform(datum, shape)
        except ValueError:
            # Other rows have values of other types, or the data is damaged: row by row it will show.
            pass
    return _table(_read_one_by_one(datum), where)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The types of a delete's ordering values: branches of the union; several for several ordering fields."""

    branches: tuple[int, ...]
    is_array: bool


@dataclass(frozen=True, slots=True)
class _Delete:
    key: str | None
    partition: str | None
    shape: _Shape
    values: tuple[OrderingValue, ...]

    @property
    def is_commit_time(self) -> bool:
        branches = self.shape.branches
        return not self.shape.is_array and (branches == (0,) or (branches == (_INT_BRANCH,) and self.values == (0,)))


def _read_uniform(datum: bytes, shape: _Shape) -> pa.Table:
    """Reads the deletes in columns, given that all have values of the same types.

    The numbers of the branches are read as columns of their own. A row is read right when those before it were, and
    have the branches expected; so all were, if all have.

    Raises:
        ValueError: They have not.
    """
    uniform = _uniform(shape)
    # An empty list behind the list shows that the list ends where the data does.
    records = AvroRecords(uniform.schema, frame_records([datum, b"\0"]), 2)
    table = read_avro_table(records, uniform.target)
    rows = pa.RecordBatch.from_struct_array(pc.list_flatten(table.column(_DELETES).combine_chunks()))
    for name, number in uniform.expected.items():
        if not pc.all(pc.equal(rows.column(name), number)).as_py():
            raise ValueError("ordering values of several types")
    return _uniform_table(rows, shape)


@dataclass(frozen=True, slots=True)
class _Uniform:
    """A list of deletes of one shape: its schema, the table it is read as, and the numbers of its branches."""

    schema: AvroRecordSchema
    target: pa.Schema
    expected: Mapping[str, pa.Scalar]


@lru_cache(maxsize=16)
def _uniform(shape: _Shape) -> _Uniform:
    expected: dict[str, int] = {"branch": ARRAY if shape.is_array else shape.branches[0]}
    if shape.is_array:
        # ArrayWrapper's one field is a union of null and an array.
        expected |= {"present": 1, "count": len(shape.branches)}
    fields: list[tuple[str, Json, pa.DataType]] = [("key", _TEXT, pa.string()), ("partition", _TEXT, pa.string())]
    fields += [(name, "long", pa.int64()) for name in expected]
    for at, number in enumerate(shape.branches):
        branch = read_branch(number)
        if shape.is_array:
            expected[f"branch{at}"] = number
            fields.append((f"branch{at}", "long", pa.int64()))
        if number:
            fields.append((f"value{at}", branch.avro, branch.arrow))
    if shape.is_array:
        expected["end"] = 0
        fields.append(("end", "long", pa.int64()))
    record: Json = {"type": "record", "name": "delete", "fields": [{"name": n, "type": t} for n, t, _ in fields]}
    deletes: Json = {"name": _DELETES, "type": {"type": "array", "items": record}}
    schema = AvroRecordSchema(json.dumps({"type": "record", "name": "list", "fields": [deletes]}))
    struct_type = pa.struct([pa.field(name, arrow) for name, _, arrow in fields])
    return _Uniform(
        schema,
        pa.schema([(_DELETES, pa.list_(pa.field("element", struct_type)))]),
        # Of a known type: to guess the type of a number takes far longer than to compare a block's.
        {name: pa.scalar(number, pa.int64()) for name, number in expected.items()},
    )


def _uniform_table(rows: pa.RecordBatch, shape: _Shape) -> pa.Table:
    count = rows.num_rows
    values = [rows.column(f"value{at}") if number else pa.nulls(count) for at, number in enumerate(shape.branches)]
    if shape.is_array:
        ordering = pa.StructArray.from_arrays(values, names=[str(at) for at in range(len(values))])
        commit_time = pa.repeat(False, count)
    elif shape.branches == (0,):
        ordering, commit_time = values[0], pa.repeat(True, count)
    elif shape.branches == (_INT_BRANCH,):
        commit_time = pc.equal(values[0], 0)
        ordering = pc.if_else(commit_time, pa.scalar(None, pa.int32()), values[0])
        ordering = pa.nulls(count) if ordering.null_count == count else ordering
    else:
        ordering, commit_time = values[0], pa.repeat(False, count)
    return pa.table(
        {
            RECORD_KEY: rows.column("key"),
            PARTITION_PATH: rows.column("partition"),
            ORDERING: ordering,
            COMMIT_TIME_DELETE: commit_time,
        }
    )


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
        return _Delete(key, partition, _Shape((branch,), False), (cursor.value(branch),))
    branches: list[int] = []
    values: list[OrderingValue] = []
    if _choice(cursor):
        while (count := cursor.long()) != 0:
            if not 0 < count <= len(cursor.data):
                raise ValueError(f"{count} ordering fields")
            for _ in range(count):
                branches.append(cursor.long())
                values.append(cursor.value(branches[-1]))
    return _Delete(key, partition, _Shape(tuple(branches), True), tuple(values))


def _read_kryo(data: bytes, version: int, where: str) -> list[_Delete]:
    try:
        return [
            _Delete(key, partition, _Shape((branch,), False), (value,))
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
