"""Queries of TPC-H, and joins as TPC-DS has them, planned by statistics of columns and without; a join by buckets.

Tables are Parquet at scale 1, whose statistics ``ANALYZE TABLE`` has put into the metastore; with ``--unanalyzed``
nothing is known but what footers say. Both plans take turns in one session; answers are compared. ``--folder`` keeps
the tables for the next run, ``--parts`` chooses what is run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.data.tpch_tables import TABLES
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.turns import take_turns
from benchmarks.tpch.tpch import QUERIES, SMALL, statements

_GROUP = "plans_by_cost"
_BADLY_ORDERED = Path(__file__).with_name("badly_ordered.sql")
_STAR_JOINS = Path(__file__).with_name("star_joins.sql")
_BY_COST = ("spark.sql.cbo.enabled", "spark.sql.cbo.joinReorder.enabled")
_PARTITIONING = "spark.lakeport.hive.storage_partitioning"
_SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.v2.bucketing.enabled": "true",
    "spark.ui.enabled": "false",
}
_PARTS = ("badly-ordered", "star-joins", "tpch", "buckets")
_BUCKETS = 8
_BUCKETED = {
    "orders": "o_orderkey BIGINT, o_custkey BIGINT, o_orderpriority STRING, o_totalprice DECIMAL(15, 2)",
    "lineitem": "l_orderkey BIGINT, l_quantity DECIMAL(15, 2), l_extendedprice DECIMAL(15, 2), l_shipmode STRING",
}
_JOINS = {
    "joined and counted": "SELECT o_orderpriority, count(*), sum(l_extendedprice) FROM {orders} JOIN {lineitem} "
    "ON o_orderkey = l_orderkey GROUP BY o_orderpriority ORDER BY 1",
    "grouped by the key first": "SELECT count(*), sum(total), max(o_totalprice) FROM {orders} JOIN (SELECT l_orderkey, "
    "sum(l_quantity) AS total FROM {lineitem} GROUP BY l_orderkey) ON o_orderkey = l_orderkey",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What of it is measured.

    Attributes:
        folder: Where the tables are kept; ``None`` to delete them afterwards.
        parts: Which of ``_PARTS``.
        rounds: Rounds that count; ``None`` for two.
        only: Numbers of the queries of TPC-H; all if there are none.
        analyzed: The tables have statistics in the metastore.
    """

    folder: Path | None
    parts: Sequence[str]
    rounds: int | None
    only: Sequence[int]
    analyzed: bool


def measure(asked: _Asked, size: Size, folder: Path) -> list[Figure]:
    """Each query is planned by what is known of columns, and without it; the joins by buckets, and without them."""
    scale = 0.01 if size.small else 1
    place = (asked.folder or folder) / f"parquet-{scale}"
    if not place.exists():
        tool = str(Path(sys.executable).with_name("tpchgen-cli"))
        subprocess.run([tool, "parquet", "-s", str(scale), f"--output-dir={place}"], check=True, stdout=sys.stderr)
    rounds = size.of(2, 1) if asked.rounds is None else asked.rounds
    figures = []
    with open_lake(folder, _SETTINGS) as lake:
        names = _register(lake, place, folder, analyzed=asked.analyzed and {*asked.parts} != {"buckets"})
        if "badly-ordered" in asked.parts:
            gain = "the aim is 1.5 at least"
            figures += _by_cost(lake, "query {}", dict(enumerate(statements(_BADLY_ORDERED), 1)), names, rounds, gain)
        if "star-joins" in asked.parts:
            joins = dict(enumerate(statements(_STAR_JOINS), 1))
            figures += _by_cost(lake, "star join {}", joins, names, rounds, "none should be slower")
        if "tpch" in asked.parts:
            known = dict(enumerate(statements(QUERIES), 1))
            wanted = asked.only or (SMALL if size.small else known)
            chosen = {number: text for number, text in known.items() if number in wanted}
            figures += _by_cost(lake, "TPC-H {}", chosen, names, rounds, "none should be slower")
        if "buckets" in asked.parts:
            # Of tiny tables it would not pay.
            figures += _by_buckets(lake, folder, names, rounds, "ALL" if size.small else "AUTOMATIC")
    return figures


def _by_cost(
    lake: Lake, called: str, queries: Mapping[int, str], names: Mapping[str, str], rounds: int, aim: str
) -> list[Figure]:
    figures, totals = [], {"as written": 0.0, "by cost": 0.0}
    for number, text in queries.items():
        query = text.format_map(names)
        run = {way: partial(_collect, lake, query, by_cost=way == "by cost") for way in totals}
        taken = take_turns(run, rounds)
        assert _sorted(taken["by cost"].answer) == _sorted(taken["as written"].answer), number
        ratio = median(b / a for a, b in zip(taken["as written"].cpu, taken["by cost"].cpu, strict=True))
        for way in totals:
            totals[way] += median(taken[way].cpu)
        note = f"{taken['as written'].note} as written, {taken['by cost'].note} by cost"
        figures.append(
            Figure(_GROUP, f"{called.format(number)}, by cost against as written, CPU", ratio, "x", 1.0, note)
        )
        print(f"{called.format(number)}: {ratio:.2f}x CPU, {note}", file=sys.stderr, flush=True)
    gain = totals["as written"] / totals["by cost"]
    what = f"{called.format('')}all, as written against by cost, CPU"
    return [*figures, Figure(_GROUP, what, gain, "x", note=aim)]


def _sorted(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Sums of doubles depend on the order of rows in their last digits."""
    return sorted((tuple(f"{v:.6g}" if isinstance(v, float) else v for v in row) for row in rows), key=repr)


def _by_buckets(lake: Lake, folder: Path, names: Mapping[str, str], rounds: int, way: str) -> list[Figure]:
    """Joins of two tables that are bucketed alike: with a shuffle and without, and where the buckets are sorted."""
    made = _bucketed(lake, folder, names, "in_buckets", "")
    in_order = _bucketed(lake, folder, names, "in_sorted_buckets", ", 'sorted_by' = '{key}'")
    figures = []
    for what, text in _JOINS.items():
        query, ordered = text.format_map(made), text.format_map(in_order)
        for asked, word in ((query, "partitioned by"), (ordered, "ordered by")):
            plan = str(_laid_out(lake, f"EXPLAIN {asked}", way))
            assert word in plan, plan
        ways = {
            "a shuffle": partial(_laid_out, lake, query, "NONE"),
            "by buckets": partial(_laid_out, lake, query, way),
            "by sorted buckets": partial(_laid_out, lake, ordered, way),
        }
        taken = take_turns(ways, rounds)
        assert len({str(one.answer) for one in taken.values()}) == 1, what
        notes = ", ".join(f"{one.note} {name}" for name, one in taken.items())
        for before, after in (("a shuffle", "by buckets"), ("by buckets", "by sorted buckets")):
            for measured, words in (("cpu", "CPU"), ("seconds", "time")):
                both = (getattr(taken[one], measured) for one in (before, after))
                ratio = median(new / old for old, new in zip(*both, strict=True))
                figures.append(Figure(_GROUP, f"{what}: {after} against {before}, {words}", ratio, "x", 1.0, notes))
                print(f"{what}: {after} against {before}: {ratio:.2f}x {words}, {notes}", file=sys.stderr, flush=True)
    return figures


def _bucketed(lake: Lake, folder: Path, names: Mapping[str, str], suffix: str, more: str) -> dict[str, str]:
    """Tables of the same rows in buckets of their keys, each in one file."""
    made = {table: f"hive.bench.{table}_{suffix}" for table in _BUCKETED}
    for table, columns in _BUCKETED.items():
        (folder / made[table]).mkdir()
        key, chosen = columns.partition(" ")[0], ", ".join(one.split()[0] for one in columns.split(", ") if "_" in one)
        lake.session.sql(
            f"CREATE TABLE {made[table]} ({columns}) USING parquet LOCATION '{folder / made[table]}' TBLPROPERTIES "
            f"('bucketed_by' = '{key}', 'bucket_count' = '{_BUCKETS}', 'bucketing_version' = '2'"
            f"{more.format(key=key)})"
        )
        lake.session.sql(f"INSERT INTO {made[table]} SELECT {chosen} FROM {names[table]}").collect()
    return made


def _laid_out(lake: Lake, query: str, value: str) -> list[tuple[object, ...]]:
    lake.session.spark.conf.set(_PARTITIONING, value)
    return lake.collect(query)


def _register(lake: Lake, place: Path, folder: Path, *, analyzed: bool) -> dict[str, str]:
    for table in TABLES:
        own = folder / "tables" / table
        own.mkdir(parents=True)
        files = sorted((place / table).iterdir()) if (place / table).is_dir() else [place / f"{table}.parquet"]
        for path in files:
            (own / path.name).symlink_to(path.resolve())
        lake.register("hive", table, own)
        if analyzed:
            lake.session.sql(f"ANALYZE TABLE hive.bench.{table} COMPUTE STATISTICS FOR ALL COLUMNS")
    return {table: f"hive.bench.{table}" for table in TABLES}


def _collect(lake: Lake, query: str, *, by_cost: bool) -> list[tuple[object, ...]]:
    for setting in _BY_COST:
        lake.session.spark.conf.set(setting, str(by_cost).lower())
    return lake.collect(query)


if __name__ == "__main__":
    own = argparse.ArgumentParser(add_help=False)
    own.add_argument("--folder", type=Path, help="where the tables are kept, and made when they are not there")
    own.add_argument("--parts", nargs="+", choices=_PARTS, default=_PARTS, help="what is run; all of it by default")
    own.add_argument("--rounds", type=int, help="rounds that count")
    own.add_argument("--only", type=int, nargs="+", default=(), help="numbers of the queries of TPC-H to run")
    own.add_argument("--unanalyzed", action="store_true", help="without statistics in the metastore")
    given, _ = own.parse_known_args()
    asked = _Asked(given.folder, given.parts, given.rounds, given.only, not given.unanalyzed)
    run_command(__doc__ or "", partial(measure, asked), parents=[own])
