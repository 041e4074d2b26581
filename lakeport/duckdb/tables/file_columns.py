"""Columns of Parquet files by their footers, which are kept."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import duckdb

__all__ = ["FileColumns", "Footers", "KnownFile"]

# Files with the same columns share what is kept of these, so that a file costs little more than its path.
_MOST_KEPT = 50_000
_CHUNK = 256
_THREADS = min(8, 2 * (os.cpu_count() or 1))
_FAR_THREADS = 16
# Spark 2, and later ones if asked, wrote dates before 1582 in a calendar that DuckDB does not know.
_READ = """
    WITH old AS (
        SELECT DISTINCT file_name FROM parquet_kv_metadata($files)
        WHERE key::VARCHAR = 'org.apache.spark.legacyDateTime'
           OR (key::VARCHAR = 'org.apache.spark.version' AND value::VARCHAR < '3')
    ), found AS (
        SELECT file_name, list_sort(list([name, duckdb_type])) AS fields FROM parquet_schema($files) GROUP BY file_name
    )
    SELECT fields, old.file_name IS NOT NULL, list(found.file_name) FROM found LEFT JOIN old USING (file_name)
    GROUP BY ALL
"""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was listed.

    Attributes:
        location: As the connector names it.
        size: Bytes.
        modified_millis: Modification time, milliseconds since 1970, UTC.
        path: By which DuckDB reads it in this query.
    """

    location: str
    size: int
    modified_millis: int
    path: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class FileColumns:
    """What a file holds.

    Attributes:
        fields: Names and DuckDB's types, with those inside of nested types, in no order.
        may_have_old_dates: Dates may be of a calendar that DuckDB does not know.
    """

    fields: tuple[tuple[str, str | None], ...]
    may_have_old_dates: bool


class Footers:
    """What files hold, kept by path, size and time. May be used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[KnownFile, FileColumns] = OrderedDict()

    def columns(self, connection: duckdb.DuckDBPyConnection, files: Sequence[KnownFile]) -> set[FileColumns]:
        """What files hold, each combination once; footers that are not known are read by several threads.

        Raises:
            duckdb.Error: A footer could not be read.
        """
        with self._lock:
            found = {file: self._kept[file] for file in files if file in self._kept}
        missing = [file for file in files if file not in found]
        if missing:
            found.update(_read_all(connection, missing))
            with self._lock:
                shared = {columns: columns for columns in self._kept.values()}
                self._kept.update((file, shared.setdefault(one, one)) for file, one in found.items())
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
        return set(found.values())


def _read_all(
    connection: duckdb.DuckDBPyConnection, files: Sequence[KnownFile]
) -> Iterable[tuple[KnownFile, FileColumns]]:
    # DuckDB reads the footers of a list one after the other: on far storage these are two requests each.
    is_far = any("://" in file.path for file in files)
    size, most = (max(1, len(files) // _FAR_THREADS), _FAR_THREADS) if is_far else (_CHUNK, _THREADS)
    chunks = [files[at : at + size] for at in range(0, len(files), size)]
    if len(chunks) == 1:
        return _read(connection, files)
    with ThreadPoolExecutor(min(most, len(chunks))) as threads:
        return [one for found in threads.map(lambda chunk: _read(connection, chunk), chunks) for one in found]


def _read(connection: duckdb.DuckDBPyConnection, files: Iterable[KnownFile]) -> list[tuple[KnownFile, FileColumns]]:
    by_path = {file.path: file for file in files}
    with connection.cursor() as cursor:
        rows = cursor.execute(_READ, {"files": list(by_path)}).fetchall()
    return [
        (by_path[path], columns)
        for fields, old, paths in rows
        for columns in [FileColumns(tuple((name, written) for name, written in fields), old)]
        for path in paths
    ]
