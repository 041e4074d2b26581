"""The deletes of a bucket: in memory, loaded once per process, or streamed where they are too many. Executor side."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from connectors.hive.acid.delete_set import EVENT_BYTES, DeleteSet, KeyRuns, Mask
from connectors.hive.acid.file import DeleteFile
from connectors.hive.acid.key_range import ALL_KEYS, KeyRange
from connectors.hive.acid.read.delete_cache import DELETE_CACHE, DeleteCache
from connectors.hive.acid.read.delete_files import open_delete_file
from connectors.hive.acid.valid_ids import ValidIds
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["Deletes", "find_deletes"]

_THREADS = 8
_FEWEST_EVENTS = 1024


class Deletes(ABC):
    """Says which rows are deleted. A mask is true for a deleted row; ``None`` says that none is."""

    @abstractmethod
    def within(self, keys: KeyRange) -> Deletes | None:
        """The deletes of a range of keys; ``None`` where there are none."""

    @abstractmethod
    def deleted(self, keys: KeyRuns) -> Mask | None:
        """Which of the rows with these keys are deleted."""

    @abstractmethod
    def deleted_range(self, write_id: int, bucket: int, first: int, count: int) -> Mask | None:
        """Which of ``count`` rows with ascending row ids from ``first`` are deleted."""


def find_deletes(
    files: FileSystem,
    deletes: Sequence[DeleteFile],
    visible: ValidIds,
    memory: int,
    cache: DeleteCache = DELETE_CACHE,
) -> Deletes | None:
    """The deletes that files hold; ``None`` where they hold none.

    Args:
        files: Storage.
        deletes: All files that can have events for a bucket.
        visible: Write ids that are visible: events of others have not happened.
        memory: Most bytes of keys that this process keeps; of more than that a bounded part is read again and again.
        cache: Where sets are kept.
    """
    if not deletes:
        return None
    checked = any(delete.check_write_ids for delete in deletes)
    key = (files, tuple(deletes), visible if checked else None)
    found = cache.get(key, memory, lambda: _load(files, deletes, visible, memory))
    if found is None:
        return _StreamedDeletes(files, deletes, visible, max(memory // EVENT_BYTES, _FEWEST_EVENTS), ALL_KEYS)
    return _LoadedDeletes(found) if found.size else None


class _LoadedDeletes(Deletes):
    def __init__(self, events: DeleteSet) -> None:
        self._events = events

    def within(self, keys: KeyRange) -> Deletes | None:
        events = self._events.within(keys)
        return _LoadedDeletes(events) if events.size else None

    def deleted(self, keys: KeyRuns) -> Mask | None:
        return self._events.deleted(keys)

    def deleted_range(self, write_id: int, bucket: int, first: int, count: int) -> Mask | None:
        return self._events.deleted_range(write_id, bucket, first, count)


class _StreamedDeletes(Deletes):
    """Goes through the delete files for each stripe of data.

    Both are sorted by key, so the stripes of a delete file that overlap one stripe of data are few where the file has
    a key index. At most one stripe of a delete file is in memory, and a set of a bounded part of it.
    """

    def __init__(
        self, files: FileSystem, deletes: Sequence[DeleteFile], visible: ValidIds, most_events: int, keys: KeyRange
    ) -> None:
        self._files = files
        self._deletes = deletes
        self._visible = visible
        self._most_events = most_events
        self._keys = keys

    def within(self, keys: KeyRange) -> Deletes | None:
        return _StreamedDeletes(self._files, self._deletes, self._visible, self._most_events, keys)

    def deleted(self, keys: KeyRuns) -> Mask | None:
        return _union(events.deleted(keys) for events in self._sets(_bounds(keys)))

    def deleted_range(self, write_id: int, bucket: int, first: int, count: int) -> Mask | None:
        keys = KeyRange((write_id, bucket, first), (write_id, bucket, first + count - 1))
        return _union(events.deleted_range(write_id, bucket, first, count) for events in self._sets(keys))

    def _sets(self, keys: KeyRange) -> Iterator[DeleteSet]:
        for delete in self._deletes:
            opened = open_delete_file(self._files, delete)
            try:
                for runs in opened.read(self._visible, keys):
                    for part in _parts(runs, self._most_events):
                        yield DeleteSet([part]).within(keys)
            finally:
                opened.close()


def _load(files: FileSystem, deletes: Sequence[DeleteFile], visible: ValidIds, memory: int) -> DeleteSet | None:
    """All events; ``None`` where they need more memory than they may."""
    lock = threading.Lock()
    rows = 0

    def load(delete: DeleteFile) -> list[KeyRuns] | None:
        nonlocal rows
        if rows * EVENT_BYTES > memory:
            return None
        opened = open_delete_file(files, delete)
        try:
            with lock:
                rows += opened.rows
                if rows * EVENT_BYTES > memory:
                    return None
            return list(opened.read(visible))
        finally:
            opened.close()

    if len(deletes) == 1:
        found = [load(deletes[0])]
    else:
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="hive-deletes") as pool:
            found = list(pool.map(load, deletes))
    runs: list[KeyRuns] = []
    for one in found:
        if one is None:
            return None
        runs += one
    return DeleteSet(runs)


def _parts(runs: KeyRuns, most_rows: int) -> Iterator[KeyRuns]:
    """The same keys in parts of at most ``most_rows``."""
    rows = runs.row_ids.size
    if rows <= most_rows:
        yield runs
        return
    for start in range(0, rows, most_rows):
        end = min(rows, start + most_rows)
        first = int(np.searchsorted(runs.starts, start, side="right")) - 1
        last = int(np.searchsorted(runs.starts, end, side="left"))
        starts = np.clip(runs.starts[first : last + 1], start, end) - start
        yield KeyRuns(runs.write_ids[first:last], runs.buckets[first:last], starts, runs.row_ids[start:end])


def _bounds(keys: KeyRuns) -> KeyRange:
    """A range that holds all keys: as narrow as the first part in which they differ tells."""
    if not keys.row_ids.size:
        return ALL_KEYS
    low: list[int] = []
    high: list[int] = []
    for values in (keys.write_ids, keys.buckets, keys.row_ids):
        low.append(int(values.min()))
        high.append(int(values.max()))
        if low[-1] != high[-1]:
            break
    smallest, greatest = -(2**63), 2**63 - 1
    missing = 3 - len(low)
    first = (*low, *[smallest] * missing)
    last = (*high, *[greatest] * missing)
    return KeyRange((first[0], first[1], first[2]), (last[0], last[1], last[2]))


def _union(masks: Iterator[Mask | None]) -> Mask | None:
    found: Mask | None = None
    for mask in masks:
        if mask is not None:
            found = mask if found is None else found | mask
    return found
