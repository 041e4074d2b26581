"""What Python tasks hand to Spark, as columns and row by row, and what they filter and sum themselves, in one run.

Each query runs on the same Parquet file by Spark's own reader, by tasks that hand over columns, and by tasks that hand
over rows. A second group has tasks filter and sum, against tasks that hand over columns and leave that to Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.data.tables import write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.timing import Timings, alternate

_GROUP = "columns"
_HANDED_OVER = {
    "sums of expressions": "SELECT sum(quantity + 1), sum(price * 2), sum(weight + 1) FROM {t}",
    "groups by an expression": "SELECT id % 1000, count(*), max(quantity) FROM {t} GROUP BY 1",
    "a filter by an expression": "SELECT count(*) FROM {t} WHERE quantity + id % 7 > price",
}
_LEFT_TO_TASKS = {
    "sums of columns": "SELECT sum(quantity), sum(price), sum(weight) FROM {t}",
    "few groups": "SELECT quantity, count(*), sum(price) FROM {t} GROUP BY quantity",
    "a filter that one row of 1,000 passes": "SELECT sum(price + 1) FROM {t} WHERE weight < {low}",
    "a filter that half of the rows pass": "SELECT sum(price + 1) FROM {t} WHERE weight < {half}",
    "sums of columns under a filter that half of the rows pass": (
        "SELECT sum(quantity), sum(price) FROM {t} WHERE weight < {half}"
    ),
    "few groups under a filter that half of the rows pass": (
        "SELECT quantity, count(*), sum(price) FROM {t} WHERE weight < {half} GROUP BY quantity"
    ),
    "the first ten rows, all columns": "SELECT * FROM {t} ORDER BY price, id LIMIT 10",
    "the first ten rows, two columns": "SELECT id, price FROM {t} ORDER BY price, id LIMIT 10",
}
_AIM = 1.06


def measure(size: Size, folder: Path) -> list[Figure]:
    """The ratios of all queries."""
    rows = size.of(5_000_000, 20_000)
    with open_lake(folder) as lake:
        path = write_parquet(folder / "plain", rows, size.of(4, 2))
        lake.register("hive", "plain", path)
        lake.view("plain", path)
        bounds = lake.collect("SELECT percentile_approx(weight, array(0.001D, 0.5D)) FROM plain")[0][0]
        assert isinstance(bounds, list)
        low, half = bounds
        figures = [_handed_over(lake, size, name, text) for name, text in _HANDED_OVER.items()]
        taken = {name: text.format(t="{t}", low=low, half=half) for name, text in _LEFT_TO_TASKS.items()}
        figures += [[_left_to_tasks(lake, size, name, text)] for name, text in taken.items()]
    return [figure for found in figures for figure in found]


def _handed_over(lake: Lake, size: Size, name: str, text: str) -> list[Figure]:
    contenders = {
        "spark": partial(lake.collect, text.format(t="plain")),
        "columns": partial(_tasks, lake, text, columnar=True, work=False),
        "rows": partial(_tasks, lake, text, columnar=False, work=False),
    }
    timings = _race(size, contenders)
    return [
        Figure(
            _GROUP,
            f"{name}, {way}: of Spark's own",
            timings.ratio(way, "spark"),
            "x",
            at_most=_AIM if way == "columns" else None,
            note=_note(timings, way, "spark"),
        )
        for way in ("columns", "rows")
    ]


def _left_to_tasks(lake: Lake, size: Size, name: str, text: str) -> Figure:
    contenders = {
        "tasks": partial(_tasks, lake, text, columnar=True, work=True),
        "columns": partial(_tasks, lake, text, columnar=True, work=False),
    }
    timings = _race(size, contenders)
    figure = f"{name}, in tasks: of columns that Spark works on"
    return Figure(_GROUP, figure, timings.ratio("tasks", "columns"), "x", note=_note(timings, "tasks", "columns"))


def _race(size: Size, contenders: Mapping[str, Callable[[], list[tuple[object, ...]]]]) -> Timings:
    answers = {name: sorted([_rounded(value) for value in row] for row in run()) for name, run in contenders.items()}
    first, *others = answers.values()
    assert all(one == first for one in others), answers
    return alternate(contenders, rounds=size.of(9, 1), warm_up=size.of(3, 1))


def _rounded(value: object) -> str:
    """Sums of fractions differ by the order of the rows."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _tasks(lake: Lake, text: str, *, columnar: bool, work: bool) -> list[tuple[object, ...]]:
    for name, value in (("columnar_reader", columnar), ("task_pushdown", work)):
        lake.session.spark.conf.set(f"spark.lakeport.hive.{name}", str(value).lower())
    return lake.collect(text.format(t="hive.bench.plain"), native=False)


def _note(timings: Timings, one: str, other: str) -> str:
    return f"medians {timings.median(one):.2f} s, {timings.median(other):.2f} s"


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
