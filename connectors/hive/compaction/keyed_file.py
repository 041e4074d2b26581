"""Writes files of rows, or of delete events, whose keys are given, as Hive's compactor does."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from itertools import accumulate

import numpy as np
import pyarrow as pa

from connectors.hive.acid.key_range import Key
from connectors.hive.compaction.merging import KeyedBatch
from connectors.hive.write.sink.orc_output import FooterSink, OrcWriter
from connectors.toolkit.orc.footer import OrcFooter

__all__ = ["KeyedFileWriter", "delete_events", "inserted_rows"]

Columns = Callable[[KeyedBatch], pa.Table]

_INSERT, _DELETE = 0, 2
_STRIPE_BYTES = 64 << 20
_WRITER_ROWS = 1024
"""``ORCWriter`` hands over so many rows at once, and a stripe ends only between two such parts."""


class KeyedFileWriter:
    """One file.

    Args:
        sink: Where it goes.
        path: The file, for messages.
        columns: Makes the file's columns of a batch.
        compression: Codec by pyarrow's name.
        deletes: It holds delete events.
    """

    def __init__(
        self, sink: pa.NativeFile, path: str, columns: Columns, compression: str | None, *, deletes: bool
    ) -> None:
        self._columns = columns
        self._deletes = deletes
        self._rows = 0
        # The keys of the rows that a stripe may end with.
        self._ends: list[int] = []
        self._keys: list[Key] = []
        self._tail = FooterSink(sink, path)
        self._writer = OrcWriter(
            self._tail, compression=compression, stripe_size=_STRIPE_BYTES, batch_size=_WRITER_ROWS
        )

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self._rows

    def write(self, batch: KeyedBatch) -> None:
        """Writes rows, whose keys are not less than those before."""
        count = len(batch.row_ids)
        at = np.append(np.arange(_WRITER_ROWS - 1, count - 1, _WRITER_ROWS), count - 1)
        self._ends += (at + (self._rows + 1)).tolist()
        parts = [part[at].tolist() for part in (batch.write_ids, batch.buckets, batch.row_ids)]
        self._keys += list(zip(parts[0], parts[1], parts[2], strict=True))
        self._writer.write(self._columns(batch))
        self._rows += count

    def close(self) -> None:
        """Writes what belongs to the end of the file."""
        self._writer.close()
        self._tail.finish(self._metadata)

    def _metadata(self, footer: OrcFooter) -> Mapping[str, bytes]:
        ends = list(accumulate(stripe.rows for stripe in footer.stripes))
        at = [bisect_left(self._ends, end) for end in ends]
        known = all(self._ends[position : position + 1] == [end] for position, end in zip(at, ends, strict=True))
        # Readers pass over an index that is empty, and would be misled by a wrong one.
        index = "".join("{},{},{};".format(*self._keys[position]) for position in at) if known else ""
        counts = f"0,0,{self._rows}" if self._deletes else f"{self._rows},0,0"
        return {
            "hive.acid.key.index": index.encode(),
            "hive.acid.stats": counts.encode(),
            "hive.acid.version": b"2",
        }


def inserted_rows(batch: KeyedBatch) -> pa.Table:
    """The columns of a file of rows; each row is as of the transaction that has added it."""
    row = pa.StructArray.from_arrays(batch.rows.columns, fields=list(batch.rows.schema))
    return _acid_columns(batch, _INSERT, pa.array(batch.write_ids), row)


def delete_events(batch: KeyedBatch, row: pa.DataType) -> pa.Table:
    """The columns of a file of delete events, whose own write ids are the rows of the batch.

    Args:
        batch: The events.
        row: The type of the table's rows, which are NULL in events.
    """
    return _acid_columns(batch, _DELETE, batch.rows.column(0), pa.nulls(len(batch.row_ids), row))


def _acid_columns(batch: KeyedBatch, operation: int, current: pa.Array, row: pa.Array) -> pa.Table:
    return pa.table(
        {
            "operation": pa.array(np.full(len(batch.row_ids), operation, np.int32)),
            "originalTransaction": pa.array(batch.write_ids),
            "bucket": pa.array(batch.buckets.astype(np.int32)),
            "rowId": pa.array(batch.row_ids),
            "currentTransaction": current,
            "row": row,
        }
    )
