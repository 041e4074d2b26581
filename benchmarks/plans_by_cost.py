"""Joins of TPC-H that are badly ordered in the FROM, with statistics of columns for Spark's optimizer and without.

Tables are Parquet at scale 1, whose statistics ``ANALYZE TABLE`` has put into the metastore. Both plans take turns in
one session; answers are compared. ``--folder`` keeps the tables for the next run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.command import Size, run_command
from benchmarks.figures import Figure
from benchmarks.lake import Lake, open_lake
from benchmarks.tpch import statements
from benchmarks.tpch_tables import TABLES
from benchmarks.turns import take_turns

_GROUP = "plans_by_cost"
_QUERIES = Path(__file__).with_name("badly_ordered.sql")
_BY_COST = ("spark.sql.cbo.enabled", "spark.sql.cbo.joinReorder.enabled")
_SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
}
# What the queries join and filter by.
_COLUMNS = {
    "customer": "c_custkey, c_nationkey",
    "lineitem": "l_orderkey, l_suppkey, l_partkey",
    "nation": "n_nationkey, n_regionkey, n_name",
    "orders": "o_orderkey, o_custkey, o_orderdate",
    "part": "p_partkey, p_size, p_brand, p_type, p_container",
    "partsupp": "ps_partkey, ps_suppkey",
    "region": "r_regionkey, r_name",
    "supplier": "s_suppkey, s_nationkey",
}


def measure(kept: Path | None, size: Size, folder: Path) -> list[Figure]:
    """Each query is planned by what is known of columns, and without it."""
    scale = 0.01 if size.small else 1
    place = (kept or folder) / f"parquet-{scale}"
    if not place.exists():
        tool = str(Path(sys.executable).with_name("tpchgen-cli"))
        subprocess.run([tool, "parquet", "-s", str(scale), f"--output-dir={place}"], check=True, stdout=sys.stderr)
    figures, totals = [], {"as written": 0.0, "by cost": 0.0}
    with open_lake(folder, _SETTINGS) as lake:
        names = _register(lake, place, folder)
        for number, text in enumerate(statements(_QUERIES), 1):
            query = text.format_map(names)
            run = {way: partial(_collect, lake, query, by_cost=way == "by cost") for way in totals}
            taken = take_turns(run, size.of(2, 1))
            assert taken["by cost"].answer == taken["as written"].answer, number
            ratio = median(b / a for a, b in zip(taken["as written"].cpu, taken["by cost"].cpu, strict=True))
            for way in totals:
                totals[way] += median(taken[way].cpu)
            note = f"{taken['as written'].note} as written, {taken['by cost'].note} by cost"
            figures.append(Figure(_GROUP, f"query {number}, by cost against as written, CPU", ratio, "x", 1.0, note))
            print(f"query {number}: {ratio:.2f}x CPU, {note}", file=sys.stderr, flush=True)
    gain = totals["as written"] / totals["by cost"]
    figures.append(Figure(_GROUP, "all, as written against by cost, CPU", gain, "x", note="the aim is 1.5 at least"))
    return figures


def _register(lake: Lake, place: Path, folder: Path) -> dict[str, str]:
    for table in TABLES:
        path = place / f"{table}.parquet"
        own = folder / "tables" / table
        own.mkdir(parents=True)
        (own / path.name).symlink_to(path)
        lake.register("hive", table, own)
        lake.session.sql(f"ANALYZE TABLE hive.bench.{table} COMPUTE STATISTICS FOR COLUMNS {_COLUMNS[table]}")
    return {table: f"hive.bench.{table}" for table in TABLES}


def _collect(lake: Lake, query: str, *, by_cost: bool) -> list[tuple[object, ...]]:
    for setting in _BY_COST:
        lake.session.spark.conf.set(setting, str(by_cost).lower())
    return lake.collect(query)


if __name__ == "__main__":
    own = argparse.ArgumentParser(add_help=False)
    own.add_argument("--folder", type=Path, help="where the tables are kept, and made when they are not there")
    given, _ = own.parse_known_args()
    run_command(__doc__ or "", partial(measure, given.folder), parents=[own])
