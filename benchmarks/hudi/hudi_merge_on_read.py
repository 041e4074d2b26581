"""A merge-on-read table of Hudi, a fifth updated and a fiftieth deleted in its logs, against other readers of its rows.

Where ``BENCHMARK_HUDI_PYTHON`` names a Python, what it has is measured in the same run: hudi-rs (package ``hudi``), and
the Hudi Spark bundle that ``BENCHMARK_HUDI_BUNDLE`` names (with PySpark).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.data.hudi_tables import MergedShape, write_merged
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.turns import Taken, take_turns
from benchmarks.peers import hudi_others
from connectors.hudi.read import key_stretches
from connectors.hudi.read.log_cache import APPLIED_CACHE, LOG_CACHE

__all__ = ["measure"]

_GROUP = "hudi_merge_on_read"
_COLUMNS = ("quantity", "price", "weight")
_ORDERING = "id"
_KEY = "_hoodie_record_key"
_QUERY = f"SELECT {', '.join(f'sum({name})' for name in _COLUMNS)} FROM {{table}}"

Run = Callable[[], Sequence[float]]
Sums = Taken[Sequence[float]]


def measure(size: Size, folder: Path) -> list[Figure]:
    """All contenders of a kind take turns; answers are compared."""
    shape = MergedShape(size.of(5_000_000, 20_000), size.of(128, 4))
    left = write_merged(folder / "merged", folder / "written", shape)
    write_merged(folder / "positioned", None, replace(shape, positions=True))
    rounds = size.of(5, 1)
    with open_lake(folder) as lake:
        for name in ("merged", "positioned", "written"):
            lake.register("hudi", name, folder / name)
        lake.view("files", folder / "written")
        tables = {name: _arrow(lake, f"hudi.bench.{name}") for name in ("merged", "positioned", "written")}
        read = {"base files, keys too": _files(folder / "merged", _KEY), "base files": _files(folder / "merged")}
        alone = take_turns({name: _forgetting(run) for name, run in {**tables, **read}.items()}, rounds)
        kept = take_turns(tables, rounds)
        queries = {name: _spark(lake, f"hudi.bench.{name}") for name in tables}
        lake.collect("SET spark.lakeport.hudi.merge_cache = 0B")
        in_spark = take_turns({**queries, "files": _spark(lake, "files")}, rounds)
        lake.collect("SET spark.lakeport.hudi.merge_cache = 256MB")
        kept_in_spark = take_turns(queries, rounds)
    others = _others(folder, rounds)
    answer = alone["merged"].answer
    compared = {name: taken for name, taken in alone.items() if name in tables}
    again = (*kept.items(), *kept_in_spark.items())
    for name, taken in (*compared.items(), *in_spark.items(), *others.items(), *again):
        assert all(abs(one / other - 1) < 1e-9 for one, other in zip(taken.answer, answer, strict=True)), name
    what = f"{left:,} rows left of {shape.rows:,}, 3 of 10 columns summed"
    return [*_figures(what, alone, in_spark, others), *_kept_figures(kept, kept_in_spark), *_recent(size, folder)]


def _recent(size: Size, folder: Path) -> list[Figure]:
    """Changes of the rows that were added last, in large base files: most row groups have none."""
    shape = MergedShape(
        size.of(5_000_000, 20_000), size.of(4, 1), updated=0.05, recent=0.1, group_rows=size.of(100_000, 1_000)
    )
    write_merged(folder / "recent", folder / "rewritten", shape)
    with open_lake(folder) as lake:
        for name in ("recent", "rewritten"):
            lake.register("hudi", name, folder / name)
        read = _arrow(lake, "hudi.bench.recent")
        contenders = {
            "recent": read,
            "all merged": _all_merged(read),
            "rewritten": _arrow(lake, "hudi.bench.rewritten"),
        }
        alone = take_turns({name: _forgetting(run) for name, run in contenders.items()}, size.of(5, 1))
    answers = [taken.answer for taken in alone.values()]
    assert all(abs(one / other - 1) < 1e-9 for answer in answers for one, other in zip(answer, answers[0], strict=True))
    return [
        _ratio("changes of the last tenth in Arrow: of written", alone["recent"], alone["rewritten"]),
        _ratio("changes of the last tenth in Arrow: of all row groups merged", alone["recent"], alone["all merged"]),
    ]


def _all_merged(run: Run) -> Run:
    """A run in which no row group is passed on as it is."""

    def merge_all() -> Sequence[float]:
        least, key_stretches.LEAST_ROWS = key_stretches.LEAST_ROWS, 1 << 62
        try:
            return run()
        finally:
            key_stretches.LEAST_ROWS = least

    return merge_all


def _figures(
    what: str,
    alone: Mapping[str, Sums],
    in_spark: Mapping[str, Sums],
    others: Mapping[str, Sums],
) -> list[Figure]:
    figures = [
        Figure(_GROUP, f"{what}, {side} {name}", median(taken.cpu), "CPU s", note=taken.note)
        for side, found in (("in Arrow,", alone), ("in Spark,", in_spark), ("by", others))
        for name, taken in found.items()
    ]
    for name, floor in (("merged", "base files, keys too"), ("positioned", "base files")):
        figures.append(_ratio(f"{name} in Arrow: of written", alone[name], alone["written"], 2))
        figures.append(_ratio(f"{name} in Arrow: of pyarrow over {floor}, logs not read", alone[name], alone[floor]))
        figures.append(_ratio(f"{name} in Spark: of written", in_spark[name], in_spark["written"], 2))
    figures.append(
        _ratio("written in Spark: of Spark's Parquet", in_spark["written"], in_spark["files"], 1.2, wall=True)
    )
    if "hudi-rs" in others:
        figures.append(_ratio("merged in Arrow: of hudi-rs", alone["merged"], others["hudi-rs"], 1))
    if "bundle" in others:
        figures.append(_ratio("merged in Spark: of the bundle", in_spark["merged"], others["bundle"], 1 / 3))
        figures.append(_ratio("merged in Spark: of the bundle", in_spark["merged"], others["bundle"], 1 / 3, wall=True))
    return figures


def _kept_figures(alone: Mapping[str, Sums], in_spark: Mapping[str, Sums]) -> list[Figure]:
    """Where the process has merged the logs before."""
    figures = []
    for name in ("merged", "positioned"):
        for side, found, aim in (("Arrow", alone, 6), ("Spark", in_spark, 1.6)):
            figures.append(_ratio(f"{name} in {side}, logs kept: of written", found[name], found["written"], aim))
    return figures


def _ratio(
    name: str,
    one: Sums,
    other: Sums,
    aim: float | None = None,
    *,
    wall: bool = False,
) -> Figure:
    pairs = zip(one.seconds, other.seconds, strict=True) if wall else zip(one.cpu, other.cpu, strict=True)
    value = median(mine / max(theirs, 0.01) for mine, theirs in pairs)
    return Figure(_GROUP, f"{name}, {'seconds' if wall else 'CPU'}", value, "x", aim)


def _arrow(lake: Lake, table: str) -> Run:
    def run() -> list[float]:
        sums = [0.0] * len(_COLUMNS)
        with lake.session.arrow(table, columns=list(_COLUMNS)) as reader:
            for batch in reader:
                sums = [total + float(pc.sum(column).as_py() or 0) for total, column in zip(sums, batch, strict=True)]
        return sums

    return run


def _forgetting(run: Run) -> Run:
    """A run that begins without the logs that runs before it left."""

    def forget_and_run() -> Sequence[float]:
        LOG_CACHE.clear()
        APPLIED_CACHE.clear()
        return run()

    return forget_and_run


def _files(folder: Path, *more: str) -> Run:
    """What pyarrow alone takes to read the columns that a merge reads of the base files; the ordering field is one."""

    def run() -> list[float]:
        rows = 0
        for path in sorted(folder.glob("*.parquet")):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(columns=[*_COLUMNS, _ORDERING, *more]):
                    rows += batch.num_rows
        return [float(rows)]

    return run


def _spark(lake: Lake, table: str) -> Run:
    def run() -> list[float]:
        [row] = lake.collect(_QUERY.format(table=table))
        return [float(str(value)) for value in row]

    return run


def _others(folder: Path, rounds: int) -> dict[str, Sums]:
    python, jar = os.environ.get("BENCHMARK_HUDI_PYTHON"), os.environ.get("BENCHMARK_HUDI_BUNDLE")
    if python is None:
        return {}
    engines = {"hudi-rs": "hudi-rs", **({"bundle": jar} if jar else {})}
    return {name: _other(python, engine, folder / "merged", rounds) for name, engine in engines.items()}


def _other(python: str, engine: str, table: Path, rounds: int) -> Sums:
    script = Path(hudi_others.__file__)
    command = [python, str(script), engine, str(table), str(rounds + 1), *_COLUMNS]
    # PySpark looks for the Python of its tasks there.
    environment = {**os.environ, "PYSPARK_PYTHON": python}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    result = json.loads(done.stdout.decode().strip().rpartition("\n")[2])
    return Taken(result["seconds"][1:], result["cpu"][1:], [result["answer"]])


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
