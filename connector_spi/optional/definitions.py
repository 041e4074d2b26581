"""What changes the definitions of schemas, tables and partitions, and what views are. Driver side.

Each protocol is an ability of a ``ConnectorMetadata``. No call changes rows of a table that stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from connector_spi.names import SchemaTableName
from connector_spi.schema import ColumnMetadata, TableBuckets
from connector_spi.session import ConnectorSession

__all__ = [
    "PartitionDefinition",
    "SupportsPartitionDefinition",
    "SupportsSchemaDefinition",
    "SupportsTableDefinition",
    "SupportsViews",
    "TableDefinition",
    "ViewDefinition",
    "ViewDialect",
]


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """What ``CREATE TABLE`` says.

    Attributes:
        name: Schema and table, lower case.
        columns: In the user's order, partition keys included. None at all: they are read from the files.
        partitioned_by: Names of the partition keys, in order.
        location: Folder of the files, a path or URI; ``None`` where the user names none.
        provider: What ``USING`` says, lower case; ``None`` where it is left out.
        comment: The user's words, or ``None``.
        properties: Of the table.
        storage: Words of ``STORED AS`` and ``ROW FORMAT`` by Spark's keys (``hive.stored-as``, ``hive.serde``,
            ``hive.input-format``, ``hive.output-format``), and options of the SerDe under ``option.``.
        buckets: What ``CLUSTERED BY`` says; ``None`` where it is left out. A connector without buckets refuses it.
    """

    name: SchemaTableName
    columns: tuple[ColumnMetadata, ...]
    partitioned_by: tuple[str, ...] = ()
    location: str | None = None
    provider: str | None = None
    comment: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    storage: tuple[tuple[str, str], ...] = ()
    buckets: TableBuckets | None = None


@dataclass(frozen=True, slots=True)
class PartitionDefinition:
    """A partition to add.

    Attributes:
        values: Values of the keys, in the order of the keys, as Python values; ``None`` is NULL.
        location: Its directory; ``None`` is the one that its name gives.
    """

    values: tuple[object, ...]
    location: str | None = None


class ViewDialect(Enum):
    """Whose SQL a view is written in."""

    HIVE = "hive"
    SPARK = "spark"
    TRINO = "trino"


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A view.

    Attributes:
        name: Schema and view.
        dialect: Whose SQL ``text`` is.
        text: The query.
        columns: What it shows, by name and type, in order; a comment stands with its column.
        catalog: Catalog of names in ``text`` that say none; ``None`` is the view's own.
        schema: Schema of names in ``text`` that say none; ``None`` where each says one.
        query_columns: Names of the query's columns, where they are known and others than the view's.
        settings: Of the SQL engine when the view was made, by Spark's keys.
        comment: The author's words, or ``None``.
        properties: Of the view; no secrets.
        owner: Whose rights count for what is below the view; ``None`` where that is not known.
        run_as_invoker: The rights of who reads the view count instead.
    """

    name: SchemaTableName
    dialect: ViewDialect
    text: str
    columns: tuple[ColumnMetadata, ...]
    catalog: str | None = None
    schema: str | None = None
    query_columns: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    comment: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    owner: str | None = None
    run_as_invoker: bool = False


@runtime_checkable
class SupportsSchemaDefinition(Protocol):
    """Metadata that makes and drops schemas."""

    def create_schema(self, session: ConnectorSession, schema: str, properties: Mapping[str, str]) -> None:
        """Makes a schema.

        Args:
            session: The statement.
            schema: Its name, lower case.
            properties: ``comment`` and ``location`` among them.

        Raises:
            UserError: It is there.
        """

    def set_schema_properties(self, session: ConnectorSession, schema: str, changes: Mapping[str, str | None]) -> None:
        """Sets properties of a schema, ``comment`` among them; ``None`` takes one away.

        Raises:
            SchemaNotFoundError: There is no such schema.
        """

    def drop_schema(self, session: ConnectorSession, schema: str, cascade: bool) -> None:
        """Drops a schema.

        Args:
            session: The statement.
            schema: Its name.
            cascade: Whether its tables go too, as by ``drop_table``.

        Raises:
            SchemaNotFoundError: There is no such schema.
            UserError: It is not empty, and ``cascade`` is false.
        """


@runtime_checkable
class SupportsTableDefinition(Protocol):
    """Metadata that makes, changes and drops tables."""

    def create_table(self, session: ConnectorSession, definition: TableDefinition) -> None:
        """Makes a table: over files that are there, or, where no location is given, an empty one.

        Raises:
            SchemaNotFoundError: There is no such schema.
            UserError: There is a table of this name, or something in its directory.
            NotSupportedError: It could not be read right.
        """

    def drop_table(self, session: ConnectorSession, name: SchemaTableName, purge: bool) -> None:
        """Drops a table or view; the files of an external table stay.

        Args:
            session: The statement.
            name: Its name.
            purge: Whether files go for good, past a trash.

        Raises:
            TableNotFoundError: There is no such table.
        """

    def rename_table(self, session: ConnectorSession, name: SchemaTableName, new_name: SchemaTableName) -> None:
        """Renames a table; files stay where they are.

        Raises:
            TableNotFoundError: There is no such table.
            UserError: The new name is taken.
        """

    def set_table_properties(
        self, session: ConnectorSession, name: SchemaTableName, changes: Mapping[str, str | None]
    ) -> None:
        """Sets properties of a table, ``comment`` among them; ``None`` takes one away.

        Raises:
            TableNotFoundError: There is no such table.
            NotSupportedError: A property that says what the rows are.
        """

    def set_column_comment(
        self, session: ConnectorSession, name: SchemaTableName, column: str, comment: str | None
    ) -> None:
        """Sets the comment of a column.

        Raises:
            TableNotFoundError: There is no such table.
            ColumnNotFoundError: There is no such column.
        """


@runtime_checkable
class SupportsPartitionDefinition(Protocol):
    """Metadata whose tables can be given partitions."""

    def add_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[PartitionDefinition]
    ) -> None:
        """Adds partitions over directories that exist: all of them, or none.

        Raises:
            UserError: One of them is there.
        """

    def drop_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[tuple[object, ...]]
    ) -> None:
        """Drops partitions by the values of their keys, all of them or none; files stay.

        Raises:
            UserError: One of them is not there.
        """


@runtime_checkable
class SupportsViews(Protocol):
    """Metadata that knows views. They are tables to ``list_tables``."""

    def get_view(self, session: ConnectorSession, name: SchemaTableName) -> ViewDefinition | None:
        """The view; ``None`` where no such view is, or a table has the name.

        Raises:
            NotSupportedError: It is a view that is not understood.
        """

    def list_views(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        """The views of a schema, sorted."""
