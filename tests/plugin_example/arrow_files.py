"""A whole plugin: the tables of a catalog are Arrow IPC files ``<folder>/<schema>/<table>.arrow``."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import connector_spi as spi

FOLDER = spi.string_property("arrow-files.folder", "Holds a folder for each schema.", required=True)
BATCH_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class ArrowTable(spi.TableHandle):
    name: spi.SchemaTableName
    path: str
    schema: pa.Schema
    size_bytes: int
    modified_nanos: int


@dataclass(frozen=True, slots=True)
class ArrowSplit(spi.Split):
    size_bytes: int


class ArrowMetadata(spi.ConnectorMetadata[ArrowTable]):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_schema_names(self, session: spi.ConnectorSession) -> list[str]:
        return sorted({path.name.lower() for path in list_folder(self._folder) if path.is_dir()})

    def list_tables(self, session: spi.ConnectorSession, schema: str) -> list[spi.SchemaTableName]:
        tables = {path.stem.lower() for path in self._files(schema)}
        return [spi.SchemaTableName(schema, table) for table in sorted(tables)]

    def get_table_handle(self, session: spi.ConnectorSession, name: spi.SchemaTableName) -> ArrowTable | None:
        # A name is compared with what is there, and never made into a path: it may hold "..", and files upper case.
        found = [path for path in self._files(name.schema) if path.stem.lower() == name.table]
        if len(found) > 1:
            raise spi.NotSupportedError(f"table {name} may be {found[0]} or {found[1]}; rename one")
        return read_table_handle(name, found[0]) if found else None

    def get_table_metadata(self, session: spi.ConnectorSession, table: ArrowTable) -> spi.TableMetadata:
        # Arrow lets NULLs be written to fields that are not nullable, so that nullable=False would be a lie.
        columns = tuple(spi.ColumnMetadata(field.name, field.type) for field in table.schema)
        return spi.TableMetadata(table.name, columns, properties=(("location", table.path),))

    def _files(self, schema: str) -> list[Path]:
        folders = [path for path in list_folder(self._folder) if path.is_dir() and path.name.lower() == schema]
        return [path for folder in folders for path in list_folder(folder) if path.suffix == ".arrow"]


class ArrowSplitManager(spi.SplitManager[ArrowTable, ArrowSplit]):
    def get_splits(
        self,
        transaction: spi.ConnectorTransaction,
        session: spi.ConnectorSession,
        table: ArrowTable,
        columns: tuple[spi.ColumnHandle, ...],
        dynamic_filter: spi.TupleDomain[spi.ColumnHandle],
    ) -> spi.SplitSource[ArrowSplit]:
        return spi.ListSplitSource([ArrowSplit(table.size_bytes)], spi.ScanSummary())


class ArrowPageSourceProvider(spi.GeneratorPageSourceProvider[ArrowTable, ArrowSplit]):
    def read(
        self, split: ArrowSplit, table: ArrowTable, columns: tuple[spi.ColumnHandle, ...]
    ) -> Iterator[pa.RecordBatch]:
        if read_table_handle(table.name, Path(table.path)) != table:
            raise spi.StorageError(f"{table.path} was written again while the query ran; run it again")
        with open_file(table.path) as reader:
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                batch.validate(full=True)
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS)


class ArrowFilesConnector(spi.Connector):
    split_manager = ArrowSplitManager()
    page_source_provider = ArrowPageSourceProvider()

    def __init__(self, folder: Path) -> None:
        self._metadata = ArrowMetadata(folder)

    def get_metadata(self, transaction: spi.ConnectorTransaction) -> spi.ConnectorMetadata:
        return self._metadata


class ArrowFilesFactory(spi.ConnectorFactory):
    name, spi_version, config_properties = "arrow_files", 2, (FOLDER,)

    def create(
        self, catalog: str, properties: spi.PropertyValues, context: spi.ConnectorContext
    ) -> ArrowFilesConnector:
        return ArrowFilesConnector(Path(properties.get(FOLDER)))


def list_folder(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise spi.StorageError(f"cannot list {folder}, a folder of the catalog: {error.strerror}") from error


def read_table_handle(name: spi.SchemaTableName, path: Path) -> ArrowTable:
    with open_file(str(path)) as reader:
        names, facts = [field.name.lower() for field in reader.schema], path.stat()
        if len(set(names)) < len(names):
            raise spi.NotSupportedError(f"{path} has columns {names}, some alike; expected names that differ")
        return ArrowTable(name, str(path), reader.schema, facts.st_size, facts.st_mtime_ns)


@contextmanager
def open_file(path: str) -> Iterator[pa.RecordBatchFileReader]:
    """Closes the file in any case, and is the one place where errors of files become errors of ours."""
    try:
        with pa.OSFile(path) as file, pa.ipc.open_file(file) as reader:
            yield reader
    except FileNotFoundError as error:
        raise spi.FileMissingError(f"{path} is not there any more") from error
    except pa.ArrowException as error:
        raise spi.CorruptFileError(f"{path} is not an Arrow IPC file, or is damaged: {error}") from error
    except OSError as error:
        raise spi.StorageError(f"cannot read {path}: {error}") from error
