"""Files that DuckDB reads through connectors: the file system for them is there from the first such file on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

import duckdb

from lakeport.duckdb.tables.native_files import Opening

if TYPE_CHECKING:
    from lakeport.duckdb.tables.opened_files import OpenedFileSystem, Opener, OpenFiles

__all__ = ["FarFiles", "ReadingQuery"]


class ReadingQuery(Protocol):
    """A query of DuckDB as those see it who give it its tables."""

    @property
    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Of its own."""

    def noted(self) -> AbstractContextManager[None]:
        """Around what DuckDB has done here: keeps the connector's errors, of which DuckDB gives the text alone."""

    def forget_errors(self) -> None:
        """Of an earlier read, or of files that are going to be read in another way."""

    def keep(self, files: OpenFiles) -> None:
        """Keeps files for as long as the query may read them."""


class FarFiles:
    """The files on far storage that DuckDB reads in one session. May be used by several threads.

    Args:
        database: Of the session.
    """

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._system: OpenedFileSystem | None = None

    def opening(self, query: ReadingQuery) -> Opening | None:
        """Has DuckDB open files for a query; ``None`` where fsspec is not installed."""
        if find_spec("fsspec") is None:
            return None

        def of_query(opener: Opener, errors: Callable[[], AbstractContextManager[None]]) -> OpenFiles:
            @contextmanager
            def noting() -> Iterator[None]:
                with query.noted(), errors():
                    yield

            return self._file_system().of_query(opener, noting)

        return of_query

    def _file_system(self) -> OpenedFileSystem:
        # Most sessions read local files, and fsspec takes a while to import.
        from lakeport.duckdb.tables.opened_files import OpenedFileSystem

        with self._lock:
            if self._system is None:
                self._system = OpenedFileSystem()
                self._database.register_filesystem(self._system)
            return self._system
