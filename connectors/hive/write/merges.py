"""Which tables' rows can be changed, and the files of delete events that sinks have written. Driver side."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

from pyarrow import orc

from catalog.metastore.partitions.names import partition_values
from catalog.metastore.transactions import LockOperation
from connector_spi.errors import InternalError, NotSupportedError
from connector_spi.optional.page_sink import Fragment
from connector_spi.optional.writing import MergeCommand
from connectors.hive import error_codes
from connectors.hive.acid.key_columns import ROW_ID, int64_values
from connectors.hive.handles import PARTITION, HiveTableHandle
from connectors.hive.write.handles import HiveDeleteFragment, HiveFragment, HiveMergeHandle
from connectors.hive.write.sink.delete_file import write_delete_file
from connectors.hive.write.sink.deleted_keys import DeletedKeys
from connectors.toolkit.storage.filesystem import FileSystem, join_path, storage_errors

__all__ = ["LOCK_OPERATIONS", "delete_files", "row_id_columns", "split_fragments"]

LOCK_OPERATIONS = {
    MergeCommand.DELETE: LockOperation.DELETE,
    MergeCommand.UPDATE: LockOperation.UPDATE,
    # Hive writes a MERGE as several statements; the metastore takes the strictest of their operations.
    MergeCommand.MERGE: LockOperation.UPDATE,
}
_KEYS = ("originalTransaction", "bucket", "rowId")


def row_id_columns(table: HiveTableHandle) -> tuple[str, ...]:
    """The hidden columns by which a row is deleted.

    Raises:
        NotSupportedError: The table is not transactional, or has no row ids.
    """
    where = f"rows of {table.name} cannot be deleted or updated one by one"
    if table.changes is not None:
        raise NotSupportedError(f"{where}: these are its changes; name the table itself")
    if table.snapshot is None:
        raise NotSupportedError(
            f"{where}: it is not a transactional table, and Hive cannot do it either; replace its rows, or those of "
            "partitions, with INSERT OVERWRITE"
        )
    if not table.full_acid:
        raise NotSupportedError(
            f"{where}: its property transactional_properties is insert_only, so that its rows have no ids; expected a "
            "table of ORC with transactional_properties=default",
            error_codes.HIVE_TRANSACTIONAL_TABLE,
        )
    return (ROW_ID, PARTITION) if table.partition_keys else (ROW_ID,)


def split_fragments(fragments: Sequence[Fragment]) -> tuple[list[HiveFragment], list[HiveDeleteFragment]]:
    """The fragments of added rows, and those of deleted ones.

    Raises:
        InternalError: One is of another connector.
    """
    added = [one for one in fragments if isinstance(one, HiveFragment)]
    deleted = [one for one in fragments if isinstance(one, HiveDeleteFragment)]
    if len(added) + len(deleted) != len(fragments):
        raise InternalError(f"expected HiveFragments and HiveDeleteFragments, met {fragments!r:.200}")
    return added, deleted


def delete_files(
    files: FileSystem, merge: HiveMergeHandle, fragments: Iterable[HiveDeleteFragment]
) -> list[HiveFragment]:
    """One file for each bucket of a partition: Hive 3 reads no second one.

    Where several tasks have deleted rows of a bucket their events are put together here, in one pass over 24 bytes for
    each row.

    Args:
        files: Storage.
        merge: The statement.
        fragments: What the tasks have written.

    Raises:
        StorageError: The storage failed.
    """
    found: dict[tuple[str, int], list[HiveDeleteFragment]] = {}
    for fragment in fragments:
        found.setdefault((fragment.partition, fragment.bucket), []).append(fragment)
    return [_one_file(files, merge, some) for some in found.values()]


def _one_file(files: FileSystem, merge: HiveMergeHandle, fragments: Sequence[HiveDeleteFragment]) -> HiveFragment:
    insert = merge.insert
    assert insert.acid is not None, "only rows of transactional tables are deleted"
    first = fragments[0]
    path, rows, size = first.path, first.rows, first.size
    if len(fragments) > 1:
        keys = DeletedKeys.concat([_keys(files, one.path) for one in fragments]).sorted()
        path, rows = join_path(insert.staging, f"{uuid.uuid4().hex}.deletes.orc"), len(keys)
        size = write_delete_file(files, path, insert, keys)
    values = partition_values(first.partition) if insert.partition_keys else ()
    name = f"{insert.acid.delete_directory}/bucket_{first.bucket:05d}"
    return HiveFragment(path, name, values, rows, size, deletes=True)


def _keys(files: FileSystem, path: str) -> DeletedKeys:
    with storage_errors(path, "read"), files.open(path) as source:
        found = orc.ORCFile(source).read(columns=list(_KEYS))
    return DeletedKeys(*(int64_values(found.column(name), path) for name in _KEYS))
