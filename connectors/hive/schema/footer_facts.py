"""What footers say of files, for the choice of their reader; kept by path, size and modification time. Driver side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

import pyarrow as pa

from connectors.toolkit.caching.cache_state import registered
from connectors.toolkit.caching.process_cache import ProcessCache
from connectors.toolkit.caching.settled import is_settled, now_millis
from connectors.toolkit.orc.footer import OrcFooter, read_orc_footer
from connectors.toolkit.orc.plain_times import is_of_utc
from connectors.toolkit.orc.reader import orc_errors, read_orc_schema
from connectors.toolkit.parquet.footer import typed_schema
from connectors.toolkit.parquet.reader import open_parquet, parquet_errors
from connectors.toolkit.schema.time_conventions import TimeConventions, parquet_conventions
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["FOOTER_CACHE", "FooterFacts", "ParquetFacts"]

T = TypeVar("T")

_COLUMN_BYTES = 300
_STRIPE_BYTES = 150


@dataclass(frozen=True, slots=True)
class ParquetFacts:
    """What a footer of Parquet says.

    Attributes:
        schema: Columns; those of INT96 are marked.
        times: What its dates and times mean.
        parquet_mr: Whether Java's library wrote it.
    """

    schema: pa.Schema
    times: TimeConventions
    parquet_mr: bool


@dataclass(frozen=True, slots=True)
class _Key:
    """Storage with what it is reached by, a file as it was listed, and what is asked of it."""

    files: FileSystem
    file: FileInfo
    asked: str


def _size_of(facts: object) -> int:
    if isinstance(facts, OrcFooter):
        content = len(facts.stripe_statistics.content or b"")
        return _STRIPE_BYTES * len(facts.stripes) + sum(map(len, facts.statistics)) + content
    schema = facts.schema if isinstance(facts, ParquetFacts) else facts
    return _COLUMN_BYTES * (1 + (len(schema) if isinstance(schema, pa.Schema) else 0))


FOOTER_CACHE: ProcessCache[_Key, object] = registered(ProcessCache("hive-footers", _size_of))
"""The cache of this process."""


class FooterFacts:
    """Reads footers that are not kept.

    Args:
        files: Storage.
        memory: Most bytes that the process keeps; 0 keeps nothing.
        parquet_zone: Zone in which instants of Parquet files are shown where the file names none.
    """

    def __init__(self, files: FileSystem, memory: int, parquet_zone: str) -> None:
        self._files = files
        self._memory = memory
        self._parquet_zone = parquet_zone

    def parquet(self, file: FileInfo) -> ParquetFacts:
        """Of a Parquet file.

        Raises:
            CorruptFileError: It is damaged.
        """
        return self._kept(file, f"parquet in {self._parquet_zone}", lambda: self._parquet(file.path))

    def orc_schema(self, file: FileInfo) -> pa.Schema:
        """The columns of an ORC file.

        Raises:
            CorruptFileError: It is damaged.
        """
        return self._kept(file, "ORC schema", lambda: read_orc_schema(self._files, file.path))

    def orc_footer(self, file: FileInfo) -> OrcFooter:
        """The footer of an ORC file.

        Raises:
            CorruptFileError: It is damaged.
        """

        def read() -> OrcFooter:
            with self._files.open(file.path) as source, orc_errors(file.path):
                return read_orc_footer(source, file.path)

        return self._kept(file, "ORC footer", read)

    def orc_of_utc(self, file: FileInfo) -> bool:
        """Whether an ORC file was written in UTC.

        Raises:
            CorruptFileError: It is damaged.
        """
        footer = self.orc_footer(file)

        def read() -> bool:
            with self._files.open(file.path) as source, orc_errors(file.path):
                return is_of_utc(source, footer, file.path)

        return self._kept(file, "ORC in UTC", read)

    def _parquet(self, path: str) -> ParquetFacts:
        file = open_parquet(self._files, path)
        try:
            with parquet_errors(path):
                footer = file.metadata
                times = parquet_conventions(footer.metadata, footer.created_by, self._parquet_zone)
                return ParquetFacts(typed_schema(file), times, (footer.created_by or "").startswith("parquet-mr"))
        finally:
            file.close(force=True)

    def _kept(self, file: FileInfo, asked: str, read: Callable[[], T]) -> T:
        if self._memory <= 0 or not is_settled(file.modified_millis, now_millis()):
            return read()
        return cast("T", FOOTER_CACHE.get(_Key(self._files, file, asked), read, self._memory))
