"""Transactional tables written by Lakeport in Spark and by Trino, over one Hive metastore: INSERT, DELETE and MERGE.

6 M rows of TPC-H's lineitem; a twentieth is deleted, and a twentieth merged. CPU is that of all processes, the
metastore's too. Maven fetches Hive and Trino; Trino needs Java 25. ``--folder`` keeps the rows for the next run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.dataset as ds

from benchmarks.data.lineitem import LineitemOptions
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.timing import seconds
from benchmarks.harness.turns import take_turns
from tests.integration.hive.engine import HiveEngine, fetch_engine, running_engine
from tests.integration.hive.trino import Trino, fetch_trino, running_trino
from tests.integration.servers import fetch

__all__ = ["measure"]

_GROUP = "acid_writes"
_AIM = 0.8
_SETTINGS = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.driver.memory": "2g"}
_COLUMNS = {
    "l_orderkey": "bigint", "l_partkey": "bigint", "l_suppkey": "bigint", "l_linenumber": "int",
    "l_quantity": "decimal(15,2)", "l_extendedprice": "decimal(15,2)", "l_discount": "decimal(15,2)",
    "l_tax": "decimal(15,2)", "l_returnflag": "string", "l_linestatus": "string", "l_shipdate": "date",
    "l_commitdate": "date", "l_receiptdate": "date", "l_shipinstruct": "string", "l_shipmode": "string",
    "l_comment": "string",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Site:
    """What writes, over one metastore."""

    lake: Lake
    engine: HiveEngine
    trino: Trino

    def ours(self, statement: str) -> int:
        """A statement by Lakeport."""
        self.lake.session.sql(statement).collect()
        return 0

    def theirs(self, statement: str) -> int:
        """A statement by Trino."""
        self.trino.sql(statement)
        return 0


def measure(asked: LineitemOptions, size: Size, folder: Path) -> list[Figure]:
    """Each writer inserts into tables of its own, and changes the last of them; Trino then counts the rows of both."""
    source = asked.make(size, folder)
    rounds = asked.rounds or size.of(2, 1)
    with _running(folder) as site:
        columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        site.engine.sql("CREATE DATABASE bench")
        site.engine.sql(f"CREATE EXTERNAL TABLE bench.source ({columns}) STORED AS PARQUET LOCATION '{source}'")
        for number, who in itertools.product(range(rounds + 1), ("ours", "theirs", "arrow")):
            site.engine.sql(
                f"CREATE TABLE bench.{who}{number} ({columns}) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
            )
        figures = [*_inserts(site, source, rounds), *_changes(site, rounds), *_one_row(site, size.of(20, 2))]
        found = [
            site.trino.sql(f"SELECT count(*), sum(l_quantity) FROM hive.bench.{who}{rounds}")
            for who in ("ours", "theirs")
        ]
        assert found[0] == found[1], found
    return figures


@contextmanager
def _running(folder: Path) -> Iterator[_Site]:
    for name in ("metastores", "engine"):
        (folder / name).mkdir()
    fetch(folder / "metastores")
    fetch_engine(folder / "engine")
    jars = fetch_trino(folder / "trino")
    with (
        running_engine(folder / "engine", folder / "metastores", folder / "hive") as engine,
        running_trino(jars, engine.port, folder / "trino-run", heap="4g") as trino,
        open_lake(folder, _SETTINGS, metastore=engine.uri) as lake,
    ):
        yield _Site(lake, engine, trino)


def _inserts(site: _Site, source: Path, rounds: int) -> list[Figure]:
    numbers = {who: itertools.count() for who in ("ours", "theirs", "arrow")}

    def by_arrow() -> int:
        reader = ds.dataset(source).scanner().to_reader()
        site.lake.session.insert(f"hive.bench.arrow{next(numbers['arrow'])}", reader)
        return 0

    insert = "INSERT INTO hive.bench.{} SELECT * FROM hive.bench.source"
    writers: dict[str, Callable[[], int]] = {
        "INSERT INTO": lambda: site.ours(insert.format(f"ours{next(numbers['ours'])}")),
        "session.insert": by_arrow,
        "Trino": lambda: site.theirs(insert.format(f"theirs{next(numbers['theirs'])}")),
    }
    return _compared("INSERT", writers, rounds)


def _changes(site: _Site, rounds: int) -> list[Figure]:
    """Each round has another twentieth of the orders."""
    table = "hive.bench.{}" + str(rounds)
    delete = "DELETE FROM " + table + " WHERE l_orderkey % 20 = {}"
    keys = "t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber"
    merge = (
        f"MERGE INTO {table} t USING (SELECT * FROM hive.bench.source WHERE l_orderkey % 20 = {{}}) s ON {keys} "
        "WHEN MATCHED THEN UPDATE SET l_quantity = s.l_quantity + 1 "
        f"WHEN NOT MATCHED THEN INSERT ({', '.join(_COLUMNS)}) VALUES ({', '.join(f's.{one}' for one in _COLUMNS)})"
    )
    figures = []
    for what, statement, first in (("DELETE of 5%", delete, 0), ("MERGE of 5%", merge, 10)):
        ours, theirs = itertools.count(first), itertools.count(first)
        writers: dict[str, Callable[[], int]] = {
            "in Spark": lambda text=statement, at=ours: site.ours(text.format("ours", next(at))),  # type: ignore[misc]
            "Trino": lambda text=statement, at=theirs: site.theirs(text.format("theirs", next(at))),  # type: ignore[misc]
        }
        figures += _compared(what, writers, rounds)
    return figures


def _compared(what: str, writers: dict[str, Callable[[], int]], rounds: int) -> list[Figure]:
    taken = take_turns(writers, rounds)
    figures = []
    for writer, unit in itertools.product(list(writers)[:-1], ("cpu", "seconds")):
        mine, other = (getattr(taken[one], unit) for one in (writer, "Trino"))
        ratio = median(a / max(b, 0.01) for a, b in zip(mine, other, strict=True))
        note = f"{median(mine):.1f} s against {median(other):.1f} s"
        aim = _AIM if unit == "cpu" else None
        figures.append(Figure(_GROUP, f"{what}, {writer}: of Trino's, {unit}", ratio, "x", aim, note))
    return figures


def _one_row(site: _Site, rounds: int) -> list[Figure]:
    """Time above that of the calls of the metastore, which are made one after the other."""
    site.engine.sql("CREATE TABLE bench.small (id bigint) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    one = pa.table({"id": [1]})
    writers: dict[str, Callable[[], object]] = {
        "session.insert": partial(site.lake.session.insert, "hive.bench.small", one),
        "INSERT INTO": partial(site.ours, "INSERT INTO hive.bench.small VALUES (1)"),
    }
    figures = []
    for writer, write in writers.items():
        write()
        taken = []
        for _ in range(rounds):
            before = site.lake.hive.metastore.calls.total()
            spent = seconds(write)
            after = site.lake.hive.metastore.calls.total()
            taken.append((spent - (after.seconds - before.seconds), after.count - before.count, spent))
        # Not the fastest: calls of a statement before, which another thread ends, count for this one.
        above, calls, whole = sorted(taken)[len(taken) // 2]
        note = f"{1000 * whole:.0f} ms in all, {calls} calls"
        what = f"one row, {writer}: above the metastore's calls"
        figures.append(Figure(_GROUP, what, 1000 * above, "ms", 150, note))
    return figures


if __name__ == "__main__":
    run_command(__doc__ or "", partial(measure, LineitemOptions.parse()), parents=[LineitemOptions.parser()])
