"""``system.load_data``: files that are there become rows of a table, as by Hive's ``LOAD DATA``. Driver side."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from catalog.metastore.definitions import location_uri
from catalog.metastore.partitions.names import partition_values
from connector_spi.connector import Connector
from connector_spi.errors import (
    ConnectorError,
    ExternalError,
    FileMissingError,
    InternalError,
    InvalidArgumentError,
    NotSupportedError,
    TableNotFoundError,
    UserError,
)
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.optional.writing import Overwrite, SupportsOverwrite
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.acid.layout import BUCKETS
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions.key_texts import value_text
from connectors.hive.write.handles import STATEMENTS, HiveFragment, HiveInsertHandle
from connectors.toolkit.codecs.hadoop_codecs import codec_of_path
from connectors.toolkit.partition_values import partition_value
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, is_hidden, join_path, storage_errors

__all__ = ["load_procedure"]

_LOG = logging.getLogger(__name__)
_ARGUMENTS = (
    ProcedureArgument("schema_name", pa.string(), "Schema of the table."),
    ProcedureArgument("table_name", pa.string(), "Name of the table."),
    ProcedureArgument("path", pa.string(), "A file, or a directory of files, of the table's format; they are moved."),
    ProcedureArgument(
        "partition", pa.string(), "Name of the partition, such as ds=2024-01-01, if there are.", required=False
    ),
    ProcedureArgument(
        "overwrite",
        pa.bool_(),
        "The files replace the rows of the table, or of the partition.",
        required=False,
        default=False,
    ),
)
_RESULT = pa.schema([("files", pa.int64()), ("bytes", pa.int64())])
_FORMATS_WITH_CODECS_INSIDE = ("orc", "parquet", "avro", "rcfile", "sequencefile")
_ACID_COLUMN = "originalTransaction"


def load_procedure(connector: Connector, files: FileSystem) -> Procedure:
    """``CALL hive.system.load_data('s', 't', '/incoming/day', ...)``.

    Args:
        connector: The catalog.
        files: Storage.
    """

    def load(session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = SchemaTableName(str(arguments["schema_name"]).lower(), str(arguments["table_name"]).lower())
        transaction = connector.begin_transaction(session)
        try:
            metadata = connector.get_metadata(transaction)
            loading = _Loading.of(session, metadata, files, name, arguments)
            loading.run(session, metadata)
            transaction.commit()
        except BaseException:
            transaction.rollback()
            raise
        loading.delete_sources()
        row = {"files": len(loading.sources), "bytes": sum(one.size for one in loading.sources)}
        return pa.Table.from_pylist([row], _RESULT)

    return Procedure(
        "system",
        "load_data",
        "Moves files into a table, whose rows they become, as Hive's LOAD DATA does.",
        arguments=_ARGUMENTS,
        result=_RESULT,
        function=load,
    )


@dataclass(frozen=True, slots=True)
class _Loading:
    """One call.

    Attributes:
        files: Storage.
        table: The table.
        sources: The files.
        partition: Texts of the partition's key values; none where the table has no keys.
        overwrite: They replace what is there.
    """

    files: FileSystem
    table: HiveTableHandle
    sources: tuple[FileInfo, ...]
    partition: tuple[str, ...]
    overwrite: bool

    @classmethod
    def of(
        cls,
        session: ConnectorSession,
        metadata: ConnectorMetadata,
        files: FileSystem,
        name: SchemaTableName,
        arguments: Mapping[str, Value | None],
    ) -> _Loading:
        table = metadata.get_table_handle(session, name)
        if not isinstance(table, HiveTableHandle):
            raise TableNotFoundError(f"table {name} is not in the metastore")
        if table.bucketing is not None:
            # Hive refuses it, too (hive.strict.checks.bucketing): no one knows which buckets the files are.
            raise NotSupportedError(f"files cannot be loaded into {name}: it is bucketed; insert their rows")
        sources = _sources(files, location_uri(str(arguments["path"])), table)
        overwrite = bool(arguments["overwrite"])
        _check_count(table, len(sources), 1 if overwrite else STATEMENTS)
        for one in sources:
            _check_format(files, one.path, table)
        partition = _partition(table, arguments["partition"])
        return cls(files, table, sources, partition, overwrite)

    def run(self, session: ConnectorSession, metadata: ConnectorMetadata) -> None:
        """Has the files published with the transaction; the sources stay until it is committed."""
        if not isinstance(metadata, SupportsOverwrite):
            raise InternalError("the metadata of Hive is SupportsOverwrite")
        insert = (
            metadata.begin_overwrite(session, self.table, Overwrite(dynamic=bool(self.partition)))
            if self.overwrite
            else metadata.begin_insert(session, self.table)
        )
        if not isinstance(insert, HiveInsertHandle):
            raise InternalError(f"expected a HiveInsertHandle, met a {type(insert).__qualname__}")
        try:
            fragments = [self._staged(insert, number, one) for number, one in enumerate(self.sources)]
            metadata.finish_insert(session, insert, fragments)
        except BaseException:
            metadata.abort_insert(session, insert)
            raise

    def delete_sources(self) -> None:
        """The files are in the table now."""
        for one in self.sources:
            try:
                self.files.delete_file(one.path)
            except ConnectorError as error:
                _LOG.warning("%s was loaded into %s, and could not be deleted: %s", one.path, self.table.name, error)

    def _staged(self, insert: HiveInsertHandle, number: int, source: FileInfo) -> HiveFragment:
        name = source.name
        if insert.acid is not None:
            # Hive gives them the names of its own files (Hive.copyFiles), by which rows without ids get some.
            acid, number = insert.acid.of_task(number) if insert.acid.row_ids else (insert.acid, number)
            name = f"{acid.directory}/{number:06d}_0{_codec_extension(source.name, self.table)}"
        elif not self.files.has_folders(insert.staging):
            # There two that load files of one name at once would not notice each other.
            name = f"{uuid.uuid4().hex}_{name}"
        path = join_path(insert.staging, f"{uuid.uuid4().hex}")
        self.files.copy(source.path, path)
        return HiveFragment(path, name, self.partition, 0, source.size, original=True)


def _codec_extension(name: str, table: HiveTableHandle) -> str:
    """What readers know a file's codec by, which stays a part of its name."""
    if table.storage.format in _FORMATS_WITH_CODECS_INSIDE or codec_of_path(name) is None:
        return ""
    return f".{name.rpartition('.')[2]}"


def _sources(files: FileSystem, path: str, table: HiveTableHandle) -> tuple[FileInfo, ...]:
    info = files.info(path)
    if info is None:
        raise FileMissingError(f"{path} is not there; nothing was loaded into {table.name}")
    if f"{path.rstrip('/')}/".startswith(f"{location_uri(table.location).rstrip('/')}/"):
        raise UserError(f"{path} is in the directory of {table.name} itself; expected files from elsewhere")
    found = [one for one in files.list(path) if not is_hidden(one.name)] if info.is_directory else [info]
    directories = [one.path for one in found if one.is_directory]
    if directories:
        raise UserError(f"{directories[0]} is a directory; expected files alone in {path}, as Hive does")
    if not found:
        raise UserError(f"there are no files in {path}; nothing was loaded into {table.name}")
    return tuple(found)


def _check_count(table: HiveTableHandle, count: int, directories: int) -> None:
    """Each file is a bucket of row ids, of which a directory has 4,096: Hive fails on more (``BucketCodec.encode``)."""
    if table.full_acid and count > BUCKETS * directories:
        raise NotSupportedError(
            f"{count} files cannot be loaded into {table.name} at once, whose rows have the number of their file in "
            f"their ids: expected at most {BUCKETS * directories}; load them in parts, or fewer and larger ones",
            error_codes.HIVE_ACID_LAYOUT,
        )


def _partition(table: HiveTableHandle, given: Value | None) -> tuple[str, ...]:
    keys = [key.name for key in table.partition_keys]
    values = () if given is None else partition_values(str(given))
    named = [] if given is None else [part.partition("=")[0].lower() for part in str(given).split("/")]
    if named != keys or not all(values):
        expected = "/".join(f"{key}=..." for key in keys)
        raise InvalidArgumentError(
            f"the partition of {table.name} is given as {given!r}; expected "
            + (f"partition => '{expected}'" if keys else "none, since it has no keys")
        )
    for key, text in zip(table.partition_keys, values, strict=True):
        _check_key(table, key, text)
    return values


def _check_key(table: HiveTableHandle, key: ColumnHandle, text: str) -> None:
    """Refuses a text that another one stands for: there would be two partitions of one value."""
    try:
        written = value_text(partition_value(text, key.type, f"partition key '{key.name}' of {table.name}"))
    except ExternalError as error:
        raise InvalidArgumentError(
            f"partition key '{key.name}' of {table.name} is given as {text!r}; expected a value of type {key.type}"
        ) from error
    if written != text:
        raise InvalidArgumentError(
            f"partition key '{key.name}' of {table.name} is given as {text!r}; expected {written!r}, as Hive writes it"
        )


def _check_format(files: FileSystem, path: str, table: HiveTableHandle) -> None:
    """Refuses files that no reader of the table could open: by then the table would be broken."""
    names = [column.name for column in table.data_columns]
    if table.storage.format == "orc":
        with storage_errors(path), files.open(path) as file:
            found = orc.ORCFile(file).schema.names
        if _ACID_COLUMN in found:
            raise UserError(
                f"{path} is a file of a transactional table, with the ids of its rows; expected plain files: insert "
                "the rows of that table"
            )
    elif table.storage.format == "parquet":
        with storage_errors(path), files.open(path) as file:
            met = {name.lower() for name in pq.read_schema(file).names}
        if not met.intersection(names):
            raise UserError(f"{path} has none of the columns of {table.name}: {', '.join(names)}")
