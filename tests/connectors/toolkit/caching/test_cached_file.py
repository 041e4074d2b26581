"""A file whose blocks are kept reads as the file itself, and asks for each block once."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.toolkit.caching.block_store import BlockStore, StoreDirectory
from connectors.toolkit.caching.cached_file import BLOCK_BYTES, cached_file
from tests.sampling import examples

CONTENT = os.urandom(2 * BLOCK_BYTES + 1234)


class Far:
    """A file that counts what is asked of it."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.opened = 0

    def open(self) -> pa.NativeFile:
        self.opened += 1
        return pa.BufferReader(self.content)


@pytest.fixture
def store(tmp_path: Path) -> BlockStore:
    return BlockStore((StoreDirectory(str(tmp_path / "a"), 1 << 30), StoreDirectory(str(tmp_path / "b"), 1 << 30)))


_OFFSETS = st.integers(0, len(CONTENT) + 10)


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(_OFFSETS, st.one_of(st.integers(0, 100), _OFFSETS)), max_size=5))
def test_it_reads_as_the_file_itself(store: BlockStore, reads: list[tuple[int, int]]) -> None:
    far = Far(CONTENT)
    with cached_file(store, "f", len(CONTENT), far.open) as file:
        assert file.size() == len(CONTENT)
        for offset, length in reads:
            assert file.read_at(length, offset) == CONTENT[offset : offset + length]
            file.seek(offset)
            assert file.read(length) == CONTENT[offset : offset + length]


def test_what_is_held_is_not_asked_for(store: BlockStore) -> None:
    far = Far(CONTENT)
    for _ in range(2):
        with cached_file(store, "f", len(CONTENT), far.open) as file:
            assert file.read() == CONTENT
    assert far.opened == 1
    with cached_file(store, "a newer state of it", len(CONTENT), far.open) as file:
        assert file.read_at(10, BLOCK_BYTES) == CONTENT[BLOCK_BYTES : BLOCK_BYTES + 10]
    assert far.opened == 2


def test_parquet_comes_from_held_blocks(store: BlockStore) -> None:
    rows = pa.table({"id": range(100_000), "s": [f"row {n % 977}" for n in range(100_000)]})
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, row_group_size=10_000, compression="none")
    far = Far(sink.getvalue().to_pybytes())
    for _ in range(2):
        with cached_file(store, "p", len(far.content), far.open) as file:
            assert pq.ParquetFile(file).read().equals(rows)
    assert far.opened == 1


def test_a_file_that_ends_early_is_an_error(store: BlockStore) -> None:
    far = Far(CONTENT[:-1])
    with cached_file(store, "f", len(CONTENT), far.open) as file, pytest.raises(OSError, match="1 bytes before"):
        file.read()
