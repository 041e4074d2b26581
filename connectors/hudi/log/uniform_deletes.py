"""Deletes whose ordering values are all of the same types, read in columns. Executor side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hudi.log.ordering_values import ARRAY, read_branch
from connectors.toolkit.avro.records import AvroRecords, frame_records, read_avro_table
from connectors.toolkit.avro.schema import AvroRecordSchema, Json

__all__ = [
    "COMMIT_TIME_DELETE",
    "INT_BRANCH",
    "ORDERING",
    "PARTITION_PATH",
    "RECORD_KEY",
    "DeleteShape",
    "read_uniform_deletes",
]

RECORD_KEY = "record_key"
PARTITION_PATH = "partition_path"
ORDERING = "ordering"
COMMIT_TIME_DELETE = "commit_time_delete"

INT_BRANCH = 2
"""The union's branch of an int, whose 0 stands for no ordering value."""

_DELETES = "deletes"
_TEXT: Json = ["null", "string"]


@dataclass(frozen=True, slots=True)
class DeleteShape:
    """The types of a delete's ordering values: branches of the union; several for several ordering fields."""

    branches: tuple[int, ...]
    is_array: bool


def read_uniform_deletes(datum: bytes, shape: DeleteShape) -> pa.Table:
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
def _uniform(shape: DeleteShape) -> _Uniform:
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


def _uniform_table(rows: pa.RecordBatch, shape: DeleteShape) -> pa.Table:
    count = rows.num_rows
    values = [rows.column(f"value{at}") if number else pa.nulls(count) for at, number in enumerate(shape.branches)]
    if shape.is_array:
        ordering = pa.StructArray.from_arrays(values, names=[str(at) for at in range(len(values))])
        commit_time = pa.repeat(False, count)
    elif shape.branches == (0,):
        ordering, commit_time = values[0], pa.repeat(True, count)
    elif shape.branches == (INT_BRANCH,):
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
