from __future__ import annotations

import io
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError, NotSupportedError, StorageError
from connectors.hudi.log.block import MAGIC, BlockType, HeaderKey, LogBlock
from connectors.hudi.log.block_parser import parse_log_blocks
from connectors.hudi.log.reader import block_content, read_log_blocks
from connectors.toolkit.storage.byte_source import FileSource, MemorySource
from tests.connectors.hudi.log.writer import log_block, rollback_block

DATA_TYPES = [BlockType.DELETE, BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA]

blocks = st.builds(
    log_block,
    st.sampled_from(DATA_TYPES),
    st.dictionaries(st.sampled_from([0, 1, 2, 4, 7, 99]), st.text(max_size=20), max_size=4),
    st.binary(max_size=60) | st.just(b"#HUDI#" * 3) | st.just(b"#HUDI"),
)


def parsed(data: bytes) -> list[LogBlock]:
    return list(parse_log_blocks(MemorySource(data), "log"))


def extents(found: list[LogBlock]) -> list[tuple[int, int, bool]]:
    return [(block.offset, block.length, block.type is BlockType.CORRUPT) for block in found]


def test_a_block_says_what_it_holds() -> None:
    data = log_block(BlockType.AVRO_DATA, {0: "20240101000000001", 2: "{}", 4: "1, 2", 7: "true"}, b"rows")
    [block] = parsed(data)
    assert block.type is BlockType.AVRO_DATA
    assert block.instant_time == "20240101000000001"
    assert block.schema == "{}"
    assert block.compacted_instants == ("1", "2")
    assert block.is_partial
    assert block.positions_base_instant is None
    assert data[block.content_offset :][: block.content_length] == b"rows"
    # The last 8 bytes count the magic, the first 8 do not.
    assert struct.unpack(">q", data[6:14])[0] + 6 == struct.unpack(">q", data[-8:])[0] == len(data) - 8


def test_a_rollback_names_its_target() -> None:
    [block] = parsed(rollback_block("3", "2"))
    assert (block.type, block.rolled_back_instant) == (BlockType.COMMAND, "2")


def test_another_command_is_refused() -> None:
    [block] = parsed(log_block(BlockType.COMMAND, {0: "3", 1: "2", 3: "1"}))
    with pytest.raises(NotSupportedError, match="command block '1'"):
        _ = block.rolled_back_instant


def test_an_empty_file_has_no_block() -> None:
    assert parsed(b"") == []


def test_unknown_header_keys_and_footers_are_kept() -> None:
    [block] = parsed(log_block(BlockType.DELETE, {0: "1", 77: "new"}, footers={0: "end"}))
    assert block.headers == {0: "1", 77: "new"}
    assert block.footers == {0: "end"}


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (b"PAR1" + b"x" * 40, NotSupportedError, "native log format"),
        (b"no log at all", CorruptFileError, "no log file"),
        (log_block(9, {0: "1"}), NotSupportedError, "block type 9"),
        (log_block(BlockType.CORRUPT, {0: "1"}), NotSupportedError, "block type 2"),
        (log_block(BlockType.DELETE, {0: "1"}, version=2), NotSupportedError, "log format version 2"),
        (log_block(BlockType.DELETE, {0: "1"}, version=0), NotSupportedError, "log format version 0"),
    ],
)
def test_what_is_not_understood_is_refused(data: bytes, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        parsed(data)


@pytest.mark.parametrize("at", [22, 26, 30])
def test_a_whole_block_with_a_damaged_header_is_an_error(at: int) -> None:
    data = bytearray(log_block(BlockType.DELETE, {0: "1"}, b"content"))
    data[at : at + 4] = struct.pack(">i", 1 << 20)
    if at == 26:
        # Another key only: unknown keys are kept, and then the instant is missing.
        with pytest.raises(CorruptFileError, match="INSTANT_TIME"):
            _ = parsed(bytes(data))[0].instant_time
    else:
        with pytest.raises(CorruptFileError, match="damaged"):
            parsed(bytes(data))


@given(st.lists(blocks, min_size=1, max_size=4))
def test_a_file_cut_anywhere_gives_the_blocks_before_the_cut(written: list[bytes]) -> None:
    whole = b"".join(written)
    expected, start = [], 0
    for block in written:
        expected.append((start, len(block), False))
        start += len(block)
    for cut in range(len(whole) + 1):
        found = extents(parsed(whole[:cut]))
        kept = [extent for extent in expected if extent[0] + extent[1] <= cut]
        good = [extent for extent in found if not extent[2]]
        assert good == kept
        # What is left of the block at the cut is passed over; a magic in its content may look like another begin.
        assert sum(length for _, length, _ in found) == cut


@given(st.lists(blocks, min_size=1, max_size=3), st.lists(blocks, min_size=1, max_size=3), st.binary(max_size=50))
def test_blocks_behind_a_half_written_one_are_found(before: list[bytes], after: list[bytes], torn: bytes) -> None:
    data = b"".join(before) + MAGIC + torn.replace(b"#", b"") + b"".join(after)
    found = parsed(data)
    starts = {block.offset for block in found if block.type is not BlockType.CORRUPT}
    position = len(data) - sum(map(len, after))
    for block in after:
        assert position in starts
        position += len(block)
    assert sum(block.length for block in found) == len(data)


def test_a_block_before_garbage_is_passed_over_as_hudi_does() -> None:
    # HoodieLogFileReader.isBlockCorrupt: neither a magic nor the end of the file follows.
    first, second = log_block(BlockType.DELETE, {0: "1"}), log_block(BlockType.DELETE, {0: "2"})
    found = parsed(first + b"garbage" + second)
    assert [block.type for block in found] == [BlockType.CORRUPT, BlockType.DELETE]
    assert found[1].instant_time == "2"
    # Fewer bytes than a magic are the end of the file.
    assert [block.type for block in parsed(first + b"garb")] == [BlockType.DELETE, BlockType.CORRUPT]


@given(st.binary(max_size=200), st.lists(st.integers(0, 199), max_size=6))
def test_any_bytes_end(noise: bytes, positions: list[int]) -> None:
    data = bytearray(MAGIC + noise)
    for position in positions:
        data[position : position + 6] = MAGIC
    if not data.startswith(MAGIC):
        data = bytearray(MAGIC) + data
    try:
        found = parsed(bytes(data))
    except (CorruptFileError, NotSupportedError):
        return
    assert sum(block.length for block in found) == len(data)


@given(st.lists(blocks, min_size=1, max_size=4), st.integers(1, 64))
def test_a_file_is_read_in_windows_like_memory(written: list[bytes], window: int) -> None:
    data = b"".join(written)
    file = pa.BufferReader(data)
    assert list(parse_log_blocks(FileSource(file, window=window), "log")) == parsed(data)


def test_what_a_writer_appends_after_the_listing_is_not_read() -> None:
    first, second = log_block(BlockType.DELETE, {0: "1"}, b"one"), log_block(BlockType.DELETE, {0: "2"}, b"two")
    file = pa.BufferReader(first + second)
    [block] = read_log_blocks(file, "log", len(first))
    assert block_content(file, block).to_pybytes() == b"one"
    with pytest.raises(CorruptFileError, match="run the query again"):
        list(read_log_blocks(file, "log", len(first + second) + 1))


class FailingFile(io.BytesIO):
    """A file whose storage goes away."""

    gone = False

    def read(self, size: int | None = -1, /) -> bytes:
        if self.gone:
            raise OSError("connection reset")
        return super().read(size)


def test_storage_that_fails_between_blocks_is_named() -> None:
    written = FailingFile(log_block(BlockType.DELETE, {0: "1"}, bytes(200_000)))
    file = pa.PythonFile(written, mode="r")
    [block] = read_log_blocks(file, "s3://lake/t/.f1.log.1")
    written.gone = True
    with pytest.raises(StorageError, match=r"s3://lake/t/\.f1\.log\.1: connection reset"):
        block_content(file, block)
    with pytest.raises(StorageError, match=r"s3://lake/t/\.f1\.log\.1: connection reset"):
        list(read_log_blocks(file, "s3://lake/t/.f1.log.1"))


def test_header_keys_are_those_of_hudi() -> None:
    assert [key.name for key in HeaderKey][:5] == [
        "INSTANT_TIME", "TARGET_INSTANT_TIME", "SCHEMA", "COMMAND_BLOCK_TYPE", "COMPACTED_BLOCK_TIMES"
    ]  # fmt: skip
