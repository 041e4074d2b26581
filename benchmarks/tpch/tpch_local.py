"""The queries of TPC-H by the engine ``duckdb``, against DuckDB's own reader over plain Parquet files; no Java.

The tables are those of ``benchmarks.tpch.tpch``, which makes them: ``--folder`` names where it keeps them. A kind whose
tables are not there is left out. ``--scale 10 --memory 2GB --alone`` shows whether large tables are read in little
memory: each query once, with the peak of its memory, and without DuckDB's own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from time import process_time

from benchmarks.data.tpch_tables import CHANGED, TABLES
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.processes import forget_own_peak, own_peak
from benchmarks.harness.turns import Taken, take_turns
from benchmarks.peers.duckdb_own import OwnReader, Rows, own_reader
from benchmarks.tpch.tpch import QUERIES, SMALL, statements
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from lakeport.duckdb.session import LocalSession
from lakeport.version import VERSION

__all__ = ["measure"]

_GROUP = "tpch_local"
_MEMORY = 2048
"""Aim for the most memory of the process at scale 1, megabytes."""


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


@dataclass(frozen=True, slots=True)
class _Asked:
    """What of it is measured.

    Attributes:
        folder: Where the tables are kept.
        scale: TPC-H's scale factor.
        memory: DuckDB's limit on both sides; ``None`` for its own default.
        kinds: Kinds of tables.
        numbers: Queries that are run; none for all.
        rounds: Rounds that count; ``None`` for three.
        alone: Whether each query is run once, without DuckDB's own beside it.
    """

    folder: Path
    scale: float
    memory: str | None
    kinds: Sequence[str]
    numbers: Sequence[int]
    rounds: int | None
    alone: bool = False

    @property
    def has_aims(self) -> bool:
        """Whether the aims for seconds and memory are meant."""
        return self.scale == 1 and self.memory is None

    @property
    def settings(self) -> dict[str, str]:
        """Of DuckDB."""
        return {} if self.memory is None else {"memory_limit": self.memory}


def measure(asked: _Asked, size: Size, folder: Path) -> list[Figure]:
    """Each query of a kind is answered in turn by ours and by DuckDB's own."""
    place = asked.folder / f"scale-{0.01 if size.small else asked.scale:g}"
    chosen = asked.numbers or (SMALL if size.small else ())
    queries = {number: text for number, text in enumerate(statements(QUERIES), 1) if number in (chosen or [number])}
    if asked.alone:
        with _session(folder, asked.settings) as session:
            return [one for name in _present(asked, place) for one in _run_alone(session, place, name, queries)]
    rounds = size.of(3, 1) if asked.rounds is None else asked.rounds
    figures = []
    with _session(folder, asked.settings) as session, own_reader(place / "parquet", TABLES, asked.settings) as own:
        for name in _present(asked, place):
            kind = _KINDS[name]
            names = _register(session, place, name, kind)
            forget_own_peak()
            turns = {number: _turns(session, own, text, names, rounds) for number, text in queries.items()}
            figures += _figures(name, kind if asked.has_aims else replace(kind, cpu=None), turns)
            peak = own_peak()
            if peak is not None:
                aim = _MEMORY if asked.has_aims else None
                figures.append(Figure(_GROUP, f"{name}, most memory of the process", peak, "MB", aim))
    return figures


def _present(asked: _Asked, place: Path) -> Iterator[str]:
    """Kinds whose tables are there."""
    for name in asked.kinds:
        if (place / _KINDS[name].place.format(*CHANGED)).exists():
            yield name
        else:
            print(f"{name}: left out: {place} has no such tables", file=sys.stderr, flush=True)


def _run_alone(session: LocalSession, place: Path, name: str, queries: Mapping[int, str]) -> list[Figure]:
    names = _register(session, place, name, _KINDS[name])
    peaks: dict[int, float] = {}
    for number, text in queries.items():
        forget_own_peak()
        began = process_time()
        rows = _ours(session, text.format_map(names))()
        peaks[number] = own_peak() or 0.0
        print(
            f"{name}, query {number}: CPU {process_time() - began:.2f} s, {peaks[number]:.0f} MB, {len(rows)} rows",
            file=sys.stderr,
            flush=True,
        )
    worst = max(peaks, key=lambda number: peaks[number])
    return [Figure(_GROUP, f"{name}, most memory of the process", peaks[worst], "MB", None, f"query {worst}")]


def _turns(
    session: LocalSession, own: OwnReader, text: str, names: Mapping[str, str], rounds: int
) -> dict[str, Taken[Rows]]:
    plain = text.format_map({table: table for table in TABLES})
    return take_turns({"lakeport": _ours(session, text.format_map(names)), "duckdb": lambda: own.ask(plain)}, rounds)


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
def _session(folder: Path, settings: Mapping[str, str]) -> Iterator[LocalSession]:
    registry = CatalogRegistry(discover_plugins(), VERSION)
    properties = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
    for name in ("hive", "hudi"):
        registry.register(name, name, properties)
    with LocalSession(registry, settings) as session:
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


def _rounded(taken: Taken[Rows]) -> list[str]:
    """Rows with numbers of five digits: DuckDB's own averages and quotients are doubles."""
    rows = [[f"{one:.5g}" if isinstance(one, float | Decimal) else one for one in row] for row in taken.answer]
    return sorted(map(repr, rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--folder", type=Path, required=True, help="where benchmarks.tpch.tpch keeps the tables")
    parser.add_argument("--scale", type=float, default=1, help="TPC-H's scale factor; 1 by default")
    parser.add_argument("--memory", help="memory limit of DuckDB on both sides, such as 2GB; what we hold is on top")
    parser.add_argument("--kinds", nargs="+", choices=list(_KINDS), default=list(_KINDS), help="kinds of tables")
    parser.add_argument("--only", type=int, nargs="+", default=(), help="numbers of the queries to run")
    parser.add_argument("--rounds", type=int, help="how often each query is run; 3 by default")
    parser.add_argument("--alone", action="store_true", help="each query once, without DuckDB's own: for memory")
    return parser


if __name__ == "__main__":
    own_options = _parser()
    given, _ = own_options.parse_known_args()
    wanted = _Asked(given.folder, given.scale, given.memory, given.kinds, given.only, given.rounds, given.alone)
    run_command(__doc__ or "", partial(measure, wanted), parents=[own_options])
