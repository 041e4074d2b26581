"""Files of delete events, as Hive's ``OrcRecordUpdater`` writes them: the keys of rows, and no row. Both sides."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import numpy as np
import pyarrow as pa

from connectors.hive.write.handles import HiveInsertHandle
from connectors.hive.write.sink.compression import compression
from connectors.hive.write.sink.deleted_keys import DeletedKeys
from connectors.hive.write.sink.orc_output import FooterSink, OrcWriter
from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.storage.filesystem import FileSystem, storage_errors

__all__ = ["write_delete_file"]

_DELETE = 2
_EVENTS_AT_ONCE = 1 << 16
_STRIPE_BYTES = 8 << 20


def write_delete_file(files: FileSystem, path: str, insert: HiveInsertHandle, keys: DeletedKeys) -> int:
    """Writes one file.

    Args:
        files: Storage.
        path: The file.
        insert: The statement.
        keys: Of the deleted rows, sorted, all of one bucket.

    Returns:
        The file's size in bytes.
    """
    assert insert.acid is not None, "only rows of transactional tables are deleted"
    row = pa.struct([(column.name, column.type) for column in insert.data_columns])

    def metadata(footer: OrcFooter) -> Mapping[str, bytes]:
        last = [end - 1 for end in accumulate(stripe.rows for stripe in footer.stripes)]
        index = "".join(f"{keys.write_ids[at]},{keys.buckets[at]},{keys.row_ids[at]};" for at in last)
        return {
            "hive.acid.key.index": index.encode(),
            "hive.acid.stats": f"0,0,{len(keys)}".encode(),
            "hive.acid.version": b"2",
        }

    with storage_errors(path, "write"), files.create(path) as sink:
        tail = FooterSink(sink, path)
        writer = OrcWriter(tail, compression=compression(insert.storage), stripe_size=_STRIPE_BYTES)
        for start in range(0, len(keys), _EVENTS_AT_ONCE):
            writer.write(_events(keys.slice(start, start + _EVENTS_AT_ONCE), insert.acid.write_id, row))
        writer.close()
        tail.finish(metadata)
    info = files.info(path)
    return 0 if info is None else info.size


def _events(keys: DeletedKeys, write_id: int, row: pa.DataType) -> pa.Table:
    count = len(keys)
    columns = {
        "operation": pa.array(np.full(count, _DELETE, np.int32)),
        "originalTransaction": pa.array(keys.write_ids),
        "bucket": pa.array(keys.buckets.astype(np.int32)),
        "rowId": pa.array(keys.row_ids),
        "currentTransaction": pa.array(np.full(count, write_id, np.int64)),
        "row": pa.nulls(count, row),
    }
    return pa.table(columns)
