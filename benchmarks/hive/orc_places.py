"""ORC files with columns found by position, against by name: planning of splits, and a query through Spark."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from pyarrow import orc

from benchmarks.data.acid_reading import planned_scan
from benchmarks.data.tables import numbers
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.storage_opens import counted_opens
from benchmarks.harness.timing import alternate
from connectors.hive.connector import HiveConnector

_GROUP = "orc_places"
_COLUMNS = numbers(0).column_names


def measure(size: Size, folder: Path) -> list[Figure]:
    """The same file at many paths, large enough that its footer is read."""
    plan_files, query_files = size.of(500, 4), size.of(200, 4)
    orc.write_table(numbers(size.of(40_000, 100)), str(folder / "source.orc"), compression="zlib")
    with open_lake(folder, others={"by_name": {"hive.orc.use-column-names": "true"}}) as lake:
        _create_table(lake, folder, "planned", plan_files)
        _create_table(lake, folder, "queried", query_files)
        return [*_planning(lake, plan_files, size), *_query(lake, query_files, size)]


def _create_table(lake: Lake, folder: Path, name: str, count: int) -> None:
    table = folder / name
    table.mkdir()
    for number in range(count):
        os.link(folder / "source.orc", table / f"{number:06}_0")
    lake.register("hive", name, table)


def _planning(lake: Lake, count: int, size: Size) -> list[Figure]:
    figures, contenders = [], {}
    for way, connector in (("by position", lake.hive), ("by name", lake.others["by_name"])):
        contenders[way] = partial(_plan, connector)
        with counted_opens() as opens:
            contenders[way]()
        figures.append(
            Figure(_GROUP, f"{count:,} files {way}: files opened while planning", sum(opens.values()), "opens")
        )
    timings = alternate(contenders, size.of(9, 1), size.of(2, 1))
    for way in contenders:
        figures.append(Figure(_GROUP, f"{count:,} files {way}: splits planned", timings.median(way) * 1000, "ms"))
    return [*figures, Figure(_GROUP, "planning by position, of by name", timings.ratio("by position", "by name"), "x")]


def _plan(connector: HiveConnector) -> None:
    with planned_scan(connector, "planned", _COLUMNS):
        pass


def _query(lake: Lake, count: int, size: Size) -> list[Figure]:
    # All columns of all rows go into Spark, since tasks do not know the function.
    asked = f"max(hash({', '.join(_COLUMNS)}))"
    readers = {"by position": ("hive", True), "by name": ("by_name", True), "by position in tasks": ("hive", False)}
    contenders = {
        reader: partial(lake.collect, f"SELECT {asked} FROM {catalog}.bench.queried", native)
        for reader, (catalog, native) in readers.items()
    }
    timings = alternate(contenders, size.of(7, 1), size.of(2, 1))
    figures = [Figure(_GROUP, f"{count} files {name}: query", timings.median(name) * 1000, "ms") for name in readers]
    for other in ("by name", "by position in tasks"):
        ratio = timings.ratio("by position", other)
        figures.append(Figure(_GROUP, f"query by position, of {other}", ratio, "x"))
    return figures


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
