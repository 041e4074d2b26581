"""Parquet files on an S3 server in the engine duckdb: by DuckDB's own reader, and as Arrow (``native_reader=false``).

The server is a test's, on loopback; each request takes 20 ms longer. The ways take turns at each question.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.request import urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lakeport
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.counting_proxy import COUNTS
from benchmarks.harness.figures import Figure
from benchmarks.harness.turns import take_turns
from lakeport.duckdb.session import LocalSession
from tests.s3_server import s3_server

_GROUP = "remote_files"
_DELAY = 0.02
_FILES = 4
_QUERIES = {
    "count": "SELECT count(*) AS n FROM {table}",
    "one column": "SELECT sum(c1) AS n FROM {table}",
    "a hundredth by id": "SELECT count(*), sum(c2) AS n FROM {table} WHERE id BETWEEN {low} AND {high}",
    "all columns": "SELECT {all} FROM {table}",
    "one column of many files": "SELECT sum(c1) AS n FROM {many}",
}


def measure(size: Size, folder: Path) -> list[Figure]:
    """Seconds, CPU, requests and bytes of each way."""
    rows = size.of(200_000, 2_000)
    _write(folder / "lake" / "t", _FILES, rows)
    _write(folder / "lake" / "many", size.of(200, 5), 1000)
    with s3_server(checks=False) as server, _proxy(server.endpoint.removeprefix("http://")) as endpoint:
        server.upload(folder / "lake", "one/lake")
        given = {**server.properties("admin"), "s3.endpoint": endpoint, "connector.name": "hive",
                 "hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "s3.db")}  # fmt: skip
        (folder / "catalogs").mkdir()
        lines = "".join(f"{key}={text}\n" for key, text in given.items())
        (folder / "catalogs" / "hive.properties").write_text(lines)
        with _session(folder) as session, _session(folder) as other:
            for name in ("t", "many"):
                session.sql(f"CALL hive.system.register_table('s', '{name}', 's3://one/lake/{name}')")
            other.sql("SET spark.lakeport.hive.native_reader = false")
            return _figures(_Ways(session, other, endpoint), rows, size.of(3, 1))


def _session(folder: Path) -> LocalSession:
    return lakeport.connect(catalogs=folder / "catalogs", engine="duckdb")


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run took: CPU seconds of this process, requests and bytes of the server; and its answer."""

    cpu: float
    requests: int
    size: int
    answer: str = ""


@dataclass(frozen=True, slots=True)
class _Ways:
    """The ways to read the table, of which each gets a query's text."""

    session: LocalSession
    other: LocalSession
    endpoint: str

    def of(self, query: str, words: Mapping[str, object]) -> dict[str, Callable[[], _Run]]:
        """By their names."""
        text = query.format(table="hive.s.t", many="hive.s.many", **words)
        return {
            "DuckDB's reader": lambda: self._run(lambda: self.session.sql(text).arrow()),
            "as Arrow": lambda: self._run(lambda: self.other.sql(text).arrow()),
            "planning alone": lambda: self._run(lambda: self.session.sql(text)),
        }

    def _run(self, read: Callable[[], object]) -> _Run:
        _counts(self.endpoint)
        begun = time.process_time()
        found = read()
        cpu = time.process_time() - begun
        counts = _counts(self.endpoint)
        answer = ""
        if isinstance(found, pa.Table):
            answer = str(found.num_rows if found.num_rows > 1 else [str(one.as_py()) for one in found.columns[-1]])
        return _Run(cpu, counts["requests"], counts["bytes"], answer)


def _figures(ways: _Ways, rows: int, rounds: int) -> list[Figure]:
    figures = []
    names = ", ".join(["id", *(f"c{at}" for at in range(8))])
    for name, query in _QUERIES.items():
        words = {"low": rows, "high": rows + rows * _FILES // 100, "all": names}
        taken = take_turns(ways.of(query, words), rounds)
        for way, found in taken.items():
            last = found.answer
            figures += [
                Figure(_GROUP, f"{name}: {way}", median(found.seconds) * 1000, "ms"),
                Figure(_GROUP, f"{name}: {way}, CPU", median(one.cpu for one in found.answers[1:]) * 1000, "ms"),
                Figure(_GROUP, f"{name}: {way}, requests", last.requests, "calls", note=f"{last.size / 1e6:.2f} MB"),
            ]
        answers = {found.answer.answer for found in taken.values()} - {""}
        assert len(answers) == 1, (name, answers)
    return figures


def _counts(endpoint: str) -> dict[str, int]:
    with urlopen(endpoint + COUNTS) as response:
        found: dict[str, int] = json.loads(response.read())
    return found


def _write(folder: Path, files: int, rows: int) -> None:
    folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    for at in range(files):
        columns = {"id": pa.array(range(at * rows, (at + 1) * rows), pa.int64())}
        columns |= {f"c{number}": pa.array(random.integers(0, 1 << 30, rows)) for number in range(7)}
        columns["c7"] = pa.array([f"name {number % 977}" for number in range(rows)])
        pq.write_table(
            pa.table(columns), folder / f"part-{at}.parquet", row_group_size=max(rows // 8, 1), compression="zstd"
        )


@contextmanager
def _proxy(upstream: str) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.harness.counting_proxy", upstream, str(_DELAY)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()
            process.wait(30)


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
