"""Generated transactional tables, and the same rows as plain ORC."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import orc

from benchmarks.data.tables import numbers
from benchmarks.harness.lake import Lake
from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from catalog.metastore.types import hive_type_text
from tests.connectors.hive.acid.writer import (
    base_name,
    bucket_file,
    bucket_property,
    delete_delta_name,
    delta_name,
    write_arrow_deletes,
    write_arrow_inserts,
)

__all__ = ["AcidShape", "create_acid_table", "write_acid", "write_deletes"]

_ORC = "org.apache.hadoop.hive.ql.io.orc."
_BASE = 10


@dataclass(frozen=True, slots=True)
class AcidShape:
    """How a transactional table is laid out.

    Attributes:
        rows: Inserted, in all.
        buckets: Files of the base, and of each delta.
        deltas: Inserts after the base; together they have a fifth of the rows.
        delete_deltas: Deletes after them; together they delete ``deleted`` of all rows.
        deleted: Part of the rows.
    """

    rows: int
    buckets: int = 4
    deltas: int = 4
    delete_deltas: int = 2
    deleted: float = 0.1


def write_acid(folder: Path, plain: Path, shape: AcidShape, compression: str = "zlib") -> int:
    """A transactional table of ``numbers``, and the rows that are left of it as one plain ORC file for each bucket.

    Args:
        folder: Of the transactional table.
        plain: Of the other.
        shape: Of the table.
        compression: Of both.

    Returns:
        Number of rows that are left.
    """
    plain.mkdir(parents=True)
    left = 0
    for bucket in range(shape.buckets):
        first, last = (shape.rows * (bucket + place) // shape.buckets for place in (0, 1))
        rows = numbers(last - first, first)
        random = np.random.default_rng(bucket)
        # The delete that takes a row; -1 for those that stay.
        taker = random.integers(0, shape.delete_deltas, rows.num_rows)
        taker[random.random(rows.num_rows) >= shape.deleted] = -1
        _write_bucket(folder, bucket, rows=rows, taker=taker, shape=shape, compression=compression)
        kept = rows.filter(pa.array(taker < 0))
        orc.write_table(kept, str(plain / f"{bucket:06}_0"), compression=compression)
        left += kept.num_rows
    return left


def write_deletes(folder: Path, name: str, bucket: int, rows: dict[int, np.ndarray], write_id: int) -> None:
    """One file of deletions of rows by ascending write id, all of the first statement; row ids ascend."""
    counts = [row_ids.size for row_ids in rows.values()]
    keys = (
        np.repeat(np.fromiter(rows, np.int64), counts),
        np.full(sum(counts), bucket_property(bucket), np.int64),
        np.concatenate(list(rows.values())).astype(np.int64),
    )
    write_arrow_deletes(folder / name / bucket_file(bucket, 0), keys, write_id, numbers(0).schema)


def create_acid_table(lake: Lake, name: str, folder: Path) -> None:
    """Makes a folder the transactional table ``hive.bench.<name>``, of which all write ids are committed."""
    writes = lake.hive.metastore.writes
    if lake.hive.metastore.reads.get_database("bench") is None:
        writes.create_database(Database("bench"))
    columns = tuple(FieldSchema(field.name, hive_type_text(field.type)) for field in numbers(0).schema)
    serde = SerDeInfo(_ORC + "OrcSerde", Parameters.of({}))
    storage = StorageDescriptor(
        columns, folder.as_uri(), _ORC + "OrcInputFormat", _ORC + "OrcOutputFormat", serde=serde
    )
    parameters = Parameters.of({"transactional": "true", "transactional_properties": "default"})
    writes.create_table(
        Table("bench", name, storage=storage, partition_keys=(), parameters=parameters, table_type="MANAGED_TABLE")
    )


def _write_bucket(
    folder: Path, bucket: int, rows: pa.Table, taker: np.ndarray, shape: AcidShape, compression: str
) -> None:
    own = bucket_property(bucket)
    in_base = rows.num_rows * 4 // 5
    parts = {_BASE: slice(0, in_base)}
    for number in range(shape.deltas):
        first, last = (in_base + (rows.num_rows - in_base) * (number + place) // shape.deltas for place in (0, 1))
        parts[_BASE + 1 + number] = slice(first, last)
    for write_id, part in parts.items():
        name = base_name(_BASE) if write_id == _BASE else delta_name(write_id, write_id, 0)
        count = part.stop - part.start
        path = folder / name / bucket_file(bucket, None if write_id == _BASE else 0)
        write_arrow_inserts(path, rows.slice(part.start, count), write_id, own, compression=compression)
    for number in range(shape.delete_deltas):
        write_id = _BASE + 1 + shape.deltas + number
        chosen = {one: np.flatnonzero(taker[part] == number) for one, part in parts.items()}
        write_deletes(folder, delete_delta_name(write_id, write_id, 0), bucket, chosen, write_id)
