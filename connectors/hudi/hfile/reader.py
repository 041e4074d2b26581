"""Reads HFiles of version 3, as HBase and Hudi write them: sorted keys, each with a value. Executor side.

Only the row of a key counts; family and qualifier are empty, type and timestamp always the same.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from connectors.hudi.hfile.block import damaged, read_block
from connectors.hudi.hfile.trailer import parse_file_info, read_trailer
from connectors.toolkit.codecs.hadoop_vints import read_vint
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["HFile"]

_DATA = (b"DATABLK*",)
_ROOT_INDEX = (b"IDXROOT2",)
_LOWER_INDEX = (b"IDXLEAF2", b"IDXINTE2")
_FILE_INFO = (b"FILEINF2",)
_CELL = struct.Struct(">iiH")
_ENTRY = struct.Struct(">qi")
_MOST_LEVELS = 16

Cell = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class _IndexEntry:
    """A block, and a key not above its first and above the last of the block before; it need not be in the file."""

    key: bytes
    offset: int


class HFile:
    """An HFile. Blocks are read when asked; the indexes are kept.

    Args:
        source: The file.
        path: Its path, for messages.

    Raises:
        CorruptFileError: It is no HFile, or cut off.
        NotSupportedError: A version or compression that is not understood.
    """

    def __init__(self, source: ByteSource, path: str) -> None:
        self._source = source
        self._path = path
        self._trailer = read_trailer(source, path)

    @property
    def entry_count(self) -> int:
        """Number of cells."""
        return self._trailer.entry_count

    @cached_property
    def file_info(self) -> dict[str, bytes]:
        """What the writer recorded about the file, such as ``schema``.

        Raises:
            CorruptFileError: The file is damaged.
        """
        return self._opened[1]

    def read_all(self) -> tuple[list[bytes], list[bytes]]:
        """All keys and their values, sorted by key as unsigned bytes; a key may repeat.

        Raises:
            CorruptFileError: The file is damaged.
        """
        keys: list[bytes] = []
        values: list[bytes] = []
        for entry in self._blocks:
            more_keys, more_values = self._read_cells(entry)
            keys += more_keys
            values += more_values
        if len(keys) != self.entry_count:
            raise damaged(self._path, f"{len(keys)} cells, expected {self.entry_count}")
        return keys, values

    def seek(self, keys: Iterable[bytes]) -> Iterator[Cell]:
        """The cells of some keys, sorted by key; reads only blocks that may hold them.

        Raises:
            CorruptFileError: The file is damaged.
        """
        wanted = sorted(set(keys))
        at = 0
        for number, entry in enumerate(self._blocks):
            end = self._blocks[number + 1].key if number + 1 < len(self._blocks) else None
            # A key equal to the next block's may stand at the end of this one, too.
            last = len(wanted) if end is None else bisect_right(wanted, end, lo=at)
            if last > at and wanted[last - 1] >= entry.key:
                asked = set(wanted[at:last])
                yield from (cell for cell in zip(*self._read_cells(entry), strict=True) if cell[0] in asked)
            at = last if end is None else bisect_left(wanted, end, lo=at)

    def prefix(self, prefix: bytes) -> Iterator[Cell]:
        """The cells whose keys begin with some bytes, sorted by key; reads only blocks that may hold them.

        Raises:
            CorruptFileError: The file is damaged.
        """
        starts = [entry.key for entry in self._blocks]
        first = max(0, bisect_left(starts, prefix) - 1)
        for entry in self._blocks[first:]:
            if entry.key[: len(prefix)] > prefix:
                return
            keys, values = self._read_cells(entry)
            begin = bisect_left(keys, prefix)
            end = bisect_right(keys, prefix, key=lambda key: key[: len(prefix)])
            yield from zip(keys[begin:end], values[begin:end], strict=True)

    @cached_property
    def _opened(self) -> tuple[list[_IndexEntry], dict[str, bytes]]:
        """Root index and file info; between them stands the index of blocks beside the data, Bloom filters."""
        trailer, source, path = self._trailer, self._source, self._path
        root = read_block(source, trailer.load_on_open_offset, trailer.codec, _ROOT_INDEX, path)
        meta = read_block(source, root.end, trailer.codec, _ROOT_INDEX, path)
        info = read_block(source, meta.end, trailer.codec, _FILE_INFO, path)
        entries = [
            _IndexEntry(self._row(key), offset) for key, offset in self._root(root.data, trailer.data_index_count)
        ]
        return entries, parse_file_info(info.data, path)

    @cached_property
    def _blocks(self) -> list[_IndexEntry]:
        """The data blocks in order."""
        version = self.file_info.get("KEY_VALUE_VERSION")
        timestamps = self.file_info.get("MAX_MEMSTORE_TS_KEY")
        if version not in (None, (1).to_bytes(4, "big")) or timestamps not in (None, bytes(8)):
            raise damaged(self._path, f"cells of version {version!r}, {timestamps!r}, expected 1 without timestamps")
        entries = self._opened[0]
        if not 1 <= self._trailer.index_levels <= _MOST_LEVELS:
            raise damaged(self._path, f"an index of {self._trailer.index_levels} levels")
        for _ in range(self._trailer.index_levels - 1):
            entries = [lower for entry in entries for lower in self._lower_index(entry)]
        starts = [entry.key for entry in entries]
        if starts != sorted(starts):
            raise damaged(self._path, "the keys of its index are out of order")
        return entries

    def _root(self, data: bytes, count: int) -> Iterator[tuple[bytes, int]]:
        at = 0
        for _ in range(count):
            try:
                offset, _ = _ENTRY.unpack_from(data, at)
                length, at = read_vint(data, at + _ENTRY.size)
            except (struct.error, ValueError) as error:
                raise damaged(self._path, f"its index is cut off ({error})") from error
            if not 0 <= length <= len(data) - at:
                raise damaged(self._path, f"a key of {length} bytes in its index")
            yield data[at : at + length], offset
            at += length

    def _lower_index(self, entry: _IndexEntry) -> list[_IndexEntry]:
        data = read_block(self._source, entry.offset, self._trailer.codec, _LOWER_INDEX, self._path).data
        try:
            (count,) = struct.unpack_from(">i", data)
            offsets = struct.unpack_from(f">{count + 1}i", data, 4)
            start = 4 * (count + 2)
            found = []
            for begin, end in pairwise(offsets):
                offset, _ = _ENTRY.unpack_from(data, start + begin)
                found.append(_IndexEntry(self._row(data[start + begin + _ENTRY.size : start + end]), offset))
            return found
        except struct.error as error:
            raise damaged(self._path, f"the index block at byte {entry.offset} is cut off") from error

    def _row(self, key: bytes) -> bytes:
        length = int.from_bytes(key[:2], "big")
        if len(key) < 2 + length:
            raise damaged(self._path, f"a key of {len(key)} bytes whose row has {length}")
        return key[2 : 2 + length]

    def _read_cells(self, entry: _IndexEntry) -> tuple[list[bytes], list[bytes]]:
        data = read_block(self._source, entry.offset, self._trailer.codec, _DATA, self._path).data
        keys: list[bytes] = []
        values: list[bytes] = []
        at = 0
        unpack, end = _CELL.unpack_from, len(data)
        try:
            while at < end:
                key_length, value_length, row_length = unpack(data, at)
                value_at = at + 8 + key_length
                # Behind the value stands a write number, one zero byte where there are none.
                after = value_at + value_length
                if value_length < 0 or row_length + 2 > key_length or after >= end or data[after]:
                    raise damaged(self._path, f"a cell at byte {at} of the block at byte {entry.offset}")
                keys.append(data[at + 10 : at + 10 + row_length])
                values.append(data[value_at:after])
                at = after + 1
        except struct.error as error:
            raise damaged(self._path, f"the block at byte {entry.offset} is cut off") from error
        return keys, values
