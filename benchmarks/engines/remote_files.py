"""Parquet files on an S3 server in DuckDB: by its own reader through a file system of Python, and as Arrow.

The server is a test's, on loopback; each request takes 20 ms longer. The ways take turns at each question.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from urllib.request import urlopen

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec import AbstractFileSystem  # type: ignore[import-untyped]

import lakeport
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.counting_proxy import COUNTS
from benchmarks.harness.figures import Figure
from benchmarks.harness.turns import take_turns
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem
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
}


class StorageFiles(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Our storage as DuckDB asks for it. Files are opened once; a position is that of a thread.

    Args:
        files: The storage.
        known: The files, by their paths behind ``lakeport://``.
    """

    protocol = "lakeport"
    cachable = False

    def __init__(self, files: FileSystem, known: dict[str, FileInfo]) -> None:
        super().__init__()
        self._files = files
        self._known = known
        self._opened: dict[str, pa.NativeFile] = {}
        self._lock = threading.Lock()

    def open(self, path: str, mode: str = "rb", **settings: object) -> _OpenFile:
        """A file to be read."""
        name = self._strip_protocol(path)
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self._files.open(self._known[name].path)
        return _OpenFile(self._opened[name], self._known[name].size)

    def size(self, path: str) -> int:
        """Bytes, as listed."""
        return self._known[self._strip_protocol(path)].size

    def modified(self, path: str) -> datetime:
        """As listed."""
        return datetime.fromtimestamp(self._known[self._strip_protocol(path)].modified_millis / 1000, UTC)

    def exists(self, path: str, **settings: object) -> bool:
        """Whether it was listed."""
        return self._strip_protocol(path) in self._known

    def glob(self, path: str, **settings: object) -> list[str]:
        """The file itself."""
        return [path]


class _OpenFile:
    def __init__(self, file: pa.NativeFile, size: int) -> None:
        self._file = file
        self._size = size
        self._at = threading.local()

    def seek(self, position: int, whence: int = 0) -> int:
        self._at.value = position if whence == 0 else self._size + position
        return int(self._at.value)

    def tell(self) -> int:
        return int(getattr(self._at, "value", 0))

    def read(self, length: int = -1) -> bytes:
        at = self.tell()
        wanted = self._size - at if length < 0 else min(length, self._size - at)
        found: bytes = self._file.read_at(wanted, at) if wanted > 0 else b""
        self._at.value = at + len(found)
        return found

    def close(self) -> None:
        """Others may read the file."""


def measure(size: Size, folder: Path) -> list[Figure]:
    """Seconds, CPU, requests and bytes of each way."""
    rows = size.of(200_000, 2_000)
    _write(folder / "lake" / "t", rows)
    with s3_server(checks=False) as server, _proxy(server.endpoint.removeprefix("http://")) as endpoint:
        server.upload(folder / "lake", "one/lake")
        given = {**server.properties("admin"), "s3.endpoint": endpoint, "connector.name": "hive",
                 "hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "s3.db")}  # fmt: skip
        (folder / "catalogs").mkdir()
        lines = "".join(f"{key}={text}\n" for key, text in given.items())
        (folder / "catalogs" / "hive.properties").write_text(lines)
        options = tuple(sorted((key, text) for key, text in given.items() if key.startswith("s3.")))
        with lakeport.connect(catalogs=folder / "catalogs", engine="duckdb") as session:
            session.sql("CALL hive.system.register_table('s', 't', 's3://one/lake/t')")
            connection, table = _native(FileSystem(options), "s3://one/lake/t")
            return _figures(_Ways(session, connection, table, endpoint), rows, size.of(3, 1))


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
    connection: duckdb.DuckDBPyConnection
    files: str
    endpoint: str

    def of(self, query: str, words: Mapping[str, object]) -> dict[str, Callable[[], _Run]]:
        """By their names. Planning is a part of the first way, and would be one of the second."""
        ours, other = query.format(table="hive.s.t", **words), query.format(table=self.files, **words)
        return {
            "as Arrow": lambda: self._run(lambda: self.session.sql(ours).arrow()),
            "DuckDB": lambda: self._run(lambda: self.connection.sql(other).to_arrow_table()),
            "planning alone": lambda: self._run(lambda: self.session.sql(ours)),
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


def _native(files: FileSystem, folder: str) -> tuple[duckdb.DuckDBPyConnection, str]:
    connection = duckdb.connect()
    # It would have all bytes from the second round on.
    connection.execute("SET enable_external_file_cache = false")
    known = {f"{at}/{one.name}": one for at, one in enumerate(files.list(folder))}
    connection.register_filesystem(StorageFiles(files, known))
    paths = ", ".join(f"'lakeport://{path}'" for path in known)
    return connection, f"read_parquet([{paths}])"


def _write(folder: Path, rows: int) -> None:
    folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    for at in range(_FILES):
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
