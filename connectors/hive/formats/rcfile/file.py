"""Hive's RCFile: rows in groups, in each group column by column (``RCFile.Reader``). Executor side.

A group is its length, the length of its key, and how long the key is on storage; then the key, and the columns. The
key has the number of rows, and of each column its bytes on storage, its bytes, and the lengths of its cells as
numbers, of which a negative one repeats the one before it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hive.formats.sequence.sync_marks import ESCAPE, SYNC_BYTES, HeaderReader, find_mark
from connectors.toolkit.cells import Bytes, Positions
from connectors.toolkit.codecs.hadoop_codecs import codec_of_class, decompress_block
from connectors.toolkit.codecs.hadoop_vints import read_vint, vint_chain
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["MAX_GROUP_ROWS", "ColumnCells", "RcGroup", "RcHeader", "rc_groups", "read_rc_header"]

MAX_GROUP_ROWS = 1 << 24
"""Most rows of a group: cells of no byte may repeat without end."""

_MAX_BYTES = 1 << 28
_COLUMNS = "hive.io.rcfile.column.number"
_KEY_CLASS = "org.apache.hadoop.hive.ql.io.RCFile$KeyBuffer"
_VALUE_CLASS = "org.apache.hadoop.hive.ql.io.RCFile$ValueBuffer"
_HEAD = 12


@dataclass(frozen=True, slots=True)
class RcHeader:
    """What stands at the front of an RCFile.

    Attributes:
        columns: Columns of each group.
        codec: The codec of keys and columns, or ``None``.
        mark: What stands before a mark's groups, 20 bytes.
        end: The byte behind the header.
    """

    columns: int
    codec: str | None
    mark: bytes
    end: int


@dataclass(frozen=True, slots=True)
class ColumnCells:
    """A column of a group.

    Attributes:
        data: All cells.
        starts: First byte of each.
        ends: The byte behind each.
    """

    data: Bytes
    starts: Positions
    ends: Positions


@dataclass(frozen=True, slots=True)
class _Column:
    at: int
    stored: int
    size: int
    lengths: bytes


@dataclass(frozen=True, slots=True)
class RcGroup:
    """A group of rows, of which columns are read one by one.

    Attributes:
        rows: Number of rows.
        stored: Bytes of the group on storage.
    """

    rows: int
    stored: int
    _source: ByteSource
    _columns: tuple[_Column, ...]
    _codec: str | None
    _where: str

    def column(self, position: int) -> ColumnCells | None:
        """The cells of a column; ``None`` where the file has fewer columns.

        Raises:
            CorruptFileError: They are damaged.
        """
        if position >= len(self._columns):
            return None
        if self.rows > MAX_GROUP_ROWS:
            raise NotSupportedError(
                f"{self._where} has {self.rows} rows; at most {MAX_GROUP_ROWS} can be read: let Hive write the file "
                "anew with smaller groups (hive.io.rcfile.record.interval)"
            )
        column, where = self._columns[position], f"column {position} of {self._where}"
        data = self._source.read(column.at, column.stored) if column.size else b""
        if self._codec is not None and column.size:
            data = decompress_block(data, self._codec, where, size=column.size, limit=_MAX_BYTES)
        try:
            lengths = _cell_lengths(column.lengths, self.rows)
        except ValueError as error:
            raise CorruptFileError(f"{where} is damaged: {error}") from error
        ends = np.cumsum(lengths)
        if (int(ends[-1]) if self.rows else 0) != len(data):
            raise CorruptFileError(f"{where} has {len(data)} bytes, and its cells have {int(lengths.sum())}")
        return ColumnCells(np.frombuffer(data, dtype=np.uint8), ends - lengths, ends)


def read_rc_header(source: ByteSource, where: str) -> RcHeader:
    """Reads the header: ``RCF`` of version 1, or ``SEQ`` of version 6 with RCFile's classes as the first RCFiles had.

    Raises:
        CorruptFileError: It is no RCFile, or it ends too early.
        NotSupportedError: Its version or its codec is not understood.
    """
    reader = HeaderReader(source, where)
    magic = reader.take(4)
    if magic[:3] not in (b"RCF", b"SEQ"):
        raise CorruptFileError(f"{where} is no RCFile: it begins with {magic[:3]!r}, expected b'RCF'")
    old = magic[:3] == b"SEQ"
    if magic[3] != (6 if old else 1):
        raise NotSupportedError(f"{where} is an RCFile of version {magic!r}; version 1, and SEQ 6 before it, are read")
    if old and (classes := (reader.text(), reader.text())) != (_KEY_CLASS, _VALUE_CLASS):
        raise CorruptFileError(f"{where} is a SequenceFile of {', '.join(classes)}; expected an RCFile")
    compressed = reader.flag()
    if old and reader.flag():
        raise CorruptFileError(f"{where} says that it has blocks, which RCFiles have not")
    codec = codec_of_class(reader.text(), where) if compressed else None
    text = reader.metadata().get(_COLUMNS, "")
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise CorruptFileError(f"{where} has no number of columns in its header: {_COLUMNS} is {text!r}")
    return RcHeader(int(text), codec, ESCAPE + reader.take(SYNC_BYTES), reader.at)


def rc_groups(source: ByteSource, header: RcHeader, start: int, end: int, where: str) -> Generator[RcGroup, None, None]:
    """The groups of a range.

    Args:
        source: The file.
        header: Its header.
        start: First byte of the range.
        end: The byte behind it.
        where: Names the file for messages.

    Raises:
        CorruptFileError: A length leaves the file, or a mark is not the file's.
    """
    at = header.end if start <= 0 < end else find_mark(source, header.mark, max(start, header.end), end)
    while at is not None and at < source.size:
        head = source.read(at, len(header.mark))
        if head[:4] == ESCAPE:
            if at >= end:
                return
            if head != header.mark:
                raise CorruptFileError(f"{where} has a mark at byte {at} that is not the file's")
            at += len(header.mark)
            if at == source.size:
                return
            head = source.read(at, _HEAD)
        try:
            group = _group(source, header, head[:_HEAD], at, f"the group of rows at byte {at} of {where}")
        except ValueError as error:
            raise CorruptFileError(f"{where} is damaged in the group of rows at byte {at}: {error}") from error
        yield group
        at += group.stored


def _group(source: ByteSource, header: RcHeader, head: bytes, at: int, where: str) -> RcGroup:
    if len(head) < _HEAD:
        raise CorruptFileError(f"{where} is truncated")
    total, key_size, key_stored = (int.from_bytes(head[n : n + 4], "big", signed=True) for n in (0, 4, 8))
    stored = _HEAD + key_stored + total - key_size
    if not 0 <= key_size <= min(total, _MAX_BYTES) or key_stored < 0 or at + stored > source.size:
        raise CorruptFileError(f"{where} is truncated or damaged: its lengths are {total}, {key_size}, {key_stored}")
    key = source.read(at + _HEAD, key_stored)
    if header.codec is not None:
        key = decompress_block(key, header.codec, f"the key of {where}", size=key_size, limit=_MAX_BYTES)
    rows, position = read_vint(key, 0)
    column_at = at + _HEAD + key_stored
    columns = []
    for _ in range(header.columns):
        column_stored, position = read_vint(key, position)
        size, position = read_vint(key, position)
        length, position = read_vint(key, position)
        if min(column_stored, size, length) < 0 or size > _MAX_BYTES or position + length > len(key):
            raise CorruptFileError(f"{where} is damaged: a column of {column_stored} bytes with lengths of {length}")
        columns.append(_Column(column_at, column_stored, size, key[position : position + length]))
        column_at += column_stored
        position += length
    if rows < 0 or column_at != at + stored:
        raise CorruptFileError(f"{where} is damaged: {rows} rows in columns that end at byte {column_at}")
    return RcGroup(rows=rows, stored=stored, _source=source, _columns=tuple(columns), _codec=header.codec, _where=where)


def _cell_lengths(data: bytes, rows: int) -> Positions:
    """The lengths of a column's cells; -n repeats the length before it n - 1 times."""
    stored_lengths = vint_chain(np.frombuffer(data, dtype=np.uint8)) if data else np.zeros(0, dtype=np.int64)
    runs = np.where(stored_lengths < 0, ~stored_lengths, 1)
    if (runs > rows).any() or int(runs.sum()) != rows or (rows and stored_lengths[0] < 0):
        raise ValueError(f"lengths of {int(runs.sum())} cells where {rows} rows are")
    last = np.maximum.accumulate(np.where(stored_lengths < 0, 0, np.arange(len(stored_lengths))))
    lengths: Positions = np.repeat(stored_lengths[last], runs)
    return lengths
