"""A transactional table, with a base, deltas and a tenth deleted, against its rows as plain ORC in Spark's reader."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.data.acid_tables import AcidShape, create_acid_table, write_acid
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.processes import peak_of_python_tasks
from benchmarks.harness.timing import alternate

_GROUP = "acid_scan"
_SUM_QUERY = "SELECT sum(quantity), sum(price), sum(weight) FROM {table}"
_COUNT_QUERY = "SELECT count(*) FROM {table}"
_AIM = 1.5


def measure(size: Size, folder: Path) -> list[Figure]:
    """Both tables take turns; answers are compared first."""
    shape = AcidShape(size.of(5_600_000, 20_000))
    left = write_acid(folder / "acid", folder / "plain", shape)
    figures = []
    with open_lake(folder) as lake:
        create_acid_table(lake, "acid", folder / "acid")
        lake.session.spark.read.orc(str(folder / "plain")).createOrReplaceTempView("plain")
        name = f"{left:,} rows left of {shape.rows:,}"
        for what, query, aim in (("3 of 10 columns summed", _SUM_QUERY, _AIM), ("count(*)", _COUNT_QUERY, None)):
            contenders = {
                "spark": partial(lake.collect, query.format(table="plain")),
                "acid": partial(lake.collect, query.format(table="hive.bench.acid")),
            }
            answers = {key: [f"{value:.6g}" for value in run()[0]] for key, run in contenders.items()}
            assert answers["acid"] == answers["spark"], answers
            timings = alternate(contenders, size.of(7, 1), size.of(3, 1))
            note = f"medians {timings.median('acid'):.2f} s, Spark {timings.median('spark'):.2f} s"
            ratio = timings.ratio("acid", "spark")
            figures.append(
                Figure(_GROUP, f"{name}, {what}: of Spark's own", value=ratio, unit="x", at_most=aim, note=note)
            )
        figures += _memory(lake)
    return figures


def _memory(lake: Lake) -> list[Figure]:
    peak = peak_of_python_tasks()
    return [] if peak is None else [Figure(_GROUP, "peak memory of a task's Python", peak, "MB")]


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
