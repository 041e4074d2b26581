"""Counts and bounds that footers answer, against reading the rows, and against Spark's own reader over Parquet."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.data.tables import parts, write_hudi, write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.turns import take_turns
from tests.connectors.hive.acid.writer import bucket_file, bucket_property, delta_name, write_arrow_inserts

__all__ = ["measure"]

_GROUP = "footers"
_FILES = 8
_DELTAS = 2
_TABLES = {"parquet": "hive", "acid": "hive", "copy_on_write": "hudi"}
_QUERIES = {
    "count(*)": "SELECT count(*) FROM {table}",
    "min and max of a long": "SELECT min(customer), max(customer) FROM {table}",
}

Answer = list[tuple[object, ...]]


def measure(size: Size, folder: Path) -> list[Figure]:
    """All contenders of a query take turns; answers are compared."""
    rows = size.of(5_000_000, 20_000)
    write_parquet(folder / "parquet", rows, _FILES)
    write_hudi(folder / "copy_on_write", rows, _FILES)
    _write_acid(folder / "acid", rows)
    figures = []
    with open_lake(folder) as lake:
        for name, catalog in _TABLES.items():
            lake.register(catalog, name, folder / name, transactional=name == "acid")
        lake.view("plain", folder / "parquet")
        for what, query in _QUERIES.items():
            figures += _compare(lake, what, query, rounds=size.of(9, 1))
    return figures


def _compare(lake: Lake, what: str, query: str, rounds: int) -> list[Figure]:
    runs = {"spark": partial(_run, lake, query.format(table="plain"), True)}
    for name, catalog in _TABLES.items():
        for how, pushed in (("footers", True), ("rows", False)):
            runs[f"{name}, {how}"] = partial(_run, lake, query.format(table=f"{catalog}.bench.{name}"), pushed)
    taken = take_turns(runs, rounds)
    assert all(one.answer == taken["spark"].answer for one in taken.values()), taken
    figures = []
    for name in _TABLES:
        ours = taken[f"{name}, footers"]
        for against, contender in (("reading the rows", f"{name}, rows"), ("Spark's own", "spark")):
            theirs = taken[contender]
            ratio = median(one / max(other, 0.01) for one, other in zip(ours.cpu, theirs.cpu, strict=True))
            note = f"{ours.note} against {theirs.note}"
            figures.append(Figure(_GROUP, f"{name}, {what}: of {against}, CPU", ratio, "x", note=note))
    return figures


def _run(lake: Lake, query: str, pushed: bool) -> Answer:
    for catalog in ("hive", "hudi"):
        lake.session.spark.conf.set(f"spark.lakeport.{catalog}.task_pushdown", str(pushed).lower())
    return lake.collect(query)


def _write_acid(folder: Path, rows: int) -> None:
    """Inserts of some transactions, each by several writers, without a delete."""
    for number, part in enumerate(parts(rows, _FILES)):
        write_id, writer = number % _DELTAS + 1, number // _DELTAS
        path = folder / delta_name(write_id, write_id, 0) / bucket_file(writer, 0)
        write_arrow_inserts(path, part, write_id, bucket_property(writer))


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
