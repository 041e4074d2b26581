"""Writes SequenceFiles (``SequenceFile.Writer``, ``BlockCompressWriter``). Executor side.

Files are as ``HiveSequenceFileOutputFormat`` makes them: keys of no bytes, values that a SerDe made. Compressed ones
have blocks of many records, which Hive does where ``mapreduce.output.fileoutputformat.compress.type`` is ``BLOCK``.
"""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.lazy.binary_serde import LazyBinaryRowSerDe
from connectors.hive.formats.sequence.sync_marks import ESCAPE, SYNC_BYTES
from connectors.hive.write.sink.cells.joined import join_cells, numbers_of, with_sizes
from connectors.hive.write.sink.cells.lazy_binary import row_cells
from connectors.hive.write.sink.cells.numbers import fixed_cells, vint_cells
from connectors.hive.write.sink.compression import container_codec
from connectors.hive.write.sink.containers.header import codec_bytes, metadata_bytes, text_bytes, vint_bytes
from connectors.hive.write.sink.text.checked_rows import CheckedRows
from connectors.toolkit.cells import value_bytes
from connectors.toolkit.codecs.hadoop_compression import compress_block

__all__ = ["SequenceFileWriter"]

_KEY_CLASS = "org.apache.hadoop.io.BytesWritable"
_VALUE_CLASSES = {False: "org.apache.hadoop.io.Text", True: _KEY_CLASS}
_KEY = bytes(4)
_BLOCK_BYTES = 1 << 20
"""Of the records between two marks (``io.seqfile.compress.blocksize``)."""


class SequenceFileWriter:
    """A SequenceFile.

    Args:
        storage: SerDe and properties.
        sink: Where the file goes.
        schema: The columns.
    """

    def __init__(self, storage: FileStorage, sink: pa.NativeFile, schema: pa.Schema) -> None:
        self._sink = sink
        self._codec = container_codec(storage)
        self._binary = storage.serde in LazyBinaryRowSerDe.classes
        self._rows = None if self._binary else CheckedRows(storage, schema)
        self._mark = ESCAPE + os.urandom(SYNC_BYTES)
        self._is_begun = False
        flag = self._codec is not None
        head = [b"SEQ\x06", text_bytes(_KEY_CLASS), text_bytes(_VALUE_CLASSES[self._binary]), bytes([flag, flag])]
        head += [codec_bytes(self._codec), metadata_bytes({}), self._mark[len(ESCAPE) :]]
        sink.write(b"".join(head))

    def write(self, table: pa.Table) -> None:
        """Writes rows.

        Raises:
            NotSupportedError: A column has a value that would be read as another one.
        """
        at_once = max(1, table.num_rows * _BLOCK_BYTES // max(table.nbytes, 1))
        for batch in table.combine_chunks().to_batches(max_chunksize=at_once):
            if batch.num_rows:
                values = self._values(batch)
                self._sink.write(self._records(values) if self._codec is None else self._block(values, self._codec))
                self._is_begun = True

    def close(self) -> None:
        """There is nothing at the end."""

    def _values(self, batch: pa.RecordBatch) -> pa.Array:
        """Values as ``Text`` or ``BytesWritable`` writes them."""
        if self._rows is not None:
            records = self._rows.records(batch)
            self._rows.check(records, batch)
            return with_sizes(records)
        content = row_cells(batch.columns)
        return join_cells([fixed_cells(numbers_of(pc.binary_length(content)), ">i4"), content])

    def _records(self, values: pa.Array) -> bytes:
        sizes = numbers_of(pc.binary_length(values)) + len(_KEY)
        records = join_cells([fixed_cells(sizes, ">i4"), len(_KEY).to_bytes(4, "big") + _KEY, values])
        return (self._mark if self._is_begun else b"") + value_bytes(records)

    def _block(self, values: pa.Array, codec: str) -> bytes:
        count = len(values)
        lengths = value_bytes(vint_cells(numbers_of(pc.binary_length(values))))
        parts = (value_bytes(vint_cells(np.full(count, len(_KEY)))), _KEY * count, lengths, value_bytes(values))
        packed = (compress_block(part, codec) for part in parts)
        return self._mark + vint_bytes(count) + b"".join(vint_bytes(len(part)) + part for part in packed)
