"""Rows of a Parquet table added to tables of ORC and Parquet: by ``session.insert``, and by Spark's ``INSERT INTO``.

Both against Spark's own writer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow.dataset as ds

from benchmarks.command import Size, run_command
from benchmarks.figures import Figure
from benchmarks.lake import Lake, open_lake
from benchmarks.tables import write_parquet
from benchmarks.turns import Taken, take_turns

__all__ = ["measure"]

_GROUP = "inserts"
_FILES = 8
_AIM = 1.1
_THEIRS = "Spark's own"


def measure(size: Size, folder: Path) -> list[Figure]:
    """Each writer reads the same Parquet files and adds their rows; both append to a table of their own."""
    rows = size.of(6_000_000, 20_000)
    source = write_parquet(folder / "source", rows, _FILES)
    write_parquet(folder / "one", 1, 1)
    figures = []
    with open_lake(folder) as lake:
        for file_format in ("orc", "parquet"):
            name = f"made_{file_format}"
            _create(lake, source, name, file_format, folder / name)
            writers: dict[str, Callable[[], int]] = {
                "session.insert": partial(_insert, lake, source, name),
                "INSERT INTO": partial(_insert_by_spark, lake, source, name),
                _THEIRS: _spark_writer(lake, source, folder / f"spark_{file_format}", file_format),
            }
            taken = take_turns(writers, size.of(5, 1))
            for writer in writers:
                if writer != _THEIRS:
                    figures += _compared(f"{rows} rows, {file_format}, {writer}", taken[writer], taken[_THEIRS])
        name = "made_orc"
        small: dict[str, Callable[[], int]] = {
            "session.insert": partial(_insert, lake, folder / "one", name),
            "INSERT INTO": partial(_insert_by_spark, lake, folder / "one", name),
        }
        for writer, one in take_turns(small, size.of(20, 1)).items():
            what = f"one row, embedded metastore, {writer}"
            figures.append(Figure(_GROUP, what, 1000 * median(one.seconds), "ms", 150))
    return figures


def _compared(what: str, ours: Taken[int], theirs: Taken[int]) -> list[Figure]:
    figures = []
    for unit, mine, other in (("CPU", ours.cpu, theirs.cpu), ("time", ours.seconds, theirs.seconds)):
        ratio = median(one / max(its, 0.01) for one, its in zip(mine, other, strict=True))
        note = f"{median(mine):.1f} s against {median(other):.1f} s"
        figures.append(Figure(_GROUP, f"{what}: of Spark's, {unit}", ratio, "x", _AIM, note))
    return figures


def _create(lake: Lake, source: Path, name: str, file_format: str, folder: Path) -> None:
    """An empty table with the columns of the source."""
    lake.session.spark.read.parquet(str(source)).limit(0).write.format(file_format).save(str(folder))
    columns = ", ".join(
        f"{one.name} {one.dataType.simpleString()}" for one in lake.session.spark.read.parquet(str(source)).schema
    )
    lake.session.sql("CREATE SCHEMA IF NOT EXISTS hive.bench").collect()
    lake.session.sql(f"CREATE TABLE hive.bench.{name} ({columns}) USING {file_format} LOCATION '{folder}'").collect()


def _insert(lake: Lake, source: Path, name: str) -> int:
    return lake.session.insert(f"hive.bench.{name}", ds.dataset(source).scanner().to_reader())


def _insert_by_spark(lake: Lake, source: Path, name: str) -> int:
    lake.session.sql(f"INSERT INTO hive.bench.{name} SELECT * FROM parquet.`{source}`").collect()
    return 0


def _spark_writer(lake: Lake, source: Path, target: Path, file_format: str) -> Callable[[], int]:
    def write() -> int:
        lake.session.spark.read.parquet(str(source)).write.mode("append").format(file_format).save(str(target))
        return 0

    return write


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
