"""Writes Avro object container files. Executor side."""

from __future__ import annotations

import bz2
import os
import zlib
from collections.abc import Callable, Mapping

import pyarrow as pa

from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.write.sink.avro.encoding import record_encoder
from connectors.hive.write.sink.avro.schema import file_schema
from connectors.hive.write.sink.compression import compression
from connectors.toolkit.cells import value_bytes
from connectors.toolkit.codecs.hadoop_compression import compress_block
from connectors.toolkit.codecs.varints import zigzag_bytes

__all__ = ["AvroFileWriter"]

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_BLOCK_BYTES = 1 << 18
_WHERE = "the table"
# Times are those of the wall clock, as by Hive's readers since 3.1.2 (AvroDeserializer), dates proleptic.
_ENTRIES = {"writer.time.zone": "UTC", "writer.proleptic": "true", "writer.zone.conversion.legacy": "false"}


class AvroFileWriter:
    """An Avro file.

    Args:
        storage: Properties with codec and schema.
        sink: Where the file goes.
        schema: The columns.
    """

    def __init__(self, storage: FileStorage, sink: pa.NativeFile, schema: pa.Schema) -> None:
        self._sink = sink
        text = file_schema(storage, schema, _WHERE)
        self._encode = record_encoder(text, schema, _WHERE)
        codec = compression(storage) or "null"
        self._pack = _PACKERS[codec]
        self._mark = os.urandom(_SYNC_BYTES)
        sink.write(_MAGIC + _map_bytes({"avro.schema": text, "avro.codec": codec, **_ENTRIES}) + self._mark)

    def write(self, table: pa.Table) -> None:
        """Writes rows, in blocks.

        Raises:
            NotSupportedError: A value is none that the schema has.
        """
        at_once = max(1, table.num_rows * _BLOCK_BYTES // max(table.nbytes, 1))
        for batch in table.combine_chunks().to_batches(max_chunksize=at_once):
            if batch.num_rows:
                packed = self._pack(value_bytes(self._encode(batch.columns)))
                sizes = zigzag_bytes(batch.num_rows) + zigzag_bytes(len(packed))
                self._sink.write(b"".join([sizes, packed, self._mark]))

    def close(self) -> None:
        """There is nothing at the end."""


def _map_bytes(entries: Mapping[str, str]) -> bytes:
    texts = (text.encode() for entry in entries.items() for text in entry)
    return zigzag_bytes(len(entries)) + b"".join(zigzag_bytes(len(text)) + text for text in texts) + b"\0"


def _deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


def _snappy(data: bytes) -> bytes:
    """With the checksum of the data behind it."""
    packed: bytes = pa.Codec("snappy").compress(data, asbytes=True)
    return packed + zlib.crc32(data).to_bytes(4, "big")


_PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _deflate,
    "snappy": _snappy,
    "zstandard": lambda data: compress_block(data, "zstd"),
    "bzip2": bz2.compress,
}
