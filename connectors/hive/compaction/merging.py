"""Merges streams of rows that are sorted by their keys into one, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.key_range import Key

__all__ = ["KeyedBatch", "SortedStream", "merged"]

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KeyedBatch:
    """Some rows with their keys.

    Attributes:
        write_ids: The write id by which each row was added.
        buckets: The bucket property of each row.
        row_ids: The number of each row among those of its write id and bucket property.
        rows: The rows.
    """

    write_ids: Int64s
    buckets: Int64s
    row_ids: Int64s
    rows: pa.RecordBatch

    @property
    def first(self) -> Key:
        """The key of the first row."""
        return self._key(0)

    @property
    def last(self) -> Key:
        """The key of the last row."""
        return self._key(-1)

    def is_sorted(self) -> bool:
        """Whether no key is less than the one before it."""
        writes, buckets, numbers = (np.diff(part) for part in (self.write_ids, self.buckets, self.row_ids))
        return not ((writes < 0) | ((writes == 0) & ((buckets < 0) | ((buckets == 0) & (numbers < 0))))).any()

    def count_to(self, key: Key) -> int:
        """How many keys are up to a key, which counts."""
        low, high = (int(np.searchsorted(self.write_ids, key[0], side)) for side in ("left", "right"))
        buckets = self.buckets[low:high]
        first, end = (low + int(np.searchsorted(buckets, key[1], side)) for side in ("left", "right"))
        return first + int(np.searchsorted(self.row_ids[first:end], key[2], "right"))

    def slice(self, start: int, end: int) -> KeyedBatch:
        """The rows from one position to before another."""
        rows = self.rows.slice(start, end - start)
        return KeyedBatch(self.write_ids[start:end], self.buckets[start:end], self.row_ids[start:end], rows)

    def _key(self, at: int) -> Key:
        return int(self.write_ids[at]), int(self.buckets[at]), int(self.row_ids[at])


@dataclass(frozen=True, slots=True)
class SortedStream:
    """The rows of one file.

    Attributes:
        path: The file, for messages.
        least: No key is below it; ``None`` where that is not known.
        open: Gives its batches, none of them empty.
    """

    path: str
    least: Key | None
    open: Callable[[], Iterator[KeyedBatch]]


def merged(streams: Sequence[SortedStream]) -> Generator[KeyedBatch, None, None]:
    """All rows in the order of their keys.

    A stream is opened when its least key is reached, so that of files that follow each other one is open at a time. Of
    each open one there is one batch in memory.

    Raises:
        NotSupportedError: The rows of a file are not in the order of their keys.
    """
    waiting = sorted(streams, key=lambda one: (one.least is not None, one.least or (0, 0, 0)), reverse=True)
    heads: list[_Head] = []
    while waiting or heads:
        bound = min((head.batch.last for head in heads), default=None)
        if waiting and (bound is None or waiting[-1].least is None or waiting[-1].least <= bound):
            head = _Head(waiting.pop())
            if head.advance():
                heads.append(head)
            continue
        assert bound is not None, "there are heads where nothing waits"
        yield _in_order([part for part in (head.take(bound) for head in heads) if part is not None])
        heads = [head for head in heads if not head.is_done]


class _Head:
    """An open stream with its next batch."""

    batch: KeyedBatch

    def __init__(self, stream: SortedStream) -> None:
        self._stream = stream
        self._batches = stream.open()
        self._before = stream.least
        self.is_done = False

    def advance(self) -> bool:
        """Reads the next batch; false where there is none."""
        batch = next(self._batches, None)
        if batch is None:
            self.is_done = True
            return False
        if not batch.is_sorted() or (self._before is not None and batch.first < self._before):
            raise NotSupportedError(
                f"{self._stream.path} cannot be compacted: its rows are not in the order of their row ids, as all "
                "writers of Hive have them; another program wrote it: INSERT OVERWRITE the table with its own rows",
                error_codes.HIVE_ACID_LAYOUT,
            )
        self.batch, self._before = batch, batch.last
        return True

    def take(self, bound: Key) -> KeyedBatch | None:
        """Takes the rows up to a key; ``None`` where there are none."""
        count, total = self.batch.count_to(bound), len(self.batch.row_ids)
        if not count:
            return None
        taken = self.batch
        if count < total:
            taken, self.batch = self.batch.slice(0, count), self.batch.slice(count, total)
        else:
            self.advance()
        return taken


def _in_order(parts: Sequence[KeyedBatch]) -> KeyedBatch:
    if len(parts) == 1:
        return parts[0]
    ordered = sorted(parts, key=lambda one: one.first)
    together = pa.Table.from_batches([one.rows for one in ordered]).combine_chunks().to_batches()
    writes, buckets, numbers = (
        np.concatenate([getattr(one, name) for one in ordered]) for name in ("write_ids", "buckets", "row_ids")
    )
    [rows] = together or [pa.RecordBatch.from_arrays([], [])]
    joined = KeyedBatch(writes, buckets, numbers, rows)
    if joined.is_sorted():
        return joined
    order = np.lexsort((numbers, buckets, writes))
    return KeyedBatch(writes[order], buckets[order], numbers[order], rows.take(pa.array(order)))
