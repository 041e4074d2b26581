"""Splits read in threads: order, bounds, errors, and that nothing stays behind."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError, InternalError
from connector_spi.page_source import PageSource
from lakeport.arrow.parallel_read import ParallelRead, default_threads

BROKEN: list[list[int | str]] = [[1, 2], ["broken"], [3]]
SCHEMA = pa.schema([("n", pa.int64())])


class Numbers(PageSource):
    """One batch a number; a text is an error."""

    def __init__(self, numbers: Sequence[int | str], shelf: Shelf) -> None:
        self._numbers = iter(numbers)
        self._shelf = shelf
        self._is_open = True

    @property
    def schema(self) -> pa.Schema:
        return SCHEMA

    def __next__(self) -> pa.RecordBatch:
        number = next(self._numbers)
        if isinstance(number, str):
            raise CorruptFileError(number)
        with self._shelf.lock:
            self._shelf.given += 1
        return pa.record_batch({"n": pa.array([] if number < 0 else [number], pa.int64())}, SCHEMA)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            with self._shelf.lock:
                self._shelf.open -= 1


class Shelf:
    """Counts what is open."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open = 0
        self.most_open = 0
        self.given = 0

    def __call__(self, numbers: Sequence[int | str]) -> PageSource:
        with self.lock:
            self.open += 1
            self.most_open = max(self.open, self.most_open)
        return Numbers(numbers, self)


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("lakeport-read")]


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    made = Shelf()
    yield made
    assert made.open == 0
    assert readers() == []


def numbers(read: Iterator[pa.RecordBatch]) -> list[int]:
    return [int(value) for batch in read for value in batch.column("n").to_pylist()]


@given(
    st.lists(st.lists(st.integers(-1, 99), max_size=5), max_size=8),
    st.integers(1, 4),
    st.booleans(),
    st.integers(0, 40),
)
def test_all_rows_come_once_and_in_order_where_asked(
    splits: list[list[int | str]], threads: int, ordered: bool, waiting_bytes: int
) -> None:
    shelf = Shelf()
    expected = [number for split in splits for number in split if isinstance(number, int) and number >= 0]
    found = numbers(ParallelRead(splits, shelf, threads, ordered=ordered, waiting_bytes=waiting_bytes))
    assert found == expected if ordered else sorted(found) == sorted(expected)
    assert shelf.open == 0
    assert shelf.most_open <= threads


def test_an_error_comes_where_the_rows_would(shelf: Shelf) -> None:
    read = ParallelRead(BROKEN, shelf, 3)
    assert [next(read).column("n")[0].as_py() for _ in range(2)] == [1, 2]
    with pytest.raises(CorruptFileError, match="broken"):
        next(read)
    assert readers() == []


def test_unordered_an_error_ends_the_read(shelf: Shelf) -> None:
    read = ParallelRead([[*range(1000)], ["broken"]], shelf, 2, ordered=False, waiting_bytes=8)
    with pytest.raises(CorruptFileError, match="broken"):
        numbers(read)


@pytest.mark.parametrize("ordered", [True, False])
def test_what_nobody_takes_is_not_read(shelf: Shelf, ordered: bool) -> None:
    read = ParallelRead([[*range(10_000)] for _ in range(4)], shelf, 3, ordered=ordered, waiting_bytes=80)
    next(read)
    with shelf.lock:
        # Ten batches of eight bytes wait, and each thread has one in its hands.
        assert shelf.given <= 1 + 10 + 2 * 3
    read.close()
    assert readers() == []
    with pytest.raises(Exception, match="closed"):
        next(read)


def test_a_read_that_nobody_has_any_more_ends(shelf: Shelf) -> None:
    read = ParallelRead([[*range(10_000)] for _ in range(4)], shelf, 3, waiting_bytes=8)
    next(read)
    threads = readers()
    del read
    gc.collect()
    for thread in threads:
        thread.join(timeout=30)
    assert readers() == []


def test_there_is_a_core() -> None:
    assert default_threads() >= 1


def test_threads_that_cannot_be_started_leave_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, start, started = Shelf(), threading.Thread.start, list[threading.Thread]()

    def start_two(thread: threading.Thread) -> None:
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_two)
    read = ParallelRead([[1], [2], [3]], shelf, 3)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        next(read)
    assert not any(thread.is_alive() for thread in started)
    assert shelf.open == 0
    with pytest.raises(InternalError, match="the read was closed"):
        next(read)
    read.close()


class _Slow(PageSource):
    """One batch, which storage takes a while to give."""

    schema = SCHEMA

    def __init__(self, number: int, shelf: Shelf) -> None:
        self._numbers = Numbers([number], shelf)

    def __next__(self) -> pa.RecordBatch:
        time.sleep(0.01)
        return next(self._numbers)

    def close(self) -> None:
        self._numbers.close()


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("most", [None, 6])
def test_more_threads_wait_for_storage(ordered: bool, most: int | None) -> None:
    shelf = Shelf()

    def opened(number: int) -> PageSource:
        shelf([])
        return _Slow(number, shelf)

    read = ParallelRead(range(60), opened, 2, most_threads=most, ordered=ordered)
    found = [number for batch in read for number in batch["n"].to_pylist()]
    assert (found if ordered else sorted(found)) == list(range(60))
    read.close()
    assert shelf.open == 0
    assert shelf.most_open == 2 if most is None else 2 < shelf.most_open <= 6


def test_a_read_that_is_closed_while_it_grows() -> None:
    shelf = Shelf()

    def opened(number: int) -> PageSource:
        shelf([])
        return _Slow(number, shelf)

    for taken in range(0, 30, 3):
        read = ParallelRead(range(60), opened, 2, most_threads=16)
        for _ in range(taken):
            next(read)
        read.close()
        assert shelf.open == 0
