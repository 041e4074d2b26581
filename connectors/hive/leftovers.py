"""``system.remove_orphan_files``: deletes what killed writes have left in a table's directory. Driver side."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from catalog.metastore.factory import Metastore
from catalog.metastore.model import FieldSchema, Parameters, StorageDescriptor, Table
from connector_spi.errors import InvalidArgumentError, TableNotFoundError
from connector_spi.names import SchemaTableName
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.predicate import Value
from connector_spi.properties import duration_property
from connector_spi.session import ConnectorSession
from connectors.hive.definitions.columns import make_handle
from connectors.hive.definitions.table_formats import table_location
from connectors.hive.write.inserts import BEGUN, STAGING
from connectors.hive.write.publish.publishing import REPLACED
from connectors.hive.write.publish.stream_journal import left_folders
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["orphan_files_procedure"]

_FOLDER = re.compile(rf"(?:{re.escape(STAGING)}|{re.escape(REPLACED)})[0-9a-f]{{32}}\Z")
_THRESHOLD = duration_property(
    "retention_threshold", "How long nothing in a folder has changed; younger ones may be in use.", 86_400.0, minimum=0
)
_ARGUMENTS = (
    ProcedureArgument("schema_name", pa.string(), "Schema of the table."),
    ProcedureArgument("table_name", pa.string(), "Name of the table."),
    ProcedureArgument(_THRESHOLD.name, pa.string(), _THRESHOLD.description, required=False, default="1d"),
    ProcedureArgument(
        "delete_replaced",
        pa.bool_(),
        "Also rows that a write has moved aside, to replace them, and could not move back.",
        required=False,
        default=False,
    ),
)
_RESULT = pa.schema([("folder", pa.string()), ("files", pa.int64()), ("bytes", pa.int64())])


def orphan_files_procedure(metastore: Metastore, files: FileSystem) -> Procedure:
    """``CALL hive.system.remove_orphan_files('s', 't', ...)``; its rows are the folders that are gone.

    Only hidden folders that Lakeport itself makes are touched: no reader looks into them. Rows that were moved aside
    are old ones where an overwrite was killed, and the only ones where an error could not be undone; so they stay,
    unless they are asked for.
    """

    def remove(session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = SchemaTableName(str(arguments["schema_name"]).lower(), str(arguments["table_name"]).lower())
        seconds = _seconds(arguments[_THRESHOLD.name])
        seen = metastore.as_user(session.user)
        seen.writes.check_allowed(f"delete files that writes to {name} have left")
        locations = _locations(seen, files, name)
        rows = []
        for folder, inside in _leftovers(files, locations, time.time() - seconds):
            if inside and _is_replaced(folder) and not arguments["delete_replaced"]:
                continue
            files.delete_folder(folder)
            written = [one for one in inside if one.name != BEGUN]
            rows.append({"folder": folder, "files": len(written), "bytes": sum(one.size for one in written)})
        return pa.Table.from_pylist(rows, _RESULT)

    return Procedure(
        "system",
        "remove_orphan_files",
        "Deletes hidden folders that killed writes have left in a table's directory.",
        arguments=_ARGUMENTS,
        result=_RESULT,
        function=remove,
    )


def _locations(metastore: Metastore, files: FileSystem, name: SchemaTableName) -> list[str]:
    """The directories in which writes to a table, or those that were to make it, may have left something."""
    table = metastore.reads.get_table(name.schema, name.table)
    if table is not None:
        make_handle(table, files)
    planned = [metastore.writes.planned_location(one) for one in _plans(name)]
    own = [] if table is None else [table_location(table)]
    found = [one for one in dict.fromkeys((*own, *planned)) if files.exists(one)]
    if table is None and not found:
        raise TableNotFoundError(f"the metastore has no table {name}")
    return found


def _plans(name: SchemaTableName) -> list[Table]:
    """Tables of this name, whose directories a metastore of Hive 4 has in different places."""
    kinds: tuple[dict[str, str], ...] = ({}, {"transactional": "true", "transactional_properties": "insert_only"})
    return [
        Table(
            name.schema,
            name.table,
            StorageDescriptor((FieldSchema("a", "int"),)),
            parameters=Parameters.of(kind),
            table_type="MANAGED_TABLE",
        )
        for kind in kinds
    ]


def _is_replaced(folder: str) -> bool:
    return folder.rpartition("/")[2].startswith(REPLACED)


def _seconds(text: Value | None) -> float:
    try:
        return float(_THRESHOLD.parse(str(text)) or 0)
    except ValueError as error:
        raise InvalidArgumentError(f"retention_threshold is '{text}': {error}; expected {_THRESHOLD.kind}") from error


def _leftovers(files: FileSystem, locations: Iterable[str], before: float) -> Iterator[tuple[str, list[FileInfo]]]:
    """Folders in which nothing has changed since a time, with their files; not what finishes a stream's batch."""
    for location in locations:
        yield from _left_in(files, location, before)


def _left_in(files: FileSystem, location: str, before: float) -> Iterator[tuple[str, list[FileInfo]]]:
    found = list(files.list(location))
    kept = {path.rpartition("/")[2] for path in left_folders(files, location)}
    for folder in [one for one in found if one.is_directory and _FOLDER.match(one.name) and one.name not in kept]:
        inside = list(files.list(folder.path, recursive=True))
        if max(one.modified_millis for one in (folder, *inside)) < before * 1000:
            yield folder.path, [one for one in inside if not one.is_directory]
