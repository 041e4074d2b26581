"""Reading ahead in tasks: the same rows, bounded, and nothing left behind however the task ends."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import CorruptFileError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import GeneratorPageSourceProvider
from connector_spi.scan_counters import ScanCounts, count, counting
from connector_spi.session import ConnectorSession
from lakeport.plugin_errors import ConnectorOrigin
from lakeport.spark.tasks.read_ahead import read_ahead
from lakeport.spark.tasks.row_predicate import RowPredicate
from lakeport.spark.tasks.task import TableSource, TaskReader, TaskWork

SCHEMA = pa.schema([("n", pa.int64())])
_WAIT = 60


class Watched:
    """A generator of one row a batch that tells how far it is; a batch may be made to look large."""

    def __init__(self, rows: int, fails_at: int | None = None, copies: int = 1) -> None:
        self.rows = rows
        self.fails_at = fails_at
        self.copies = copies
        self.made = threading.Semaphore(0)
        self.number_made = 0
        self.is_closed = False

    def batches(self) -> Generator[pa.RecordBatch, None, None]:
        try:
            for number in range(self.rows):
                if number == self.fails_at:
                    raise CorruptFileError("broken")
                count("batches made")
                self.number_made += 1
                self.made.release()
                yield pa.record_batch({"n": pa.array([number] * self.copies, pa.int64())}, SCHEMA)
        finally:
            self.is_closed = True


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    yield
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("lakeport-read")]


@pytest.mark.parametrize("rows", [0, 1, 2, 50])
def test_the_same_batches_in_order(rows: int) -> None:
    watched, counts = Watched(rows), ScanCounts()
    with counting(counts):
        found = [batch.column("n")[0].as_py() for batch in read_ahead(watched.batches())]
    assert found == list(range(rows))
    assert counts.as_mapping() == ({"batches made": rows} if rows else {})
    assert watched.is_closed


def test_the_next_batches_are_made_while_one_is_worked_on() -> None:
    watched = Watched(4)
    batches = read_ahead(watched.batches())
    next(batches)
    assert watched.number_made == 1
    next(batches)
    for _ in range(4):
        assert watched.made.acquire(timeout=_WAIT)
    assert len(list(batches)) == 2


def test_what_waits_is_bounded() -> None:
    watched = Watched(100, copies=1 << 19)  # 4 MB
    batches = read_ahead(watched.batches())
    for _ in range(2):
        next(batches)
    batches.close()
    assert watched.number_made <= 2 + 4 + 2
    assert watched.is_closed


def test_an_error_comes_behind_the_batches_before_it() -> None:
    watched = Watched(9, fails_at=3)
    batches = read_ahead(watched.batches())
    assert [next(batches).column("n")[0].as_py() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(CorruptFileError, match="broken"):
        next(batches)
    assert watched.is_closed


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_an_early_end_closes_all(taken: int) -> None:
    watched = Watched(1000)
    batches = read_ahead(watched.batches())
    for _ in range(taken):
        next(batches)
    batches.close()
    assert watched.is_closed or not taken


@dataclass(frozen=True, slots=True)
class _Range(Split):
    first: int
    fails: bool = False

    @property
    def size_bytes(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class _Even(RowPredicate):
    def mask(self, batch: pa.RecordBatch) -> pa.Array:
        return pc.equal(pc.bit_wise_and(batch.column("n"), 1), 0)

    def columns(self) -> frozenset[str]:
        return frozenset({"n"})


class _Provider(GeneratorPageSourceProvider[TableHandle, _Range]):
    def __init__(self) -> None:
        self.open = 0

    def read(self, split: _Range, table: TableHandle, columns: tuple[ColumnHandle, ...]) -> Iterator[pa.RecordBatch]:
        self.open += 1
        try:
            for number in range(split.first, split.first + 10):
                yield pa.record_batch({"n": pa.array([number], pa.int64())}, SCHEMA)
            if split.fails:
                raise CorruptFileError("broken")
        finally:
            self.open -= 1


def _reader(work: TaskWork, provider: _Provider) -> TaskReader:
    session = ConnectorSession("q", "u", "UTC", datetime(2024, 1, 1, tzinfo=UTC))
    columns, origin = (ColumnHandle("n", pa.int64()),), ConnectorOrigin("c", "c", True)
    source = TableSource(provider, session, TableHandle(), columns, origin)
    return TaskReader(source, SCHEMA, 1, work, reads_ahead=True)


@pytest.mark.parametrize("limit", [None, 1, 7, 15])
def test_a_task_gives_what_it_gives_without(limit: int | None) -> None:
    provider, splits = _Provider(), [_Range(0), _Range(10), _Range(20)]
    reader = _reader(TaskWork(_Even(), limit=limit), provider)
    plain = replace(reader, reads_ahead=False)
    met, expected = (
        [row for batch in one.read_splits(splits) for row in batch.column("n").to_pylist()] for one in (reader, plain)
    )
    assert met == expected == list(range(0, 30, 2))[:limit]
    assert provider.open == 0


def test_an_error_and_an_early_end_close_the_splits_of_a_task() -> None:
    provider = _Provider()
    with pytest.raises(CorruptFileError, match="broken"):
        list(_reader(TaskWork(), provider).read_splits([_Range(0, fails=True), _Range(10)]))
    assert provider.open == 0
    batches = _reader(TaskWork(), provider).read_splits([_Range(0), _Range(10)])
    assert isinstance(batches, Generator)
    for _ in range(3):
        next(batches)
    batches.close()
    assert provider.open == 0
