"""Hadoop's SequenceFile: the values of its records as Arrow arrays (``SequenceFile.Reader``). Executor side.

A record is its length, the length of its key, the key and the value; with ``BLOCK`` compression many records lie in
one block, lengths and values apart. Keys mean nothing to Hive and are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hive.formats.sequence.records import MAX_RECORD_BYTES, record_windows
from connectors.hive.formats.sequence.sync_marks import ESCAPE, SYNC_BYTES, HeaderReader, find_mark
from connectors.toolkit.cells import Bytes, Positions, gather_cells
from connectors.toolkit.codecs.hadoop_codecs import codec_of_class, decompress_block
from connectors.toolkit.codecs.hadoop_vints import read_vint, read_vints, vint_chain
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["SequenceHeader", "read_sequence_header", "sequence_values"]

_MAGIC = b"SEQ"
_BLOCKS, _CODECS, _METADATA = 4, 5, 6
_DEFAULT_CODEC = "org.apache.hadoop.io.compress.DefaultCodec"
_TEXT = "org.apache.hadoop.io.Text"
_BYTES = "org.apache.hadoop.io.BytesWritable"


@dataclass(frozen=True, slots=True)
class SequenceHeader:
    """What stands at the front of a SequenceFile.

    Attributes:
        value_class: ``org.apache.hadoop.io.Text`` or ``org.apache.hadoop.io.BytesWritable``.
        codec: The codec of values or blocks, or ``None``.
        blocks: Records are compressed in blocks.
        mark: What stands before a mark's records, 20 bytes.
        end: The byte behind the header.
    """

    value_class: str
    codec: str | None
    blocks: bool
    mark: bytes
    end: int


def read_sequence_header(source: ByteSource, where: str) -> SequenceHeader:
    """Reads the header.

    Raises:
        CorruptFileError: It is no SequenceFile, or it ends too early.
        NotSupportedError: Its version, its codec or the class of its values is not understood.
    """
    reader = HeaderReader(source, where)
    magic = reader.take(4)
    if magic[:3] != _MAGIC:
        raise CorruptFileError(f"{where} is no SequenceFile: it begins with {magic[:3]!r}, expected {_MAGIC!r}")
    version = magic[3]
    if not _BLOCKS <= version <= _METADATA:
        raise NotSupportedError(f"{where} is a SequenceFile of version {version}; versions 4 to 6 are read")
    reader.text()
    value_class = reader.text()
    compressed, blocks = reader.flag(), reader.flag()
    codec = None
    if compressed:
        codec = codec_of_class(reader.text() if version >= _CODECS else _DEFAULT_CODEC, where)
    if version >= _METADATA:
        reader.metadata()
    if blocks and codec is None:
        raise CorruptFileError(f"{where} has blocks and no codec")
    if value_class not in (_TEXT, _BYTES):
        raise NotSupportedError(
            f"{where} holds values of the class {value_class!r}, of which Hive's SerDes make no row; expected {_TEXT} "
            f"or {_BYTES}"
        )
    return SequenceHeader(value_class, codec, blocks, ESCAPE + reader.take(SYNC_BYTES), reader.at)


def sequence_values(source: ByteSource, header: SequenceHeader, start: int, end: int, where: str) -> Iterator[pa.Array]:
    """The values of the records of a range, as ``binary`` arrays of some records each.

    Args:
        source: The file.
        header: Its header.
        start: First byte of the range.
        end: The byte behind it.
        where: Names the file for messages.

    Raises:
        CorruptFileError: A length leaves the file, a mark is missing, or compressed data is damaged.
    """
    try:
        if header.blocks:
            yield from _block_values(source, header, start, end, where)
            return
        for window in record_windows(
            source=source, mark=header.mark, header_end=header.end, start=start, end=end, where=where
        ):
            values = window.data, window.starts, window.ends
            if header.codec is not None:
                values = _inflate(header.codec, *values, where)
            yield _payloads(header.value_class, *values)
    except ValueError as error:
        raise CorruptFileError(f"{where} is damaged: {error}") from error


def _block_values(source: ByteSource, header: SequenceHeader, start: int, end: int, where: str) -> Iterator[pa.Array]:
    at = find_mark(source, header.mark, max(start, header.end), end)
    while at is not None and at < min(end, source.size):
        if source.read(at, len(header.mark)) != header.mark:
            raise CorruptFileError(f"{where} has no mark before the block at byte {at}")
        at += len(header.mark)
        count, at = _vint(source, at)
        parts = []
        for _ in range(4):
            size, at = _vint(source, at)
            if not 0 <= size <= min(MAX_RECORD_BYTES, source.size - at):
                raise CorruptFileError(f"{where} has a buffer of {size} bytes at byte {at} of {source.size}")
            parts.append((at, size))
            at += size
        lengths, values = (
            decompress_block(source.read(*part), header.codec or "", f"a block of {where}", limit=MAX_RECORD_BYTES)
            for part in parts[2:]
        )
        sizes = vint_chain(np.frombuffer(lengths, np.uint8)) if lengths else np.zeros(0, np.int64)
        ends = np.cumsum(sizes)
        if len(sizes) != count or (sizes < 0).any() or (ends[-1] if count else 0) != len(values):
            raise CorruptFileError(f"{where} has a block of {count} records whose lengths do not fit their values")
        if count:
            yield _payloads(header.value_class, np.frombuffer(values, np.uint8), ends - sizes, ends)


def _vint(source: ByteSource, at: int) -> tuple[int, int]:
    value, size = read_vint(source.read(at, 9), 0)
    return value, at + size


def _inflate(
    codec: str, data: Bytes, starts: Positions, ends: Positions, where: str
) -> tuple[Bytes, Positions, Positions]:
    # Each value is compressed for itself, so that there is no way around a step for each.
    view = data.data
    parts = []
    left = MAX_RECORD_BYTES
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        part = decompress_block(view[start:end], codec, f"a record of {where}", limit=left)
        left -= len(part)
        parts.append(part)
    behind = np.cumsum([len(part) for part in parts], dtype=np.int64)
    joined = np.frombuffer(b"".join(parts), dtype=np.uint8)
    return joined, np.concatenate(([0], behind[:-1])), behind


def _payloads(value_class: str, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    """What the values hold: a ``Text`` stands behind its length as a number, bytes behind theirs of four bytes."""
    if value_class == _TEXT:
        lengths, sizes = read_vints(data, starts)
    else:
        if (ends - starts < 4).any():
            raise ValueError("a value of fewer than four bytes")
        lengths = data[starts[:, None] + np.arange(4)].view(">i4")[:, 0].astype(np.int64)
        sizes = np.full(len(starts), 4, dtype=np.int64)
    if (lengths < 0).any() or (starts + sizes + lengths != ends).any():
        raise ValueError("a value whose length is not that of its record")
    return gather_cells(data, starts + sizes, ends)
