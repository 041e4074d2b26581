"""Footers of ORC files that claim what cannot be."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from pyarrow import orc

from connector_spi.errors import CorruptFileError, NotSupportedError
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


@pytest.mark.parametrize("version", ["0.11", "0.12"])
def test_versions_that_are_known(version: str) -> None:
    out = io.BytesIO()
    orc.write_table(pa.table({"a": [1, 2]}), out, file_version=version)
    assert read_orc_footer(pa.BufferReader(out.getvalue()), "f").rows == 2


@pytest.mark.parametrize(
    ("told", "shown"),
    [(b'"\x02\x13\x63', "19.99"), (b" \x13 \x63", "19.99"), (b'"\x01\x02', "2"), (b'"\x02\x01\x00', "1.0")],
)
def test_later_versions_are_refused(told: bytes, shown: str) -> None:
    """As ORC's Java library does, of which Hive and Spark are; pyarrow only warns."""
    out = io.BytesIO()
    orc.write_table(pa.table({"a": [1, 2]}), out)
    content = out.getvalue()
    script = content[-1 - content[-1] : -1]
    known = b'"\x02\x00\x0c'
    assert script.count(known) == 1
    changed = script.replace(known, told)
    file = pa.BufferReader(content[: -1 - len(script)] + changed + bytes([len(changed)]))
    with pytest.raises(NotSupportedError, match=rf"f is of version {shown} of the ORC format; expected 0.11 or 0.12"):
        read_orc_footer(file, "f")
