"""DuckDB's own reader in a process of its own, so that what it holds is not counted as ours."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb

__all__ = ["OwnReader", "own_reader"]

Rows = list[tuple[object, ...]]


class OwnReader:
    """Asks DuckDB in the other process.

    Args:
        connection: To that process.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(self, text: str) -> Rows:
        """The rows of a query.

        Raises:
            RuntimeError: It failed.
        """
        self._connection.send(text)
        answer = self._connection.recv()
        if isinstance(answer, str):
            raise RuntimeError(f"DuckDB's own: {answer}")
        return list(answer)


@contextmanager
def own_reader(folder: Path, tables: Sequence[str], settings: Mapping[str, str]) -> Iterator[OwnReader]:
    """DuckDB over the Parquet files of tables.

    Args:
        folder: Has a folder for each table.
        tables: Names of both.
        settings: Of DuckDB.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, folder, tables, dict(settings)), daemon=True)
    process.start()
    theirs.close()
    try:
        yield OwnReader(ours)
    finally:
        ours.close()
        process.join()


def _serve(connection: Connection, folder: Path, tables: Sequence[str], settings: dict[str, str]) -> None:
    with duckdb.connect() as database:
        database.execute("SET enable_progress_bar = false")
        for name, value in settings.items():
            database.execute(f"SET {name} = $value", {"value": value})
        for table in tables:
            database.execute(f"CREATE VIEW {table} AS FROM read_parquet('{folder / table}/**/*.parquet')")
        while True:
            try:
                text = connection.recv()
            except EOFError:
                return
            try:
                connection.send(database.execute(text).fetchall())
            except duckdb.Error as error:
                connection.send(str(error))
