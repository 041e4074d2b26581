"""The writes where there may be none: of a catalog with ``hive.read-only=true``, of a metastore that only reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from catalog.metastore.client import MetastoreWriter
from catalog.metastore.model import ColumnStatistics, Database, Parameters, Partition, Table
from connector_spi.errors import ErrorCode, ErrorType, NotSupportedError
from connector_spi.properties import boolean_property

__all__ = ["READ_ONLY", "READ_ONLY_CATALOG", "ReadOnlyWriter", "read_only_catalog", "read_only_metastore"]

READ_ONLY = boolean_property("hive.read-only", "Whether everything that would change the metastore is refused.", False)
"""The catalog property."""
READ_ONLY_CATALOG = ErrorCode("READ_ONLY_CATALOG", ErrorType.USER_ERROR)
"""The statement would write, and the catalog does not: most write no rows, and ``hive.read-only`` forbids the rest.


"""


class ReadOnlyWriter(MetastoreWriter):
    """Refuses every write, before anything is done.

    Args:
        why: Completes the message: the reason and the way out.
        deletes_files: As the writer says that stands behind.
    """

    def __init__(self, why: str, *, deletes_files: bool = True) -> None:
        self._why = why
        self.deletes_files = deletes_files

    def check_allowed(self, what: str) -> None:
        self._refuse(what)

    def create_database(self, database: Database) -> None:
        self._refuse("create a schema")

    def alter_database(self, database: Database) -> None:
        self._refuse("change a schema")

    def create_table(self, table: Table) -> None:
        self._refuse("create a table")

    def planned_location(self, table: Table) -> str:
        self._refuse("create a table")

    def alter_table(self, database: str, name: str, table: Table) -> None:
        self._refuse("change a table")

    def drop_table(self, database: str, name: str, delete_data: bool = False, purge: bool = False) -> None:
        self._refuse("drop a table")

    def drop_database(self, name: str, cascade: bool = False) -> None:
        self._refuse("drop a schema")

    def add_partitions(self, database: str, table: str, partitions: Sequence[Partition]) -> None:
        self._refuse("add partitions")

    def drop_partitions(self, database: str, table: str, names: Sequence[str]) -> None:
        self._refuse("drop partitions")

    def set_partition_parameters(self, database: str, table: str, parameters: Mapping[str, Parameters]) -> None:
        self._refuse("change partitions")

    def set_table_statistics(self, database: str, table: str, statistics: Sequence[ColumnStatistics]) -> None:
        self._refuse("set statistics")

    def set_partition_statistics(
        self, database: str, table: str, statistics: Mapping[str, Sequence[ColumnStatistics]]
    ) -> None:
        self._refuse("set statistics")

    def drop_table_statistics(self, database: str, table: str, columns: Sequence[str]) -> None:
        self._refuse("drop statistics")

    def drop_partition_statistics(
        self, database: str, table: str, columns: Sequence[str], partitions: Sequence[str]
    ) -> None:
        self._refuse("drop statistics")

    def _refuse(self, what: str) -> NoReturn:
        raise NotSupportedError(f"cannot {what}: {self._why}", READ_ONLY_CATALOG)


def read_only_catalog() -> str:
    """Why a catalog with ``hive.read-only=true`` refuses."""
    return f"the catalog is read-only; set {READ_ONLY.name}=false in its properties to allow it"


def read_only_metastore(metastore: str) -> str:
    """Why a catalog refuses whose metastore has no writes.

    Args:
        metastore: The metastore, for the message.
    """
    return f"the metastore ({metastore}) can only be read here; do it with the metastore's own tools"
