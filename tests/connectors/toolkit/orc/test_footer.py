"""Footers of ORC files that claim what cannot be."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from pyarrow import orc

from connector_spi.errors import CorruptFileError
from connectors.toolkit.orc.footer import read_orc_footer

_BLOCK = 1 << 16


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def file_with_blocks_of(size: int) -> pa.BufferReader:
    """A file whose postscript claims blocks of so many bytes."""
    out = io.BytesIO()
    orc.write_table(pa.table({"a": [1, 2]}), out, compression="zlib", compression_block_size=_BLOCK)
    content = out.getvalue()
    length = content[-1]
    script = content[-1 - length : -1]
    told = b"\x18" + varint(_BLOCK)
    assert script.count(told) == 1
    changed = script.replace(told, b"\x18" + varint(size))
    return pa.BufferReader(content[: -1 - length] + changed + bytes([len(changed)]))


def test_blocks_of_any_size_that_writers_make() -> None:
    for size in (_BLOCK, (1 << 23) - 1):
        assert read_orc_footer(file_with_blocks_of(size), "f").block_size == size


@pytest.mark.parametrize("size", [1 << 40, 1 << 63, 1 << 68])
def test_blocks_that_no_memory_holds_are_damage(size: int) -> None:
    with pytest.raises(CorruptFileError, match="claims blocks of"):
        read_orc_footer(file_with_blocks_of(size), "f")
