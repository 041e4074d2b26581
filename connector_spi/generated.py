"""A connector of tables that generator functions make: no state, no pushdown, no class but a split."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.connector import Connector
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName
from connector_spi.page_source import GeneratorPageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.splits import ListSplitSource, ScanSummary, SplitManager

__all__ = ["GeneratedTable", "GeneratorConnector", "GeneratorSplit"]


class GeneratorSplit(Split):
    """A split that reads itself. Subclasses are frozen, slotted dataclasses of a module that tasks can import."""

    __slots__ = ()

    @property
    def size_bytes(self) -> int:
        """Not known: tasks get about equally many splits."""
        return 0

    @abstractmethod
    def read(self, columns: tuple[ColumnHandle, ...]) -> Iterator[pa.RecordBatch]:
        """Yields its rows in batches of bounded size. Executor side.

        Args:
            columns: What is needed. Batches may have more columns; nested ones may be whole.
        """


@dataclass(frozen=True, slots=True)
class GeneratedTable:
    """A table.

    Attributes:
        schema: Its columns.
        splits: Makes the splits of a scan.
    """

    schema: pa.Schema
    splits: Callable[[], Iterable[GeneratorSplit]]


class GeneratorConnector(Connector):
    """A catalog of such tables. Filters, limits and projections stay with the engine.

    Args:
        tables: By name, in lower case. What the mapping has may change; a table once there has to stay the same.
    """

    def __init__(self, tables: Mapping[SchemaTableName, GeneratedTable]) -> None:
        self._metadata = _Metadata(tables)
        self._split_manager = _SplitManager(tables)

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        return self._metadata

    @property
    def split_manager(self) -> SplitManager:
        return self._split_manager

    @property
    def page_source_provider(self) -> GeneratorPageSourceProvider:
        return _PageSourceProvider()


@dataclass(frozen=True, slots=True)
class _Table(TableHandle):
    name: SchemaTableName
    schema: pa.Schema


class _Metadata(ConnectorMetadata[_Table]):
    def __init__(self, tables: Mapping[SchemaTableName, GeneratedTable]) -> None:
        self._tables = tables

    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        return sorted({name.schema for name in self._tables})

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        return sorted((name for name in self._tables if name.schema == schema), key=str)

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> _Table | None:
        found = self._tables.get(name)
        return None if found is None else _Table(name, found.schema)

    def get_table_metadata(self, session: ConnectorSession, table: _Table) -> TableMetadata:
        columns = tuple(ColumnMetadata(field.name, field.type, field.nullable) for field in table.schema)
        return TableMetadata(table.name, columns)


class _SplitManager(SplitManager[_Table, GeneratorSplit]):
    def __init__(self, tables: Mapping[SchemaTableName, GeneratedTable]) -> None:
        self._tables = tables

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: _Table,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> ListSplitSource[GeneratorSplit]:
        return ListSplitSource(list(self._tables[table.name].splits()), ScanSummary())


class _PageSourceProvider(GeneratorPageSourceProvider[_Table, GeneratorSplit]):
    def read(self, split: GeneratorSplit, table: _Table, columns: tuple[ColumnHandle, ...]) -> Iterator[pa.RecordBatch]:
        return split.read(columns)
