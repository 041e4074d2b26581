"""Writes HFiles of version 3 with an index of any depth, for tests."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Mapping, Sequence

Cell = tuple[bytes, bytes]


def hfile(
    cells: Sequence[Cell],
    *,
    per_block: int = 3,
    levels: int = 1,
    codec: int = 1,
    info: Mapping[str, bytes] | None = None,
    meta: Mapping[str, bytes] | None = None,
    fake_keys: bool = False,
) -> bytes:
    """A file.

    Args:
        cells: Keys and values, sorted by key.
        per_block: Cells of a data block, and entries of a lower index block.
        levels: Levels of the index.
        codec: 1 for gzip, 2 for none.
        info: The file info.
        meta: Named blocks beside the data.
        fake_keys: Give blocks index keys that are in no block, between its first key and the last of the one before.
    """
    out = bytearray()
    entries: list[tuple[bytes, int, int]] = []
    for start in range(0, len(cells), per_block):
        group = cells[start : start + per_block]
        data = b"".join(_cell(key, value) for key, value in group)
        first = _between(cells[start - 1][0], group[0][0]) if fake_keys and start else group[0][0]
        entries.append((_key(first), *_append(out, b"DATABLK*", data, codec)))
    for level in range(levels - 1):
        upper = []
        for start in range(0, len(entries), per_block):
            group_entries = entries[start : start + per_block]
            magic = b"IDXLEAF2" if level == 0 else b"IDXINTE2"
            upper.append((group_entries[0][0], *_append(out, magic, _lower(group_entries), codec)))
        entries = upper
    metas = [(name.encode(), *_append(out, b"METABLKc", data, codec)) for name, data in sorted((meta or {}).items())]
    load_on_open = len(out)
    _append(out, b"IDXROOT2", _root(entries), codec)
    _append(out, b"IDXROOT2", _root(metas), codec)
    _append(out, b"FILEINF2", _info(info or {}), codec)
    fields = {2: load_on_open, 5: len(entries), 6: len(metas), 7: len(cells), 8: levels, 12: codec}
    proto = b"".join(_varint(number << 3) + _varint(value) for number, value in fields.items())
    trailer = b'TRABLK"$' + _varint(len(proto)) + proto
    return bytes(out) + trailer.ljust(4092, b"\0") + struct.pack(">I", 3)


def _append(out: bytearray, magic: bytes, data: bytes, codec: int) -> tuple[int, int]:
    packed = gzip.compress(data) if codec == 1 else data
    offset = len(out)
    checksums = b"\0" * 4
    out += struct.pack(">8siiqbii", magic, len(packed) + len(checksums), len(data), -1, 1, 16384, 33 + len(packed))
    out += packed + checksums
    return offset, len(out) - offset


def _key(row: bytes) -> bytes:
    return struct.pack(">H", len(row)) + row + b"\0" + b"\x7f" + b"\xff" * 7 + b"\x04"


def _cell(row: bytes, value: bytes) -> bytes:
    key = _key(row)
    return struct.pack(">ii", len(key), len(value)) + key + value + b"\0"


def _between(low: bytes, high: bytes) -> bytes:
    """The shortest key above one and not above the other."""
    for end in range(1, len(high) + 1):
        if high[:end] > low:
            return high[:end]
    return high


def _root(entries: Sequence[tuple[bytes, int, int]]) -> bytes:
    return b"".join(struct.pack(">qi", offset, size) + _hadoop_vint(len(key)) + key for key, offset, size in entries)


def _lower(entries: Sequence[tuple[bytes, int, int]]) -> bytes:
    parts = [struct.pack(">qi", offset, size) + key for key, offset, size in entries]
    offsets = [0]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f">i{len(offsets)}i", len(entries), *offsets) + b"".join(parts)


def _info(entries: Mapping[str, bytes]) -> bytes:
    body = b""
    for key, value in entries.items():
        name = key.encode()
        pair = b"\x0a" + _varint(len(name)) + name + b"\x12" + _varint(len(value)) + value
        body += b"\x0a" + _varint(len(pair)) + pair
    return b"PBUF" + _varint(len(body)) + body


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _hadoop_vint(number: int) -> bytes:
    if -112 <= number <= 127:
        return struct.pack(">b", number)
    body = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return struct.pack(">b", -112 - len(body)) + body
