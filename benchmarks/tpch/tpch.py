"""The queries of TPC-H over each kind of table, against Spark's own reader over plain files of the same rows.

``--folder`` keeps the tables for the next run. Tables of Hudi are made where ``BENCHMARK_HUDI_PYTHON`` names a Python
with PySpark 3.5, and ``BENCHMARK_HUDI_BUNDLE`` the Hudi Spark bundle; else they are left out, unless they are in the
folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median

from benchmarks.data.tpch_tables import CHANGED, TABLES, make_tables
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.turns import Taken, take_turns

__all__ = ["QUERIES", "SMALL", "measure", "statements"]

_GROUP = "tpch"
QUERIES = Path(__file__).with_name("tpch_queries.sql")
"""The queries."""
SMALL = (1, 6, 14)
"""Numbers of those that are run to see that a benchmark works."""
_SETTINGS = {
    "spark.driver.memory": "5g",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
}

Rows = list[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of table.

    Attributes:
        catalog: The catalog of the tables that are changed; all others are plain files of Hive.
        place: Folder of such a table, below that of the scale.
        files: Format, and folder, of the plain files of the same rows.
        aim: Of the geometric mean of all queries.
        worst: Of the worst one.
    """

    catalog: str
    place: str
    files: str
    aim: float
    worst: float | None = None


_KINDS = {
    "orc": _Kind("hive", "orc/{}", "orc", 1.03),
    "parquet": _Kind("hive", "parquet/{}", "parquet", 1.03),
    "acid": _Kind("hive", "acid/{}", "orc", 1.15, 1.4),
    "cow": _Kind("hudi", "hudi/{}_cow", "parquet", 1.05),
    "mor": _Kind("hudi", "hudi/{}_mor", "parquet", 1.4, 2),
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What of it is measured.

    Attributes:
        folder: Where the tables are kept; ``None`` to delete them afterwards.
        scale: TPC-H's scale factor.
        queries: The file of the queries.
        numbers: Those that are run; none for all.
        kinds: Kinds of tables.
        rounds: Rounds that count; ``None`` for three.
    """

    folder: Path | None
    scale: float
    queries: Path
    numbers: Sequence[int]
    kinds: Sequence[str]
    rounds: int | None


def measure(asked: _Asked, size: Size, folder: Path) -> list[Figure]:
    """Each query of a kind is answered in turn by ours and by Spark's own."""
    scale = 0.01 if size.small else asked.scale
    place = (asked.folder or folder) / f"scale-{scale:g}"
    make_tables(place, scale)
    queries = {
        number: text
        for number, text in enumerate(statements(asked.queries), 1)
        if number in (asked.numbers or (SMALL if size.small else [number]))
    }
    rounds = size.of(3, 1) if asked.rounds is None else asked.rounds
    figures = []
    with open_lake(folder, _SETTINGS) as lake:
        for name in asked.kinds:
            kind = _KINDS[name]
            if not (place / kind.place.format(*CHANGED)).exists():
                print(f"{name}: left out: BENCHMARK_HUDI_PYTHON or BENCHMARK_HUDI_BUNDLE is not set", file=sys.stderr)
                continue
            figures += _measure_kind(lake, place, name, queries, rounds)
    return figures


def statements(path: Path) -> list[str]:
    """The queries of a file, in order, which semicolons end."""
    return [text for text in map(str.strip, path.read_text().split(";")) if text]


def _measure_kind(lake: Lake, place: Path, name: str, queries: Mapping[int, str], rounds: int) -> list[Figure]:
    kind = _KINDS[name]
    ours = _register(lake, place, name, kind)
    theirs = _view(lake, place, kind.files)
    ratios: dict[str, dict[int, float]] = {"CPU": {}, "seconds": {}}
    totals: dict[str, list[float]] = {measured: [0.0, 0.0] for measured in ratios}
    different = []
    for number, text in queries.items():
        run = {"lakeport": _ours(lake, text.format_map(ours)), "spark": _theirs(lake, text.format_map(theirs))}
        taken = take_turns(run, rounds)
        if _ordered(taken["lakeport"].answer) != _ordered(taken["spark"].answer):
            print(f"{name}, query {number}: the answer is not Spark's", file=sys.stderr, flush=True)
            different.append(number)
            continue
        for measured, values in ratios.items():
            mine, other = (_spent(taken[who], measured) for who in ("lakeport", "spark"))
            values[number] = median(one / max(two, 0.01) for one, two in zip(mine, other, strict=True))
            totals[measured] = [totals[measured][0] + median(mine), totals[measured][1] + median(other)]
        words = ", ".join(f"{measured} {values[number]:.2f}x" for measured, values in ratios.items())
        print(f"{name}, query {number}: {words} ({taken['spark'].note} by Spark)", file=sys.stderr, flush=True)
    count = Figure(_GROUP, f"{name}, answers that are not Spark's", len(different), "queries", 0, _list(different))
    # A ratio over the others would hide what is wrong.
    return [count] if different else [count, *_figures(name, kind, ratios, totals)]


def _figures(
    name: str, kind: _Kind, ratios: Mapping[str, Mapping[int, float]], totals: Mapping[str, Sequence[float]]
) -> list[Figure]:
    figures = []
    for measured, values in ratios.items():
        ours, theirs = totals[measured]
        worst = max(values, key=lambda number: values[number])
        note = f"all {len(values)}: {ours:.1f} s, Spark {theirs:.1f} s"
        mean = geometric_mean(values.values())
        what = f"{name}, of Spark's own, {measured}"
        figures.append(Figure(_GROUP, f"{what}, geometric mean", mean, "x", kind.aim, note))
        figures.append(Figure(_GROUP, f"{what}, worst", values[worst], "x", kind.worst, f"query {worst}"))
    return figures


def _register(lake: Lake, place: Path, name: str, kind: _Kind) -> dict[str, str]:
    """The tables' names in our catalogs; a kind's plain tables are shared with those of other kinds."""
    names = {}
    for table in TABLES:
        folder = place / (kind.place.format(table) if table in CHANGED else f"{kind.files}/{table}")
        catalog = kind.catalog if table in CHANGED else "hive"
        lake.register(catalog, f"{name}_{table}", folder, transactional=name == "acid" and table in CHANGED)
        names[table] = f"{catalog}.bench.{name}_{table}"
    return names


def _view(lake: Lake, place: Path, files: str) -> dict[str, str]:
    """Views over Spark's own reader."""
    for table in TABLES:
        read = lake.session.spark.read.format(files).load(str(place / files / table))
        read.createOrReplaceTempView(f"{files}_{table}")
    return {table: f"{files}_{table}" for table in TABLES}


def _ours(lake: Lake, text: str) -> Callable[[], Rows]:
    return lambda: lake.collect(text)


def _theirs(lake: Lake, text: str) -> Callable[[], Rows]:
    return lambda: [tuple(row) for row in lake.session.spark.sql(text).collect()]


def _ordered(rows: Rows) -> list[str]:
    """Rows that are equal in what a query orders by come in any order."""
    return sorted(map(repr, rows))


def _spent(taken: Taken[Rows], measured: str) -> list[float]:
    return taken.cpu if measured == "CPU" else taken.seconds


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--folder", type=Path, help="where the tables are kept, and made when they are not there")
    parser.add_argument("--scale", type=float, default=1, help="TPC-H's scale factor; 1 by default")
    parser.add_argument("--queries", type=Path, default=QUERIES, help="a file like tpch_queries.sql")
    parser.add_argument("--only", type=int, nargs="+", default=(), help="numbers of the queries to run")
    parser.add_argument("--kinds", nargs="+", choices=list(_KINDS), default=list(_KINDS), help="kinds of tables")
    parser.add_argument("--rounds", type=int, help="how often each query is run; 3 by default")
    return parser


if __name__ == "__main__":
    own = _parser()
    given, _ = own.parse_known_args()
    chosen = _Asked(given.folder, given.scale, given.queries, given.only, given.kinds, given.rounds)
    run_command(__doc__ or "", partial(measure, chosen), parents=[own])
