"""Rows of 2,000 partitions in one insert: time against Spark's own partitioned writer, and memory that tasks hold.

Rows come in no order of their partitions. Spark deals them out by partition to tasks, or not.
"""

from __future__ import annotations

import multiprocessing
import time
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lakeport
from benchmarks.data.tables import numbers
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.processes import forget_peaks, peak_of_python_tasks
from benchmarks.harness.turns import take_turns

__all__ = ["measure"]

_GROUP = "many_partitions"
_BATCH = 100_000
_MOST_MEGABYTES = 512


def measure(size: Size, folder: Path) -> list[Figure]:
    """The same rows by each writer; the memory of ``session.insert`` is that of a process of its own."""
    rows, partitions = size.of(4_000_000, 20_000), size.of(2_000, 20)
    source = _write_source(folder / "source", rows, partitions)
    what = f"{rows:,} rows of {partitions:,} partitions"
    figures = []
    with open_lake(folder, {"spark.ui.enabled": "false"}) as lake:
        lake.session.sql("CREATE SCHEMA IF NOT EXISTS hive.bench").collect()
        for name in ("alone", "shared"):
            _create(lake, source, name, folder / name)
        writers = {
            "ours": partial(_insert_by_spark, lake, source),
            "Spark's own": partial(_write_by_spark, lake, source, folder / "theirs"),
        }
        taken = take_turns(writers, size.of(2, 1))
        for unit in ("cpu", "seconds"):
            mine, other = (getattr(taken[one], unit) for one in writers)
            ratio = median(a / max(b, 0.01) for a, b in zip(mine, other, strict=True))
            note = f"{median(mine):.1f} s against {median(other):.1f} s"
            figures.append(Figure(_GROUP, f"{what}, INSERT INTO: of Spark's, {unit}", ratio, "x", note=note))
        forget_peaks()
        _insert_by_spark(lake, source)
        held = peak_of_python_tasks()
    if held is not None:
        figures.append(Figure(_GROUP, f"{what}, INSERT INTO: memory of a task's Python", held, "MB", _MOST_MEGABYTES))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, megabytes, before = pool.apply(_insert_alone, (folder, source))
    note = f"{before:.0f} MB before the insert"
    figures.append(Figure(_GROUP, f"{what}, session.insert", seconds, "s"))
    figures.append(Figure(_GROUP, f"{what}, session.insert: memory", megabytes, "MB", _MOST_MEGABYTES, note))
    return figures


def _write_source(folder: Path, rows: int, partitions: int) -> Path:
    folder.mkdir()
    random = np.random.default_rng(0)
    for first in range(0, rows, _BATCH):
        part = numbers(min(_BATCH, rows - first), first)
        keys = pa.array(random.integers(0, partitions, part.num_rows).astype(np.int32))
        pq.write_table(part.append_column("ds", keys), folder / f"part-{first:09}.parquet")
    return folder


def _create(lake: Lake, source: Path, name: str, folder: Path) -> None:
    schema = lake.session.spark.read.parquet(str(source)).schema
    columns = ", ".join(f"{one.name} {one.dataType.simpleString()}" for one in schema)
    folder.mkdir()
    lake.session.sql(
        f"CREATE TABLE hive.bench.{name} ({columns}) USING orc PARTITIONED BY (ds) LOCATION '{folder}'"
    ).collect()


def _insert_by_spark(lake: Lake, source: Path) -> int:
    lake.session.sql(f"INSERT INTO hive.bench.shared SELECT * FROM parquet.`{source}`").collect()
    return 0


def _write_by_spark(lake: Lake, source: Path, target: Path) -> int:
    written = lake.session.spark.read.parquet(str(source)).write.mode("append").partitionBy("ds")
    written.option("compression", "zlib").orc(str(target))
    return 0


def _insert_alone(folder: Path, source: Path) -> tuple[float, float, float]:
    """In a process of its own: seconds, the most memory, and the memory before."""
    catalogs = folder / "catalogs"
    catalogs.mkdir()
    (catalogs / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'metastore.db'}\n"
    )
    files = sorted(source.iterdir())
    schema = pq.read_schema(files[0])

    def batches() -> object:
        for path in files:
            yield from pq.read_table(path).to_batches()

    with lakeport.connect(catalogs=catalogs) as session:
        before = _peak_megabytes()
        started = time.perf_counter()
        session.insert("hive.bench.alone", pa.RecordBatchReader.from_batches(schema, batches()))
        return time.perf_counter() - started, _peak_megabytes(), before


def _peak_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return float(line.split()[1]) / 1024


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
