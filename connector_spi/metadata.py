"""What a catalog holds, and what its tables can take over from the engine. Driver side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Generic, Protocol, runtime_checkable

from connector_spi.handles import ColumnHandle, Split, TableHandle, TableT_co
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import ConnectorExpression, Constraint, TupleDomain
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.statistics import TableStatistics
from connector_spi.system_tables import SystemTable

__all__ = [
    "ConnectorMetadata",
    "FilterApplication",
    "LimitApplication",
    "ProjectionApplication",
    "SupportsColumnStatistics",
    "SupportsFooterStatistics",
    "SupportsLimit",
    "SupportsPartitionListing",
    "SupportsStatistics",
    "SupportsTableRedirection",
    "SupportsTimeTravel",
    "TableRedirection",
    "TableVersion",
    "VersionKind",
]


@dataclass(frozen=True, slots=True)
class FilterApplication:
    """A filter that a table took over.

    Attributes:
        table: The handle with the filter in it.
        remaining: What the engine must check again, row by row. A connector leaves out only what it guarantees
            exactly for every row, such as a partition key.
        applied: Those of the constraint's expressions that it guarantees exactly for every row; the engine checks the
            others again.
    """

    table: TableHandle
    remaining: TupleDomain[ColumnHandle]
    applied: tuple[ConnectorExpression, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectionApplication:
    """Columns that a table took over: the handle, and the columns to read, in the asked order."""

    table: TableHandle
    columns: tuple[ColumnHandle, ...]


@dataclass(frozen=True, slots=True)
class LimitApplication:
    """A limit that a table took over; ``guaranteed`` says that never more rows come."""

    table: TableHandle
    guaranteed: bool


class ConnectorMetadata(ABC, Generic[TableT_co]):
    """Answers of one catalog inside of one transaction; one thread at a time.

    ``ConnectorMetadata[MyTable]`` is given handles of ``MyTable`` only.

    Names come in lower case. ``apply_*`` methods return ``None`` when nothing changes: a connector that keeps
    returning new handles makes the engine raise InternalError.
    """

    @property
    def most_filter_values(self) -> int:
        """How many values of a column ``apply_filter`` is offered; longer lists come as half as many ranges."""
        return 1000

    @abstractmethod
    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        """All schemas, sorted."""

    def schema_exists(self, session: ConnectorSession, schema: str) -> bool:
        """Whether the schema is there."""
        return schema in self.list_schema_names(session)

    def get_schema_properties(self, session: ConnectorSession, schema: str) -> Mapping[str, str]:
        """Comment, location and the like of a schema that exists."""
        return {}

    @abstractmethod
    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        """Tables and views of a schema, sorted; none for an unknown schema."""

    @abstractmethod
    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> TableT_co | None:
        """The table at its newest snapshot; ``None`` where no such table or schema is.

        The engine asks once for each transaction, name and version (and for each setting of session properties), and
        keeps the handle for all reads of the transaction: a connector need not remember what it gave. It asks again
        after a definition or a procedure of the same transaction, and while the table is missing.

        Raises:
            NotSupportedError: The table is there but cannot be read right (invariant I7).
        """

    @abstractmethod
    def get_table_metadata(self, session: ConnectorSession, table: TableT_co) -> TableMetadata:  # type: ignore[misc]
        """Columns, hidden ones included, and properties of a table."""

    def get_column_handles(self, session: ConnectorSession, table: TableT_co) -> Mapping[str, ColumnHandle]:  # type: ignore[misc]
        """A handle for each column of the metadata, by name, in order."""
        columns = self.get_table_metadata(session, table).columns
        return {column.name: ColumnHandle(column.name, column.type) for column in columns}

    def get_system_table(self, session: ConnectorSession, name: SystemTableName) -> SystemTable | None:
        """The table ``base$kind``; ``None`` where there is none."""
        return None

    def list_system_table_kinds(self) -> Sequence[str]:
        """The kinds that ``get_system_table`` knows, sorted: for completion and for messages."""
        return ()

    def apply_filter(
        self,
        session: ConnectorSession,
        table: TableT_co,  # type: ignore[misc]  # see TableT_co
        constraint: Constraint,
    ) -> FilterApplication | None:
        """Offers a filter; it is added to what the handle has.

        Args:
            session: The query.
            table: The handle so far.
            constraint: Never NONE. What a TupleDomain cannot say is there as expressions, and as words.
        """
        return None

    def apply_projection(
        self,
        session: ConnectorSession,
        table: TableT_co,  # type: ignore[misc]  # see TableT_co
        columns: tuple[ColumnHandle, ...],
    ) -> ProjectionApplication | None:
        """Offers the columns that the query reads, in output order, nested types narrowed to the fields used."""
        return None


class VersionKind(Enum):
    """``VERSION AS OF`` or ``TIMESTAMP AS OF``."""

    VERSION = "version"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True, slots=True)
class TableVersion:
    """An older state of a table.

    Attributes:
        kind: Which clause the user wrote.
        value: The text of a version, or an aware UTC datetime.
    """

    kind: VersionKind
    value: str | datetime


@dataclass(frozen=True, slots=True)
class TableRedirection:
    """Where a table of another kind can be read.

    Attributes:
        connector_name: Kind of connector that reads it, as in ``connector.name``.
        name: Schema and table there.
        properties: Properties of a catalog of that kind that finds it, as a catalog file has them; not shown, since
            secrets may be among them.
    """

    connector_name: str
    name: SchemaTableName
    properties: tuple[tuple[str, str], ...] = field(repr=False)


@runtime_checkable
class SupportsTableRedirection(Protocol):
    """Metadata that knows which of its tables another kind of connector has to read."""

    def redirect_table(self, session: ConnectorSession, name: SchemaTableName) -> TableRedirection | None:
        """Asked before ``get_table_handle``; ``None`` for tables that this connector reads, or that are not there."""


@runtime_checkable
class SupportsLimit(Protocol):
    """Metadata whose tables use a limit."""

    def apply_limit(self, session: ConnectorSession, table: TableHandle, limit: int) -> LimitApplication | None:
        """Offers a limit; ``None`` when nothing changes.

        Offered after filter and columns, and only while the engine has nothing of a filter left to check. So it counts
        the rows that the handle's own filter lets through, of the whole scan and not of each split.
        """


@runtime_checkable
class SupportsStatistics(Protocol):
    """Metadata that knows sizes or values without reading data."""

    def get_table_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        """Statistics of what the handle would read; must be cheap against the read itself."""


@runtime_checkable
class SupportsColumnStatistics(Protocol):
    """Metadata that knows more of columns than planning a scan is worth."""

    def get_column_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        """As ``get_table_statistics``, with all that is known of columns; for ``SHOW STATS``, and for plans by cost."""


@runtime_checkable
class SupportsFooterStatistics(Protocol):
    """Metadata whose files say what is in them, for plans by cost of tables without other statistics."""

    def get_footer_statistics(
        self, session: ConnectorSession, table: TableHandle, splits: Sequence[Split], columns: Sequence[ColumnHandle]
    ) -> TableStatistics | None:
        """What the files of a scan say of its rows: how many there are, and NULLs and bounds of columns.

        Asked only where other statistics are missing, as each file may have to be opened.

        Args:
            session: The statement.
            table: The handle that the splits were made for.
            splits: All splits of the scan.
            columns: The columns of which something is asked.

        Returns:
            What is known, of some of the columns; ``None`` where it is not, or where it would take long.
        """


@runtime_checkable
class SupportsTimeTravel(Protocol):
    """Metadata whose tables have older states."""

    def get_table_handle_at(
        self, session: ConnectorSession, name: SchemaTableName, version: TableVersion
    ) -> TableHandle | None:
        """The table as it was; ``None`` where no such table is. Asked once, as ``get_table_handle`` is.

        Raises:
            InvalidArgumentError: The version is not one of the table, or is no longer there; says what is.
        """


@runtime_checkable
class SupportsPartitionListing(Protocol):
    """Metadata whose tables have partitions with typed keys."""

    def list_partitions(
        self, session: ConnectorSession, table: TableHandle, constraint: TupleDomain[str]
    ) -> Sequence[tuple[object, ...]]:
        """Key values of each partition, in the order of ``TableMetadata.partitioned_by``, sorted by name.

        Args:
            session: The query.
            table: The table.
            constraint: By key name; partitions outside of it may be left out.
        """
