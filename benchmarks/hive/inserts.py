"""6 M rows of TPC-H's lineitem added to tables of ORC and Parquet: by ``session.insert``, and by ``INSERT INTO``.

Both against Spark's own writer, by its default codec and, for ORC, by the codec of Hive, which is ours; and
``session.insert`` with statistics of columns against none. Then one row each, also by Spark into a table of its own.
``--folder`` keeps the rows for the next run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.dataset as ds

from benchmarks.data.lineitem import LineitemOptions
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.turns import Taken, take_turns

__all__ = ["measure"]

_GROUP = "inserts"
_AIM = 1.1
_SETTINGS = {"spark.ui.enabled": "false"}
_UNCOUNTED = "session.insert without statistics"
_CODECS = {"orc": ("zstd", "zlib"), "parquet": ("snappy",)}
"""Codecs by format: Spark's default one is the first."""


def measure(asked: LineitemOptions, size: Size, folder: Path) -> list[Figure]:
    """Each writer reads the same Parquet files and adds their rows; all append to a table of their own."""
    source = asked.make(size, folder)
    rows = ds.dataset(source).count_rows()
    figures = []
    with open_lake(folder, _SETTINGS) as lake:
        lake.session.sql("CREATE SCHEMA IF NOT EXISTS hive.bench").collect()
        for file_format, codecs in _CODECS.items():
            for codec in codecs:
                what = f"{rows:,} rows, {file_format} of {codec}"
                figures += _compare(lake, source, folder, (file_format, codec), asked.rounds or size.of(2, 1), what)
        figures += _one_row(lake, folder, size.of(30, 1))
    return figures


def _one_row(lake: Lake, folder: Path, rounds: int) -> list[Figure]:
    """The fastest round is what a machine without other work takes."""
    tables = {"hive.bench.small": folder / "small", "spark_catalog.default.small": folder / "s_small"}
    for name, place in tables.items():
        place.mkdir()
        lake.session.sql(f"CREATE TABLE {name} (id BIGINT) USING orc LOCATION '{place}'").collect()
    ours, theirs = (partial(_run, lake, f"INSERT INTO {name} VALUES (1)") for name in tables)
    one = pa.table({"id": [1]})
    by_arrow = partial(lake.session.insert, "hive.bench.small", one)
    taken = take_turns({"session.insert": by_arrow, "INSERT INTO": ours, "Spark's own": theirs}, rounds)
    figures = []
    for writer, found in taken.items():
        aim = None if writer == "Spark's own" else 150
        for which, seconds in (("fastest", min(found.seconds)), ("median", median(found.seconds))):
            what = f"one row, embedded metastore, {writer}: {which}"
            figures.append(Figure(_GROUP, what, 1000 * seconds, "ms", aim))
    return figures


def _run(lake: Lake, statement: str) -> int:
    lake.session.sql(statement).collect()
    return 0


def _compare(lake: Lake, source: Path, folder: Path, kind: tuple[str, str], rounds: int, what: str) -> list[Figure]:
    name = f"made_{kind[0]}_{kind[1]}"
    _create(lake, source, name, kind, folder / name)
    writers: dict[str, Callable[[], int]] = {
        "session.insert": partial(_insert, lake, source, name),
        "INSERT INTO": partial(_insert_by_spark, lake, source, name),
    }
    theirs = "Spark's own"
    contenders: dict[str, Callable[[], int]] = {
        **writers,
        _UNCOUNTED: partial(_insert_uncounted, lake, source, name),
        theirs: partial(_write_by_spark, lake, source, folder / f"s_{name}", kind),
    }
    taken = take_turns(contenders, rounds)
    figures = [figure for writer in writers for figure in _compared(f"{what}, {writer}", taken[writer], taken[theirs])]
    counted, uncounted = taken["session.insert"].cpu, taken[_UNCOUNTED].cpu
    ratio = median(one / max(other, 0.01) for one, other in zip(counted, uncounted, strict=True))
    note = f"{median(counted):.1f} s against {median(uncounted):.1f} s"
    return [*figures, Figure(_GROUP, f"{what}: with statistics of columns, of CPU without", ratio, "x", None, note)]


def _compared(what: str, ours: Taken[int], theirs: Taken[int]) -> list[Figure]:
    figures = []
    for unit, mine, other in (("CPU", ours.cpu, theirs.cpu), ("time", ours.seconds, theirs.seconds)):
        ratio = median(one / max(its, 0.01) for one, its in zip(mine, other, strict=True))
        note = f"{median(mine):.1f} s against {median(other):.1f} s"
        figures.append(Figure(_GROUP, f"{what}: of Spark's, {unit}", ratio, "x", _AIM, note))
    return figures


def _create(lake: Lake, source: Path, name: str, kind: tuple[str, str], folder: Path) -> None:
    """An empty table with the columns of the source."""
    columns = ", ".join(
        f"{one.name} {one.dataType.simpleString()}" for one in lake.session.spark.read.parquet(str(source)).schema
    )
    folder.mkdir()
    lake.session.sql(
        f"CREATE TABLE hive.bench.{name} ({columns}) USING {kind[0]} OPTIONS (compression '{kind[1]}') "
        f"LOCATION '{folder}'"
    ).collect()


def _insert(lake: Lake, source: Path, name: str) -> int:
    return lake.session.insert(f"hive.bench.{name}", ds.dataset(source).scanner().to_reader())


def _insert_uncounted(lake: Lake, source: Path, name: str) -> int:
    setting = "spark.lakeport.hive.collect_column_statistics_on_write"
    lake.session.spark.conf.set(setting, "false")
    try:
        return _insert(lake, source, name)
    finally:
        lake.session.spark.conf.unset(setting)


def _insert_by_spark(lake: Lake, source: Path, name: str) -> int:
    return _run(lake, f"INSERT INTO hive.bench.{name} SELECT * FROM parquet.`{source}`")


def _write_by_spark(lake: Lake, source: Path, target: Path, kind: tuple[str, str]) -> int:
    written = lake.session.spark.read.parquet(str(source)).write.mode("append")
    written.format(kind[0]).option("compression", kind[1]).save(str(target))
    return 0


if __name__ == "__main__":
    run_command(__doc__ or "", partial(measure, LineitemOptions.parse()), parents=[LineitemOptions.parser()])
