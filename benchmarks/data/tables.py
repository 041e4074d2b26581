"""Generated tables: plain Parquet folders, and the same as a copy-on-write table of Hudi."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["FIRST_INSTANT", "copy_file", "numbers", "parts", "write_hudi", "write_parquet"]

FIRST_INSTANT = "20240101000000000"
"""The one write of ``write_hudi``."""
_META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path")
_AVRO = {"int64": "long", "int32": "int", "double": "double", "string": "string"}


def numbers(rows: int, first: int = 0) -> pa.Table:
    """Ten columns: four of whole numbers, four of fractions, two of text; the same for the same arguments."""
    random = np.random.default_rng(first + 1)
    columns: dict[str, pa.Array] = {"id": pa.array(np.arange(first, first + rows, dtype=np.int64))}
    for name, limit in (("quantity", 100), ("customer", 50_000), ("product", 1_000)):
        columns[name] = pa.array(random.integers(0, limit, rows, dtype=np.int64))
    for name in ("price", "discount", "tax", "weight"):
        columns[name] = pa.array(random.random(rows) * 1000)
    codes = random.integers(0, 200, rows, dtype=np.int32)
    for name in ("country", "remark"):
        texts = pa.array([f"{name} {number}" for number in range(200)])
        columns[name] = pa.DictionaryArray.from_arrays(codes, texts).cast(pa.string())
    return pa.table(columns)


def parts(rows: int, files: int) -> Iterator[pa.Table]:
    """The rows of each file of a table of ``numbers``."""
    for number in range(files):
        first, last = rows * number // files, rows * (number + 1) // files
        yield numbers(last - first, first)


def write_parquet(folder: Path, rows: int, files: int) -> Path:
    """A table of ``numbers`` as Parquet files."""
    folder.mkdir(parents=True)
    for number, part in enumerate(parts(rows, files)):
        pq.write_table(part, folder / f"part-{number:05}.parquet")
    return folder


def copy_file(source: Path, targets: Iterator[Path]) -> None:
    """The same bytes at many paths."""
    content = source.read_bytes()
    for target in targets:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def write_hudi(folder: Path, rows: int, files: int) -> Path:
    """A table of ``numbers`` as a copy-on-write table of version 6 with one commit, not partitioned."""
    timeline = folder / ".hoodie"
    timeline.mkdir(parents=True)
    properties = {
        "hoodie.table.name": folder.name,
        "hoodie.table.type": "COPY_ON_WRITE",
        "hoodie.table.version": "6",
        "hoodie.timeline.layout.version": "1",
        "hoodie.table.keygenerator.type": "NON_PARTITION",
        "hoodie.populate.meta.fields": "true",
    }
    (timeline / "hoodie.properties").write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    (folder / ".hoodie_partition_metadata").write_text(f"commitTime={FIRST_INSTANT}\npartitionDepth=0\n")
    stats = [_base_file(folder, number, part) for number, part in enumerate(parts(rows, files))]
    fields = [
        {"name": field.name, "type": ["null", _AVRO[str(field.type)]], "default": None} for field in numbers(0).schema
    ]
    commit = {
        "partitionToWriteStats": {"": stats},
        "compacted": False,
        "extraMetadata": {"schema": json.dumps({"type": "record", "name": "t_record", "fields": fields})},
        "operationType": "INSERT",
    }
    for state in ("commit.requested", "inflight"):
        (timeline / f"{FIRST_INSTANT}.{state}").touch()
    (timeline / f"{FIRST_INSTANT}.commit").write_text(json.dumps(commit))
    return folder


def _base_file(folder: Path, number: int, rows: pa.Table) -> dict[str, object]:
    group = f"{UUID(int=number)}-0"
    path = folder / f"{group}_0-1-1_{FIRST_INSTANT}.parquet"
    keys = pa.array([f"{group}-{row:09}" for row in range(rows.num_rows)], pa.string())
    meta: dict[str, pa.Array] = {
        name: pa.array([value], pa.string()).take(pa.array(np.zeros(rows.num_rows, np.int64)))
        for name, value in zip((*_META, "_hoodie_file_name"), (FIRST_INSTANT, "0", "", "", path.name), strict=True)
    }
    meta["_hoodie_commit_seqno"] = meta["_hoodie_record_key"] = keys
    pq.write_table(pa.table({**meta, **dict(zip(rows.column_names, rows.columns, strict=True))}), path)
    return {
        "fileId": group,
        "path": path.name,
        "prevCommit": "null",
        "numWrites": rows.num_rows,
        "partitionPath": "",
        "fileSizeInBytes": path.stat().st_size,
    }
