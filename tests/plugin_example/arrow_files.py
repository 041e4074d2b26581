"""A whole plugin: the tables of a catalog are Arrow IPC files ``<folder>/<schema>/<table>.arrow``."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import connector_spi as spi

FOLDER = spi.string_property("arrow-files.folder", "Holds a folder for each schema.", required=True)


@dataclass(frozen=True, slots=True)
class ArrowTable(spi.TableHandle):
    name: spi.SchemaTableName
    path: str
    schema: pa.Schema


@dataclass(frozen=True, slots=True)
class ArrowSplit(spi.Split):
    path: str
    size_bytes: int


class ArrowMetadata(spi.ConnectorMetadata[ArrowTable]):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def list_schema_names(self, session: spi.ConnectorSession) -> list[str]:
        return sorted(path.name for path in self._folder.iterdir() if path.is_dir())

    def list_tables(self, session: spi.ConnectorSession, schema: str) -> list[spi.SchemaTableName]:
        return [spi.SchemaTableName(schema, path.stem) for path in sorted(self._folder.glob(f"{schema}/*.arrow"))]

    def get_table_handle(self, session: spi.ConnectorSession, name: spi.SchemaTableName) -> ArrowTable | None:
        path = self._folder / name.schema / f"{name.table}.arrow"
        return ArrowTable(name, str(path), open_file(str(path)).schema) if path.is_file() else None

    def get_table_metadata(self, session: spi.ConnectorSession, table: ArrowTable) -> spi.TableMetadata:
        columns = (spi.ColumnMetadata(field.name, field.type, field.nullable) for field in table.schema)
        return spi.TableMetadata(table.name, tuple(columns), properties=(("location", table.path),))


class ArrowSplitManager(spi.SplitManager[ArrowTable, ArrowSplit]):
    def get_splits(
        self,
        transaction: spi.ConnectorTransaction,
        session: spi.ConnectorSession,
        table: ArrowTable,
        columns: tuple[spi.ColumnHandle, ...],
        dynamic_filter: spi.TupleDomain[spi.ColumnHandle],
    ) -> spi.SplitSource[ArrowSplit]:
        return spi.ListSplitSource([ArrowSplit(table.path, Path(table.path).stat().st_size)], spi.ScanSummary())


class ArrowPageSourceProvider(spi.GeneratorPageSourceProvider[ArrowTable, ArrowSplit]):
    def read(
        self, split: ArrowSplit, table: ArrowTable, columns: tuple[spi.ColumnHandle, ...]
    ) -> Iterator[pa.RecordBatch]:
        reader = open_file(split.path)
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            for start in range(0, batch.num_rows, 50_000):
                yield batch.slice(start, 50_000)


class ArrowFilesConnector(spi.Connector):
    split_manager = ArrowSplitManager()
    page_source_provider = ArrowPageSourceProvider()

    def __init__(self, folder: Path) -> None:
        self._metadata = ArrowMetadata(folder)

    def get_metadata(self, transaction: spi.ConnectorTransaction) -> spi.ConnectorMetadata:
        return self._metadata


class ArrowFilesFactory(spi.ConnectorFactory):
    name = "arrow_files"
    config_properties = (FOLDER,)

    def create(
        self, catalog: str, properties: spi.PropertyValues, context: spi.ConnectorContext
    ) -> ArrowFilesConnector:
        return ArrowFilesConnector(Path(properties.get(FOLDER)))


def open_file(path: str) -> pa.RecordBatchFileReader:
    try:
        return pa.ipc.open_file(pa.memory_map(path))
    except FileNotFoundError as error:
        raise spi.FileMissingError(f"{path} is not there any more") from error
    except pa.ArrowInvalid as error:
        raise spi.CorruptFileError(f"{path} is not an Arrow IPC file, or is truncated: {error}") from error
