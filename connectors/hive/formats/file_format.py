"""What a file format has to do for the hive connector. Executor side.

A new format is a module with a subclass of ``HiveFileFormat`` and an entry in ``registry``. A format whose files are
made of records that a SerDe decodes one by one (text, SequenceFile) asks ``row_serdes.find_row_serde`` for the SerDe.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from connector_spi.page_source import PageSource
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.schema.file_columns import file_sources
from connectors.hive.schema.text_types import TextRule
from connectors.toolkit.read.file_read import FileRead, SourceResolver
from connectors.toolkit.schema.column_sources import ColumnSource
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["FileRequest", "FormatSettings", "HiveFileFormat"]


@dataclass(frozen=True, slots=True)
class FormatSettings:
    """What a catalog says of its formats.

    Attributes:
        orc_by_name: Find columns of ORC files by name; else by position.
        parquet_by_name: Find columns of Parquet files by name; else by position.
        parquet_zone: Zone of Parquet's instants where the file names none; empty for the session's.
        orc_zone: Zone in which instants of ORC files are shown in columns of wall-clock times; empty for the session's.
        avro_schema_hosts: Web servers that schemas of Avro tables may be fetched from, in lower case.
        binary_zone: Zone in which the writer of LazyBinary SerDes took timestamps for instants; ``UTC`` for Hive since
            3.1.
    """

    orc_by_name: bool = False
    parquet_by_name: bool = True
    parquet_zone: str = ""
    binary_zone: str = "UTC"
    orc_zone: str = ""
    avro_schema_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A range of a file to be read.

    Attributes:
        files: Storage.
        read: What to read of it, in the session's time zone. A format says where columns are and how types are cast.
        storage: How the file is written.
        declared: The columns that the partition, or else the table, declares for the file, in order. Formats whose
            files do not tell their columns read by it.
        table_columns: Names of the table's columns that files hold, in order.
        settings: The catalog's.
        declared_rules: What happens to texts of declared char and varchar columns, by name, where their types are not
            the table's.
        table_types: The table's types of these columns, where those of the columns read may be narrowed.
    """

    files: FileSystem
    read: FileRead
    storage: FileStorage
    declared: pa.Schema
    table_columns: tuple[str, ...]
    settings: FormatSettings
    declared_rules: tuple[tuple[str, TextRule], ...] = ()
    table_types: tuple[pa.DataType, ...] = ()

    @property
    def properties(self) -> dict[str, str]:
        """The properties of the SerDe."""
        return dict(self.storage.properties)

    @property
    def types_by_column(self) -> dict[str, pa.DataType]:
        """The table's types, by column."""
        return dict(zip(self.table_columns, self.table_types, strict=False))

    def sources(self, *, by_name: bool, position_names: bool = True) -> SourceResolver:
        """Where the table's columns are in a file; see ``file_sources``."""

        def resolve(schema: pa.Schema) -> Mapping[str, ColumnSource]:
            return file_sources(schema, self.table_columns, by_name=by_name, position_names=position_names)

        return resolve


class HiveFileFormat(ABC):
    """A file format.

    Attributes:
        name: Its name, lower case.
        input_formats: Java classes of the input formats that it serves.
        serdes: Java classes of the SerDes that it serves; ``serves`` may know more.
        asks_partition_columns: Files hold the columns that their partition declares; else the table's are looked for in
            them, whatever the partition declares.
        unions: Values of ``uniontype`` are read, as structs (``connectors.toolkit.schema.union_structs``);
            ``reads_unions`` may know more.
        spi_version: As ``connector_spi.ConnectorFactory.spi_version``; each plugin has one.
    """

    spi_version: ClassVar[int]
    name: ClassVar[str]
    input_formats: ClassVar[frozenset[str]]
    serdes: ClassVar[frozenset[str]] = frozenset()
    asks_partition_columns: ClassVar[bool] = True
    unions: ClassVar[bool] = False

    def serves(self, serde: str) -> bool:
        """Whether files of this format can be read with a SerDe."""
        return serde in self.serdes

    def reads_unions(self, serde: str) -> bool:
        """Whether columns of ``uniontype`` can be read with a SerDe that the format serves."""
        return self.unions

    def check(self, storage: FileStorage, declared: pa.Schema, where: str) -> None:
        """Refuses by name what ``page_source`` would refuse, before a query is planned.

        Args:
            storage: How files are written.
            declared: The columns in order, of Arrow's types.
            where: Names the table or partition for messages.

        Raises:
            NotSupportedError: A property, or a column's type, is not understood.
        """

    def splittable(self, path: str, storage: FileStorage) -> bool:
        """Whether ranges of a file can be read apart; else there is one range, all of the file."""
        return True

    def data_files(self, files: FileSystem, listed: FileInfo) -> Sequence[FileInfo]:
        """The files with rows that a file of the table's folder stands for: mostly itself. Driver side, in threads.

        Raises:
            FileMissingError: It names a file that is not there.
        """
        return (listed,)

    @abstractmethod
    def page_source(self, request: FileRequest) -> PageSource:
        """Reads a range of a file. Ranges that cover a file partition its rows. Opens nothing yet."""
