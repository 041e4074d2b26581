from __future__ import annotations

import base64
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError
from connectors.hudi.log.block import BlockType, HeaderKey, LogBlock
from connectors.hudi.log.positions import block_positions, positions_column


def block(bitmap: bytes) -> LogBlock:
    headers: dict[int, str] = {HeaderKey.RECORD_POSITIONS: base64.b64encode(bitmap).decode()}
    return LogBlock(BlockType.AVRO_DATA, "log", 0, 100, headers=headers)


def container(values: Sequence[int], runs: bool) -> bytes:
    if runs:
        pairs: list[int] = []
        for value in values:
            if pairs and value == pairs[-2] + pairs[-1] + 1:
                pairs[-1] += 1
            else:
                pairs += [value, 0]
        return struct.pack(f"<H{len(pairs)}H", len(pairs) // 2, *pairs)
    if len(values) > 4096:
        bits = bytearray(8192)
        for value in values:
            bits[value // 8] |= 1 << value % 8
        return bytes(bits)
    return struct.pack(f"<{len(values)}H", *values)


def bitmap32(values: Sequence[int], runs: bool) -> bytes:
    """As RoaringFormatSpec has it; all containers of runs, or none."""
    keys = sorted({value >> 16 for value in values})
    groups = [[value & 0xFFFF for value in values if value >> 16 == key] for key in keys]
    heads = b"".join(struct.pack("<HH", key, len(group) - 1) for key, group in zip(keys, groups, strict=True))
    bodies = [container(group, runs) for group in groups]
    start = struct.pack("<HH", 12347, len(keys) - 1) if runs else struct.pack("<II", 12346, len(keys))
    flags = ((1 << len(keys)) - 1).to_bytes((len(keys) + 7) // 8, "little") if runs else b""
    offsets = b"\0" * 4 * len(keys) if not runs or len(keys) >= 4 else b""
    return start + flags + heads + offsets + b"".join(bodies)


def bitmap64(values: Sequence[int], runs: bool) -> bytes:
    highs = sorted({value >> 32 for value in values})
    parts = [
        struct.pack("<I", high) + bitmap32([value & 0xFFFFFFFF for value in values if value >> 32 == high], runs)
        for high in highs
    ]
    return struct.pack("<Q", len(highs)) + b"".join(parts)


stretches = st.builds(
    lambda start, length: range(start, start + length),
    st.integers(0, 2**33) | st.integers(0, 200_000) | st.sampled_from([65_530, 2**32 - 5]),
    st.integers(1, 40) | st.just(5000),
)


@given(st.lists(stretches, max_size=6), st.booleans())
def test_positions_in_order(spans: list[range], runs: bool) -> None:
    values = sorted({value for span in spans for value in span})
    found = block_positions(block(bitmap64(values, runs)))
    assert found is not None
    assert found.tolist() == values


def test_a_block_without_positions() -> None:
    plain = LogBlock(BlockType.AVRO_DATA, "log", 0, 100)
    assert block_positions(plain) is None
    assert positions_column(plain, 2).to_pylist() == [None, None]


@pytest.mark.parametrize("runs", [False, True])
def test_every_cut_is_noticed(runs: bool) -> None:
    whole = bitmap64([1, 2, 3, 70_000, 2**32 + 1], runs)
    for cut in range(len(whole)):
        with pytest.raises(CorruptFileError, match="record positions"):
            block_positions(block(whole[:cut]))
    with pytest.raises(CorruptFileError, match="record positions"):
        block_positions(block(whole + b"\0"))


@given(st.binary(max_size=40))
def test_any_bytes_are_positions_or_an_error(noise: bytes) -> None:
    for start in (b"", struct.pack("<QII", 1, 0, 12346), struct.pack("<QIHH", 1, 0, 12347, 0)):
        try:
            found = block_positions(block(start + noise))
        except CorruptFileError:
            continue
        assert found is not None
        assert found.tolist() == sorted(set(found.tolist()))


def test_text_that_is_no_base64_is_an_error() -> None:
    headers: dict[int, str] = {HeaderKey.RECORD_POSITIONS: "no base64!"}
    with pytest.raises(CorruptFileError, match="record positions"):
        block_positions(LogBlock(BlockType.AVRO_DATA, "log", 0, 100, headers=headers))
