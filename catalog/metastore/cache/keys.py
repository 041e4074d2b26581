"""The questions to a metastore, as keys of the caches: equal where the answers are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from catalog.metastore.model import FieldSchema

if TYPE_CHECKING:
    from connector_spi.predicate import TupleDomain

__all__ = [
    "CallKey",
    "database_key",
    "databases_key",
    "filtered_names_key",
    "partition_key",
    "partition_names_key",
    "partition_statistics_key",
    "table_key",
    "table_statistics_key",
    "tables_key",
]

_DATABASES, _DATABASE, _TABLES, _TABLE = "databases", "database", "tables", "table"


class CallKey(NamedTuple):
    """A question; a tuple, since one is made for each partition of a scan.

    Attributes:
        call: What is asked.
        database: Its database in lower case; empty where it is about none.
        table: Its table in lower case; empty where it is about none.
        partition: Name of its partition; empty where it is about none, or about several.
        given: What else was given.
    """

    call: str
    database: str = ""
    table: str = ""
    partition: str = ""
    given: Hashable = None

    def is_about(self, database: str | None, table: str | None, partition: str | None) -> bool:
        """Whether the answer may change with a database, a table or a partition.

        With a database go the names of all databases, with a table those of its database's tables, with a partition
        those of the table's partitions and their statistics.

        Args:
            database: Name; ``None`` for all.
            table: Name of a table of the database; ``None`` for all of them.
            partition: Name of a partition of the table; ``None`` for all of them.
        """
        if database is None:
            return True
        if self.call == _DATABASES:
            return table is None
        if self.database != database.lower():
            return False
        if table is None or self.call == _TABLES:
            return partition is None
        if self.table != table.lower():
            return False
        return partition is None or (self.call != _TABLE and self.partition in ("", partition))


def databases_key() -> CallKey:
    """The names of all databases."""
    return CallKey(_DATABASES)


def database_key(name: str) -> CallKey:
    """A database."""
    return CallKey(_DATABASE, name.lower())


def tables_key(database: str) -> CallKey:
    """The names of a database's tables."""
    return CallKey(_TABLES, database.lower())


def table_key(database: str, table: str) -> CallKey:
    """A table."""
    return CallKey(_TABLE, database.lower(), table.lower())


def partition_names_key(database: str, table: str) -> CallKey:
    """The names of a table's partitions."""
    return CallKey("partition names", database.lower(), table.lower())


def filtered_names_key(
    database: str, table: str, predicate: TupleDomain[str], partition_keys: Sequence[FieldSchema]
) -> CallKey:
    """The names of the partitions that a filter leaves."""
    return CallKey("filtered names", database.lower(), table.lower(), given=(predicate, tuple(partition_keys)))


def partition_key(database: str, table: str, name: str) -> CallKey:
    """A partition."""
    return CallKey("partition", database.lower(), table.lower(), name)


def table_statistics_key(database: str, table: str, columns: Sequence[str]) -> CallKey:
    """Statistics of a table's columns."""
    return CallKey("table statistics", database.lower(), table.lower(), given=tuple(columns))


def partition_statistics_key(database: str, table: str, partitions: Sequence[str], columns: Sequence[str]) -> CallKey:
    """Statistics of columns of partitions."""
    return CallKey("partition statistics", database.lower(), table.lower(), given=(tuple(partitions), tuple(columns)))
