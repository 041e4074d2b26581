"""Small queries of ten threads of one session against the same queries one after the other, ours and Spark's own.

Spark, py4j and the two cores are the same for all; what our calls between Python and Java cost more shows as a larger
gain or loss by threads than Spark's own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.data.tables import write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.timing import Timings, alternate

_GROUP = "queries_at_once"
_THREADS = 10
_QUERY = "SELECT count(*), sum(quantity) FROM {table} WHERE id >= {least}"
_READERS = {"spark": True, "native": True, "python": False}


def measure(size: Size, folder: Path) -> list[Figure]:
    """Each contender runs as many queries, in one thread or in ten."""
    count = size.of(60, _THREADS)
    with open_lake(folder) as lake, ThreadPoolExecutor(_THREADS) as pool:
        path = write_parquet(folder / "small", 1000, 1)
        lake.register("hive", "small", path)
        lake.view("small", path)
        contenders: dict[str, Callable[[], object]] = {}
        for reader in _READERS:
            contenders[f"{reader}, one by one"] = partial(_run, lake, reader, count)
            contenders[f"{reader}, at once"] = partial(_run, lake, reader, count, pool)
        timings = alternate(contenders, rounds=size.of(5, 1), warm_up=size.of(3, 1))
    return [_figure(timings, reader, count) for reader in _READERS]


def _run(lake: Lake, reader: str, count: int, pool: ThreadPoolExecutor | None = None) -> None:
    table = "small" if reader == "spark" else "hive.bench.small"
    # A setting of the session, which all threads share.
    lake.collect("SELECT 1", native=_READERS[reader])
    queries = [_QUERY.format(table=table, least=number) for number in range(count)]
    answers = list(map(lake.collect, queries) if pool is None else pool.map(lake.collect, queries))
    assert [row[0] for [row] in answers] == [1000 - number for number in range(count)], answers


def _figure(timings: Timings, reader: str, count: int) -> Figure:
    one, many = (timings.median(f"{reader}, {how}") / count * 1000 for how in ("one by one", "at once"))
    return Figure(
        _GROUP,
        f"{'Spark own reader' if reader == 'spark' else reader}: {_THREADS} at once against one by one",
        value=timings.ratio(f"{reader}, at once", f"{reader}, one by one"),
        unit="x",
        note=f"{many:.0f} ms a query against {one:.0f} ms",
    )


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
