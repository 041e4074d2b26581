"""What travels of an insert into a Hive table."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.page_sink import Fragment, InsertHandle
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.schema.text_types import TextRule

__all__ = ["HiveFragment", "HiveInsertHandle"]


@dataclass(frozen=True, slots=True)
class HiveInsertHandle(InsertHandle):
    """Rows to come.

    Attributes:
        name: The table.
        storage: How its files are written.
        staging: Folder for the files until they are published; no reader looks into it.
        data_columns: Columns of the files, in order.
        partition_keys: Partition keys, in order; they come behind the other columns.
        text_rules: Columns with ``char`` or ``varchar`` in them, by name.
    """

    name: SchemaTableName
    storage: FileStorage
    staging: str
    data_columns: tuple[ColumnHandle, ...]
    partition_keys: tuple[ColumnHandle, ...]
    text_rules: tuple[tuple[str, TextRule], ...]


@dataclass(frozen=True, slots=True)
class HiveFragment(Fragment):
    """A file in the staging folder.

    Attributes:
        path: The file.
        partition: Texts of the partition's key values, in the order of the keys; empty where there are none.
        rows: Its rows.
        size: Its bytes.
    """

    path: str
    partition: tuple[str, ...]
    rows: int
    size: int

    @property
    def file_name(self) -> str:
        """The last component of the path."""
        return self.path.rpartition("/")[2]
