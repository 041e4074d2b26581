"""Blocks on a local disk: what is held is what was put, whatever happens to the files; bounded; for many processes."""

from __future__ import annotations

import multiprocessing
import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connector_spi.errors import StorageError
from connectors.toolkit.caching.block_store import BlockStore, StoreDirectory
from tests.sampling import examples

_HEADER = 44


def store(folder: Path, most: int = 1 << 20) -> BlockStore:
    return BlockStore((StoreDirectory(str(folder), most),))


def block_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "held")


def test_a_block_is_held_for_other_objects_and_flushed(tmp_path: Path) -> None:
    blocks = store(tmp_path)
    assert blocks.get("a 0") is None
    blocks.put("a 0", b"rows")
    blocks.put("a 1", b"")
    assert (blocks.get("a 0"), blocks.get("a 1"), blocks.get("a 2")) == (b"rows", b"", None)
    assert store(tmp_path).get("a 0") == b"rows"
    state = blocks.state
    assert (state.entries, state.bytes) == (2, 2 * _HEADER + 4)
    assert (state.hits, state.misses, state.evictions) == (2, 2, 0)
    assert blocks.flush() == 2
    assert (blocks.get("a 0"), blocks.state.entries, blocks.state.bytes) == (None, 0, 0)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 255), st.booleans())
def test_a_damaged_block_is_never_given(tmp_path: Path, block: bytes, at: int, byte: int, cut: bool) -> None:
    blocks = store(tmp_path)
    blocks.flush()
    blocks.put("k", block)
    [file] = block_files(tmp_path)
    content = bytearray(file.read_bytes())
    at %= len(content)
    damaged = bytes(content[:at]) if cut else bytes(content[:at]) + bytes([byte]) + bytes(content[at + 1 :])
    file.write_bytes(damaged)
    found = blocks.get("k")
    assert found == block if damaged == bytes(content) else found is None
    if found is None:
        assert block_files(tmp_path) == []
        blocks.put("k", block)
        assert blocks.get("k") == block


def test_a_block_in_the_place_of_another_is_not_given(tmp_path: Path) -> None:
    blocks = store(tmp_path)
    blocks.put("one", b"1")
    [one] = block_files(tmp_path)
    blocks.put("two", b"2")
    [two] = [file for file in block_files(tmp_path) if file != one]
    one.write_bytes(two.read_bytes())
    assert (blocks.get("one"), blocks.get("two")) == (None, b"2")


def test_the_longest_unused_blocks_go_first(tmp_path: Path) -> None:
    blocks = store(tmp_path, 10 * (100 + _HEADER))
    for number in range(10):
        blocks.put(str(number), bytes([number]) * 100)
    for age, file in enumerate(block_files(tmp_path)):
        os.utime(file, (1_000_000 + age, 1_000_000 + age))
    assert blocks.get("3") == bytes([3]) * 100
    blocks.put("new", b"n" * 100)
    assert (blocks.get("3"), blocks.get("new")) == (bytes([3]) * 100, b"n" * 100)
    assert blocks.state.evictions == 2
    assert sum(file.stat().st_size for file in block_files(tmp_path)) == blocks.state.bytes <= 10 * (100 + _HEADER)
    blocks.put("huge", b"h" * 2000)
    assert blocks.get("huge") is None


@pytest.mark.parametrize("written", [b"", b"rubbish", b"1 2 3\n"])
def test_a_count_that_is_lost_is_counted_anew(tmp_path: Path, written: bytes) -> None:
    blocks = store(tmp_path)
    for number in range(5):
        blocks.put(str(number), b"x" * 10)
    [held] = tmp_path.rglob("held")
    held.write_bytes(written)
    assert (blocks.state.entries, blocks.state.bytes) == (5, 5 * (10 + _HEADER))


def test_a_directory_that_others_may_change_is_refused(tmp_path: Path) -> None:
    store(tmp_path)
    [root] = tmp_path.iterdir()
    root.chmod(0o777)
    with pytest.raises(StorageError, match="can be changed by others"):
        store(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be kept"):
        store(tmp_path / "file")


def _work(folder: str, seed: int, most: int) -> None:
    blocks, chance = store(Path(folder), most), random.Random(seed)
    for _ in range(300):
        number = chance.randrange(60)
        expected = bytes([number]) * (number * 7 + 1)
        found = blocks.get(str(number))
        assert found is None or found == expected
        if found is None:
            blocks.put(str(number), expected)
        assert blocks.state.bytes <= most


def test_processes_share_a_bounded_directory(tmp_path: Path) -> None:
    most = 4000
    context = multiprocessing.get_context("spawn")
    started = [context.Process(target=_work, args=(str(tmp_path), seed, most)) for seed in range(2)]
    for one in started:
        one.start()
    for one in started:
        one.join(120)
    assert [one.exitcode for one in started] == [0, 0]
    held = store(tmp_path, most).state
    assert held.bytes == sum(file.stat().st_size for file in block_files(tmp_path)) <= most
