"""What a file format has to do for the hive connector. Executor side.

A new format is a module with a subclass of ``HiveFileFormat`` and an entry in ``registry``. A format whose files are
made of records that a SerDe decodes one by one (text, SequenceFile) asks ``row_serdes.find_row_serde`` for the SerDe.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from connector_spi.errors import ConnectorError, CorruptFileError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import TupleDomain, Value
from connectors.hive.file_columns import file_sources
from connectors.hive.formats.coercions.rules import ROW_RULES
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.text_types import TextRule, apply_text_rule
from connectors.toolkit.column_sources import ColumnSource
from connectors.toolkit.file_page_source import FilePageSource, SourceResolver, resolve_sources
from connectors.toolkit.filesystem import FileInfo, FileSystem, raise_storage_failure
from connectors.toolkit.schema_adapter import SchemaAdapter
from connectors.toolkit.time_conventions import TimeConventions

__all__ = ["DeclaredPageSource", "FileRequest", "FormatSettings", "HiveFileFormat", "declared_columns", "file_errors"]


@dataclass(frozen=True, slots=True)
class FormatSettings:
    """What a catalog says of its formats.

    Attributes:
        orc_by_name: Find columns of ORC files by name; else by place.
        parquet_by_name: Find columns of Parquet files by name; else by place.
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
        path: The file.
        start: First byte of the range.
        length: Bytes of the range.
        columns: What to read, in output order; nested types may be narrowed.
        constants: Values of the columns that are not read from the file, by name.
        predicate: Parts of the file that hold no row of it may be skipped.
        storage: How the file is written.
        declared: The columns that the partition, or else the table, declares for the file, in order. Formats whose
            files do not tell their columns read by it.
        table_columns: Names of the table's columns that files hold, in order.
        zone: The session's time zone.
        settings: The catalog's.
        declared_rules: What happens to texts of declared char and varchar columns, by name, where their types are not
            the table's.
        table_types: The table's types of these columns, where those of ``columns`` may be narrowed.
    """

    files: FileSystem
    path: str
    start: int
    length: int
    columns: tuple[ColumnHandle, ...]
    constants: Mapping[str, Value | None]
    predicate: TupleDomain[ColumnHandle]
    storage: FileStorage
    declared: pa.Schema
    table_columns: tuple[str, ...]
    zone: str
    settings: FormatSettings
    declared_rules: tuple[tuple[str, TextRule], ...] = ()
    table_types: tuple[pa.DataType, ...] = ()

    @property
    def properties(self) -> dict[str, str]:
        """What the SerDe is told."""
        return dict(self.storage.properties)

    @property
    def whole(self) -> dict[str, pa.DataType]:
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
        partition_columns: Files hold the columns that their partition declares; else the table's are looked for in
            them, whatever the partition declares.
        unions: Values of ``uniontype`` are read, as structs (``connectors.toolkit.union_structs``); ``reads_unions``
            may know more.
    """

    name: ClassVar[str]
    input_formats: ClassVar[frozenset[str]]
    serdes: ClassVar[frozenset[str]] = frozenset()
    partition_columns: ClassVar[bool] = True
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


class DeclaredPageSource(FilePageSource):
    """Reads a file whose columns are those that the metastore declares.

    A subclass gives the declared columns that are asked, in their declared types; they are brought into the form of
    the table's columns here, where the partition's differ or nested types are narrowed.
    """

    rules = ROW_RULES

    def __init__(self, request: FileRequest) -> None:
        super().__init__(
            request.files,
            request.path,
            request.start,
            request.length,
            request.columns,
            request.constants,
            request.predicate,
            sources=request.sources(by_name=False),
            whole=request.whole,
            zone=request.zone,
        )
        self.request = request

    @abstractmethod
    def read_declared(self, wanted: Sequence[int]) -> Generator[tuple[Sequence[pa.Array], int], None, None]:
        """Opens the file, gives its rows in batches and closes it, also when the generator is closed.

        Args:
            wanted: Positions of declared columns, sorted; may be empty, and then rows are counted.

        Returns:
            For each batch one array for each of ``wanted``, and the number of rows.
        """

    def read(self) -> Generator[pa.RecordBatch, None, None]:
        adapter = SchemaAdapter(
            self.request.declared,
            self.file_columns,
            sources=resolve_sources(self.sources, self.request.declared),
            conventions=TimeConventions(zone=self.zone),
            where=self.where.path,
            rules=self.rules,
            whole=self.whole,
        )
        rules = {self.request.declared.names.index(name): rule for name, rule in self.request.declared_rules}
        wanted = sorted({position for position in adapter.positions if position is not None})
        with closing(self.read_declared(wanted)) as batches:
            for arrays, rows in batches:
                known = {
                    at: apply_text_rule(array, rules[at]) if at in rules else array
                    for at, array in zip(wanted, arrays, strict=True)
                }
                found = [None if at is None else known[at] for at in adapter.positions]
                yield self.batch(adapter.adapt(found, rows), rows)

    def errors(self) -> AbstractContextManager[None]:
        return file_errors(self.where.path, self.request.storage.format)


def declared_columns(
    table_columns: Sequence[ColumnHandle], names: Sequence[str] | None, types: Sequence[pa.DataType] | None
) -> pa.Schema:
    """The columns that a partition, or else its table, declares for files.

    Args:
        table_columns: The table's columns that files hold, in order.
        names: The partition's own names, or ``None`` where they are the table's.
        types: Its own types, or ``None`` where they are the table's or the files tell them.
    """
    own_names = [column.name for column in table_columns] if names is None else list(names)
    own_types = [column.type for column in table_columns] if types is None else list(types)
    return pa.schema(list(zip(own_names, own_types, strict=False)))


@contextmanager
def file_errors(path: str, kind: str) -> Iterator[None]:
    """Maps what pyarrow and codecs raise about a file: to CorruptFileError, where storage did not fail."""
    try:
        yield
    except ConnectorError:
        raise
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise_storage_failure(error, path)
        reason = str(error).strip().partition("\n")[0]
        raise CorruptFileError(
            f"{path} cannot be read as {kind}: {reason}; it is truncated, damaged or of another format"
        ) from error
