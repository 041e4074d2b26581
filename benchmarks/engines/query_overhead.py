"""A query through our catalogs against the same query on Spark's own Parquet reader."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.data.tables import write_hudi, write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.timing import Timings, alternate

_SMALL_QUERY = "SELECT count(*), sum(quantity) FROM {table} WHERE id >= 10"
_LARGE_QUERY = "SELECT sum(quantity), sum(price), sum(weight) FROM {table}"
_ROWS_QUERY = "SELECT sum(quantity + 1), sum(price * 2), sum(weight + 1) FROM {table}"
"""Tasks do not aggregate expressions: they hand every row over."""
_NATIVE_AIM, _PYTHON_AIM, _SMALL_AIM_MS = 1.05, 1.3, 100.0


def measure(size: Size, folder: Path) -> list[Figure]:
    """The figures of small and large tables."""
    figures: list[Figure] = []
    with open_lake(folder) as lake:
        for catalog, write in (("hive", write_parquet), ("hudi", write_hudi)):
            small, large = f"{catalog}_small", f"{catalog}_large"
            tables = {small: write(folder / small, 1000, 1)}
            rows = size.of(5_000_000, 20_000)
            tables[large] = write(folder / large, rows, size.of(4, 2))
            for name, path in tables.items():
                lake.register(catalog, name, path)
                lake.view(name, path)
            figures += _small(
                catalog,
                _race(lake, _SMALL_QUERY, catalog=catalog, name=small, rounds=size.of(30, 2), warm_up=size.of(15, 1)),
            )
            timings = _race(
                lake, _LARGE_QUERY, catalog=catalog, name=large, rounds=size.of(9, 1), warm_up=size.of(3, 1)
            )
            figures += _large(f"{catalog}, {rows:,} rows", timings)
            timings = _race(lake, _ROWS_QUERY, catalog=catalog, name=large, rounds=size.of(9, 1), warm_up=size.of(3, 1))
            figures.append(_rows(f"{catalog}, {rows:,} rows", timings))
    return figures


def _race(lake: Lake, query: str, catalog: str, name: str, rounds: int, warm_up: int) -> Timings:
    ours = query.format(table=f"{catalog}.bench.{name}")
    contenders: dict[str, Callable[[], list[tuple[object, ...]]]] = {
        # Spark's own gets the same settings, which take a moment to set.
        "spark": partial(lake.collect, query.format(table=name), native=True),
        "native": partial(lake.collect, ours, native=True),
        "python": partial(lake.collect, ours, native=False),
    }
    _check_same(contenders)
    _check_reader(lake, ours)
    return alternate(contenders, rounds, warm_up)


def _check_same(contenders: dict[str, Callable[[], list[tuple[object, ...]]]]) -> None:
    """Figures of wrong answers are worth nothing. Sums of fractions differ by the order of the rows."""
    answers = {name: [[f"{value:.6g}" for value in row] for row in run()] for name, run in contenders.items()}
    assert answers["native"] == answers["python"] == answers["spark"], answers


def _check_reader(lake: Lake, query: str) -> None:
    for native, words in ((True, "reader: native"), (False, "reader: Python")):
        plan = str(lake.collect(f"EXPLAIN {query}", native))
        assert words in plan, f"expected {words} in {plan}"


def _small(catalog: str, timings: Timings) -> list[Figure]:
    base = timings.median("spark")
    return [
        Figure(
            "query_overhead",
            f"{catalog}, 1 small file, {reader}: above Spark's own",
            value=timings.difference(reader, "spark") * 1000,
            unit="ms",
            at_most=_SMALL_AIM_MS,
            note=f"medians {timings.median(reader) * 1000:.0f} ms, Spark {base * 1000:.0f} ms",
        )
        for reader in ("native", "python")
    ]


def _large(table: str, timings: Timings) -> list[Figure]:
    base = timings.median("spark")
    return [
        Figure(
            "query_overhead",
            f"{table}, 3 of 10 columns, {reader}: of Spark's own",
            value=timings.ratio(reader, "spark"),
            unit="x",
            at_most=aim,
            note=f"medians {timings.median(reader):.2f} s, Spark {base:.2f} s",
        )
        for reader, aim in (("native", _NATIVE_AIM), ("python", _PYTHON_AIM))
    ]


def _rows(table: str, timings: Timings) -> Figure:
    return Figure(
        "query_overhead",
        f"{table}, 3 of 10 columns in expressions, python: of Spark's own",
        timings.ratio("python", "spark"),
        "x",
        note=f"medians {timings.median('python'):.2f} s, Spark {timings.median('spark'):.2f} s",
    )


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
