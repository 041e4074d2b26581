"""Writes the files of a transactional table with row ids, as Hive's ``OrcRecordUpdater`` does. Executor side."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import numpy as np
import pyarrow as pa

from connectors.hive.acid.layout import bucket_property
from connectors.hive.write.handles import AcidWrite
from connectors.hive.write.sink.orc_output import FooterSink, OrcWriter
from connectors.toolkit.orc.footer import OrcFooter

__all__ = ["AcidFileWriter"]

_INSERT = 0
_STRIPE_BYTES = 8 << 20
"""Hive makes stripes of deltas an eighth of others (``hive.exec.orc.base.delta.ratio``); many files may be open."""


class AcidFileWriter:
    """A file of inserted rows: their row ids count from 0.

    Args:
        sink: Where the file goes.
        path: The file, for messages.
        write: The write id of the rows, and the statement.
        bucket: Number of the file among those of the statement.
        compression: Codec by pyarrow's name.

    Raises:
        NotSupportedError: The bucket does not fit into a row id.
    """

    def __init__(self, sink: pa.NativeFile, path: str, write: AcidWrite, bucket: int, compression: str | None) -> None:
        self._write_id = write.write_id
        self._bucket = bucket_property(bucket, write.statement, path)
        self._rows = 0
        self._tail = FooterSink(sink, path)
        self._writer = OrcWriter(self._tail, compression=compression, stripe_size=_STRIPE_BYTES)

    def write(self, table: pa.Table) -> None:
        """Writes rows behind those before."""
        for batch in table.combine_chunks().to_batches():
            self._writer.write(pa.Table.from_batches([self._with_keys(batch)]))

    def close(self) -> None:
        """Writes what belongs to the end of the file."""
        self._writer.close()
        self._tail.finish(self._metadata)

    def _with_keys(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        count, first = batch.num_rows, self._rows
        self._rows += count
        write_ids = pa.array(np.full(count, self._write_id, np.int64))
        columns = {
            "operation": pa.array(np.full(count, _INSERT, np.int32)),
            "originalTransaction": write_ids,
            "bucket": pa.array(np.full(count, self._bucket, np.int32)),
            "rowId": pa.array(np.arange(first, first + count, dtype=np.int64)),
            "currentTransaction": write_ids,
            "row": pa.StructArray.from_arrays(batch.columns, fields=list(batch.schema)),
        }
        return pa.RecordBatch.from_pydict(columns)

    def _metadata(self, footer: OrcFooter) -> Mapping[str, bytes]:
        """What Hive 3 finds the keys of a stripe by, and whether a file has any (``OrcInputFormat.isOriginal``)."""
        last = [end - 1 for end in accumulate(stripe.rows for stripe in footer.stripes)]
        index = "".join(f"{self._write_id},{self._bucket},{row};" for row in last)
        return {
            "hive.acid.key.index": index.encode(),
            "hive.acid.stats": f"{self._rows},0,0".encode(),
            "hive.acid.version": b"2",
        }
