"""A merge-on-read table of Hudi with updates and deletes in its logs, and its rows as a copy-on-write table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.data.tables import FIRST_INSTANT, numbers, write_hudi
from connectors.hudi.schema.table_schema import META_COLUMNS
from tests.connectors.hudi.log.writer import data_block, delete_block, encoded_positions
from tests.connectors.hudi.writer import avro_schema, write_metadata

__all__ = ["MergedShape", "write_merged"]

_DELETED = 0.02


@dataclass(frozen=True, slots=True)
class MergedShape:
    """Sizes.

    Attributes:
        rows: Rows of the base files.
        files: File groups.
        updates: Writes that each update a part of the rows; one more write deletes a fiftieth.
        updated: Rows of the logs for each row of the base files; more than one where rows are updated again.
        positions: The logs tell the positions of their rows, as those of Hudi 1.x do, in a table of version 9; else
            the table is of version 6.
        recent: The last part of each base file that has all changes: the rows that were added last.
        group_rows: Rows of a row group of the base files; ``None`` is pyarrow's own.
    """

    rows: int
    files: int
    updates: int = 3
    updated: float = 0.2
    positions: bool = False
    recent: float = 1.0
    group_rows: int | None = None


def write_merged(merge_on_read: Path, copy_on_write: Path | None, shape: MergedShape) -> int:
    """Writes both tables, or the first alone. The ordering values of a key's rows are equal: the later one counts.

    Returns:
        How many rows are left.
    """
    write_hudi(merge_on_read, shape.rows, shape.files)
    timeline = _of_version_9(merge_on_read) if shape.positions else _of_version_6(merge_on_read)
    instants = [f"202401020000000{number:02}" for number in range(shape.updates + 1)]
    names: dict[str, list[str]] = {instant: [] for instant in instants}
    written: list[pa.Table] = []
    for path in sorted(merge_on_read.glob("*.parquet")):
        base = pq.read_table(path)
        if shape.group_rows is not None:
            pq.write_table(base, path, row_group_size=shape.group_rows)
        left = base
        for number, instant in enumerate(instants):
            # Since version 8 a log is named after its own write.
            named, version = (instant, 1) if shape.positions else (path.stem.rpartition("_")[2], number + 1)
            name = f".{path.name.partition('_')[0]}_{named}.log.{version}_0-1-{number + 1}"
            block, left = _change(base, left, instant, number, shape)
            (merge_on_read / name).write_bytes(block)
            names[instant].append(name)
        written.append(left)
    for instant, files in names.items():
        _complete(timeline, instant, files)
    if copy_on_write is not None:
        _write_left(copy_on_write, written)
    return sum(table.num_rows for table in written)


def _change(base: pa.Table, left: pa.Table, instant: str, number: int, shape: MergedShape) -> tuple[bytes, pa.Table]:
    """The block of a write to one file group, and the rows that are left after it."""
    random = np.random.default_rng(base.num_rows + number)
    if number == shape.updates:
        chosen = _chosen(random, base.num_rows, int(base.num_rows * _DELETED), shape)
        keys = base.column("_hoodie_record_key").take(pa.array(chosen))
        ordering = ("IntWrapper", {"value": 0})
        deletes = [{"recordKey": key, "partitionPath": "", "orderingVal": ordering} for key in keys.to_pylist()]
        kept = left.filter(pc.invert(pc.is_in(left["_hoodie_record_key"], keys)))
        return delete_block(instant, deletes, **_positions(chosen, shape)), kept
    count = int(base.num_rows * shape.updated / shape.updates)
    chosen = _chosen(random, base.num_rows, count, shape)
    rows = base.take(pa.array(chosen))
    fresh = numbers(count, int(instant[-9:]) + base.column("id")[0].as_py())
    for name in fresh.column_names:
        if name != "id":
            rows = rows.set_column(rows.column_names.index(name), name, fresh.column(name))
    schema = json.loads(avro_schema(rows.schema))
    kept = left.filter(pc.invert(pc.is_in(left["_hoodie_record_key"], rows["_hoodie_record_key"])))
    return data_block(instant, schema, rows.to_pylist(), **_positions(chosen, shape)), pa.concat_tables([kept, rows])


def _chosen(random: np.random.Generator, rows: int, count: int, shape: MergedShape) -> np.ndarray:
    """Rows of a base file that change, ascending."""
    first = int(rows * (1 - shape.recent))
    return first + np.sort(random.choice(rows - first, count, replace=False))


def _complete(timeline: Path, instant: str, files: Sequence[str]) -> None:
    stats = [{"fileId": name[1:].partition("_")[0], "path": name, "partitionPath": ""} for name in files]
    schema = avro_schema(numbers(0).schema)
    commit = {
        "partitionToWriteStats": {"": stats},
        "extraMetadata": {"schema": schema},
        "operationType": "UPSERT",
    }
    if timeline.name == "timeline":
        write_metadata(timeline / f"{instant}_{instant}.deltacommit", commit)
    else:
        (timeline / f"{instant}.deltacommit").write_text(json.dumps(commit))


def _positions(chosen: np.ndarray, shape: MergedShape) -> dict[str, str]:
    if not shape.positions:
        return {}
    positions = {"RECORD_POSITIONS": encoded_positions(chosen)}
    return {**positions, "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS": FIRST_INSTANT}


def _of_version_6(table: Path) -> Path:
    """Makes a copy-on-write table one of merge on read; returns its timeline."""
    properties = table / ".hoodie" / "hoodie.properties"
    text = properties.read_text().replace("COPY_ON_WRITE", "MERGE_ON_READ")
    payload = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
    properties.write_text(f"{text}hoodie.table.precombine.field=id\nhoodie.compaction.payload.class={payload}\n")
    return properties.parent


def _of_version_9(table: Path) -> Path:
    properties = table / ".hoodie" / "hoodie.properties"
    lines = dict(line.split("=", 1) for line in properties.read_text().splitlines())
    lines |= {
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.version": "9",
        "hoodie.timeline.layout.version": "2",
        "hoodie.table.ordering.fields": "id",
        "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
    }
    properties.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    timeline = properties.parent / "timeline"
    timeline.mkdir()
    for path in properties.parent.glob(f"{FIRST_INSTANT}.*"):
        if path.suffix == ".commit":
            write_metadata(timeline / f"{FIRST_INSTANT}_{FIRST_INSTANT}.commit", json.loads(path.read_text()))
        path.unlink()
    return timeline


def _write_left(copy_on_write: Path, written: Sequence[pa.Table]) -> None:
    """The same file groups with the rows that are left, as if each had been written again."""
    write_hudi(copy_on_write, len(written), len(written))
    for path, rows in zip(sorted(copy_on_write.glob("*.parquet")), written, strict=True):
        pq.write_table(rows.select([*META_COLUMNS, *numbers(0).column_names]), path)
