"""A guarded catalog opens files for engines where all of a table is shown, and none else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from catalog.guard.handles import GuardedTable
from catalog.guard.page_sources import guarded_provider
from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.native_files import OpenedFile, SupportsFileOpening
from connector_spi.page_source import GeneratorPageSourceProvider
from connector_spi.session import ConnectorSession

_FILE = NativeFile("parquet", "s3://bucket/f", 0, 4, 4, 0)
_SESSION = ConnectorSession("q", "ada", "UTC", datetime(2026, 1, 1, tzinfo=UTC))
_NAME = SchemaTableName("s", "t")


@dataclass(frozen=True, slots=True)
class _Table(TableHandle):
    name: str = "t"


class _Bytes:
    def read_at(self, offset: int, length: int) -> bytes:
        return b"PAR1"[offset : offset + length]

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class _Closed(GeneratorPageSourceProvider[TableHandle, Split]):
    def read(self, split: Split, table: TableHandle, columns: tuple[ColumnHandle, ...]) -> Iterator[pa.RecordBatch]:
        yield from ()


@dataclass(frozen=True, slots=True)
class _Opening(_Closed):
    def open_file(self, session: ConnectorSession, table: TableHandle, file: NativeFile) -> OpenedFile:
        assert isinstance(table, _Table)
        return _Bytes()


def test_the_ability_is_the_connectors_own() -> None:
    assert isinstance(guarded_provider(_Opening()), SupportsFileOpening)
    assert not isinstance(guarded_provider(_Closed()), SupportsFileOpening)


def test_files_of_tables_that_are_shown_in_part() -> None:
    provider = guarded_provider(_Opening())
    assert isinstance(provider, SupportsFileOpening)
    assert provider.open_file(_SESSION, GuardedTable(_NAME, _Table()), _FILE).read_at(0, 4) == b"PAR1"
    for table in (
        GuardedTable(_NAME, _Table(), hidden=frozenset({"salary"})),
        GuardedTable(_NAME, _Table(), unreadable=frozenset({"salary"})),
        _Table(),
    ):
        with pytest.raises(InternalError, match="a file is asked for"):
            provider.open_file(_SESSION, table, _FILE)
