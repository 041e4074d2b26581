"""The queries of TPC-H by the engine ``duckdb``, against DuckDB's own reader over plain Parquet files; no Java.

The tables are those of ``benchmarks.tpch.tpch``, which makes them: ``--folder`` names where it keeps them.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median

import duckdb

from benchmarks.data.tpch_tables import CHANGED, TABLES
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.turns import Taken, take_turns
from benchmarks.tpch.tpch import QUERIES, SMALL, statements
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from lakeport.duckdb.session import LocalSession
from lakeport.version import VERSION

__all__ = ["measure"]

_GROUP = "tpch_local"

Rows = list[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of table.

    Attributes:
        catalog: The catalog of the tables that are changed; all others are plain files of Hive.
        place: Folder of such a table, below that of the scale.
        files: Format of the plain tables beside them; those in Parquet have the same rows.
        ratio: Aim for the CPU of all queries, of DuckDB's own.
        cpu: Aim for the CPU seconds of all queries at scale 1.
    """

    catalog: str
    place: str
    files: str
    ratio: float | None = None
    cpu: float | None = None


_KINDS = {
    "parquet": _Kind("hive", "parquet/{}", "parquet", ratio=1.2),
    "cow": _Kind("hudi", "hudi/{}_cow", "parquet", ratio=1.2),
    "mor": _Kind("hudi", "hudi/{}_mor", "parquet", cpu=15),
    "acid": _Kind("hive", "acid/{}", "orc", cpu=12),
}


def measure(kept: Path, size: Size, folder: Path) -> list[Figure]:
    """Each query of a kind is answered in turn by ours and by DuckDB's own."""
    place = kept / f"scale-{0.01 if size.small else 1}"
    queries = {number: text for number, text in enumerate(statements(QUERIES), 1) if number in SMALL or not size.small}
    figures = []
    with _session(folder) as session, duckdb.connect() as own:
        for table in TABLES:
            own.execute(f"CREATE VIEW {table} AS FROM read_parquet('{place}/parquet/{table}/**/*.parquet')")
        for name, kind in _KINDS.items():
            names = _register(session, place, name, kind)
            turns = {
                number: take_turns(
                    {
                        "lakeport": _ours(session, text.format_map(names)),
                        "duckdb": _theirs(own, text.format_map({table: table for table in TABLES})),
                    },
                    size.of(3, 1),
                )
                for number, text in queries.items()
            }
            figures += _figures(name, kind, turns)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [*figures, Figure(_GROUP, "most memory of the process", most, "MB", 2048)]


def _figures(name: str, kind: _Kind, turns: Mapping[int, Mapping[str, Taken[Rows]]]) -> list[Figure]:
    ours, theirs = ({number: median(one[who].cpu) for number, one in turns.items()} for who in ("lakeport", "duckdb"))
    ratios = {number: ours[number] / max(theirs[number], 0.01) for number in turns}
    for number, one in turns.items():
        print(
            f"{name}, query {number}: CPU {ours[number]:.2f} s, {ratios[number]:.2f}x ({one['duckdb'].note} by DuckDB)",
            file=sys.stderr,
            flush=True,
        )
    worst = max(ratios, key=lambda number: ratios[number])
    total, other = sum(ours.values()), sum(theirs.values())
    figures = [
        Figure(_GROUP, f"{name}, CPU of all", total, "s", kind.cpu, f"DuckDB's own over Parquet: {other:.1f} s"),
        Figure(_GROUP, f"{name}, of DuckDB's own, CPU of all", total / other, "x", kind.ratio),
        Figure(_GROUP, f"{name}, of DuckDB's own, CPU, geometric mean", geometric_mean(ratios.values()), "x"),
        Figure(_GROUP, f"{name}, of DuckDB's own, CPU, worst", ratios[worst], "x", None, f"query {worst}"),
    ]
    if kind.files == "parquet":
        wrong = [number for number, one in turns.items() if _rounded(one["lakeport"]) != _rounded(one["duckdb"])]
        said = ", ".join(map(str, wrong))
        figures.insert(0, Figure(_GROUP, f"{name}, answers that are not DuckDB's", len(wrong), "queries", 0, said))
    return figures


@contextmanager
def _session(folder: Path) -> Iterator[LocalSession]:
    registry = CatalogRegistry(discover_plugins(), VERSION)
    properties = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
    for name in ("hive", "hudi"):
        registry.register(name, name, properties)
    with LocalSession(registry) as session:
        yield session


def _register(session: LocalSession, place: Path, name: str, kind: _Kind) -> dict[str, str]:
    """The tables' names in our catalogs."""
    names = {}
    for table in TABLES:
        folder = place / (kind.place.format(table) if table in CHANGED else f"{kind.files}/{table}")
        catalog = kind.catalog if table in CHANGED else "hive"
        more = ", transactional => true" if name == "acid" and table in CHANGED else ""
        session.sql(f"CALL {catalog}.system.register_table('bench', '{name}_{table}', '{folder}'{more})")
        names[table] = f"{catalog}.bench.{name}_{table}"
    return names


def _ours(session: LocalSession, text: str) -> Callable[[], Rows]:
    return lambda: session.sql(text).fetchall()


def _theirs(own: duckdb.DuckDBPyConnection, text: str) -> Callable[[], Rows]:
    return lambda: own.execute(text).fetchall()


def _rounded(taken: Taken[Rows]) -> list[str]:
    """Rows with numbers of five digits: DuckDB's own averages and quotients are doubles."""
    rows = [[f"{one:.5g}" if isinstance(one, float | Decimal) else one for one in row] for row in taken.answer]
    return sorted(map(repr, rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--folder", type=Path, required=True, help="where benchmarks.tpch.tpch keeps the tables")
    return parser


if __name__ == "__main__":
    own_options = _parser()
    given, _ = own_options.parse_known_args()
    run_command(__doc__ or "", partial(measure, given.folder), parents=[own_options])
