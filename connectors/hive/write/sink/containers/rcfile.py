"""Writes RCFiles (``RCFile.Writer``); the reader's side tells how they are made. Executor side."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.sequence.sync_marks import ESCAPE, SYNC_BYTES
from connectors.hive.write.sink.cells.joined import join_cells, numbers_of
from connectors.hive.write.sink.cells.numbers import vint_cells
from connectors.hive.write.sink.compression import container_codec
from connectors.hive.write.sink.containers.columns import cell_encoder
from connectors.hive.write.sink.containers.header import codec_bytes, metadata_bytes, text_bytes, vint_bytes
from connectors.toolkit.cells import value_bytes
from connectors.toolkit.codecs.hadoop_compression import compress_block

__all__ = ["RcFileWriter"]

_GROUP_BYTES = 4 << 20
"""Of a group of rows in memory, as ``hive.io.rcfile.record.buffer.size``."""


class RcFileWriter:
    """An RCFile.

    Args:
        storage: SerDe and properties.
        sink: Where the file goes.
        schema: The columns.
    """

    def __init__(self, storage: FileStorage, sink: pa.NativeFile, schema: pa.Schema) -> None:
        self._sink = sink
        self._codec = container_codec(storage)
        self._encode = cell_encoder(storage)
        self._mark = ESCAPE + os.urandom(SYNC_BYTES)
        self._is_begun = False
        head = [b"RCF\x01", bytes([self._codec is not None]), codec_bytes(self._codec)]
        head += [metadata_bytes({"hive.io.rcfile.column.number": str(len(schema))}), self._mark[len(ESCAPE) :]]
        sink.write(b"".join(head))

    def write(self, table: pa.Table) -> None:
        """Writes rows, in groups.

        Raises:
            NotSupportedError: A column has a value that would be read as another one.
        """
        at_once = max(1, table.num_rows * _GROUP_BYTES // max(table.nbytes, 1))
        for batch in table.combine_chunks().to_batches(max_chunksize=at_once):
            if batch.num_rows:
                self._write_group(batch)

    def close(self) -> None:
        """There is nothing at the end."""

    def _write_group(self, batch: pa.RecordBatch) -> None:
        key, columns = [vint_bytes(batch.num_rows)], []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            cells = self._encode(name, column)
            raw = value_bytes(cells)
            stored = self._packed(raw)
            key += [vint_bytes(len(stored)), vint_bytes(len(raw)), text_bytes(_cell_lengths(cells))]
            columns.append(stored)
        raw_key = b"".join(key)
        stored_key = self._packed(raw_key)
        sizes = (len(raw_key) + sum(map(len, columns)), len(raw_key), len(stored_key))
        mark = self._mark if self._is_begun else b""
        self._sink.write(b"".join([mark, *(size.to_bytes(4, "big") for size in sizes), stored_key, *columns]))
        self._is_begun = True

    def _packed(self, raw: bytes) -> bytes:
        return raw if self._codec is None else compress_block(raw, self._codec)


def _cell_lengths(cells: pa.Array) -> bytes:
    """The lengths of cells; -n repeats the length before it n - 1 times."""
    lengths = numbers_of(pc.binary_length(cells))
    begins = np.flatnonzero(np.append(True, lengths[1:] != lengths[:-1]))
    runs = np.diff(np.append(begins, len(lengths)))
    repeats = pc.if_else(pa.array(runs > 1), vint_cells(~(runs - 1)), pa.scalar(None, pa.binary()))
    return value_bytes(join_cells([vint_cells(lengths[begins]), repeats]))
