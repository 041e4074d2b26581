"""When rows were deleted: the delete events of a span of write ids, by key. Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from connector_spi.errors import ResourceError
from connectors.hive.acid.delete_set import EVENT_BYTES, MAX_DELETE_MEMORY, DeleteSet, Int64s, KeyRuns
from connectors.hive.acid.file import DeleteFile
from connectors.hive.acid.read.delete_cache import DELETE_CACHE, DeleteCache
from connectors.hive.acid.read.delete_files import open_delete_file
from connectors.hive.acid.valid_ids import MAX_ID, ValidIds
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["NEVER", "DatedDeletes", "find_dated_deletes"]

NEVER = MAX_ID
"""The date of a row that is not deleted."""

_DATE_BYTES = 8


class DatedDeletes(DeleteSet):
    """Delete events, and the write id of the first of each row.

    Args:
        runs: Keys of events, in any order, with duplicates.
        dates: The write ids of the events of each of ``runs``.
    """

    def __init__(self, runs: Sequence[KeyRuns], dates: Sequence[Int64s]) -> None:
        super().__init__(runs)
        self._dates = np.full(self.size, NEVER, dtype=np.int64)
        for keys, write_ids in zip(runs, dates, strict=True):
            np.minimum.at(self._dates, self.positions(keys), write_ids)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._dates.nbytes

    def dates(self, keys: KeyRuns) -> Int64s:
        """The write id that deleted each row first, or ``NEVER``."""
        positions = self.positions(keys)
        found = np.full(positions.size, NEVER, dtype=np.int64)
        hits = positions >= 0
        found[hits] = self._dates[positions[hits]]
        return found


def find_dated_deletes(
    files: FileSystem,
    events: Sequence[DeleteFile],
    visible: ValidIds,
    after: int,
    memory: int,
    cache: DeleteCache = DELETE_CACHE,
) -> DatedDeletes | None:
    """The delete events of a span of write ids; ``None`` where there are none.

    Args:
        files: Storage.
        events: All files that can have events of the span.
        visible: Write ids that are visible at the end of the span.
        after: The write id before the span.
        memory: Most bytes of keys that this process keeps.
        cache: Where sets are kept.

    Raises:
        ResourceError: The events of the span need more memory.
    """
    if not events:
        return None
    key = ("dated", files, tuple(events), visible, after)
    found = cache.get(key, memory, lambda: _load(files, events, visible, after, memory))
    if found is None:
        raise ResourceError(
            f"the delete events of the changes in {events[0].path} and {len(events) - 1} more files need more than the "
            f"{memory} bytes that the session property {MAX_DELETE_MEMORY.name_in_session} allows; raise it, or ask "
            "for the changes of fewer versions at a time"
        )
    dated = cast(DatedDeletes, found)
    return dated if dated.size else None


def _load(
    files: FileSystem, events: Sequence[DeleteFile], visible: ValidIds, after: int, memory: int
) -> DatedDeletes | None:
    runs: list[KeyRuns] = []
    dates: list[Int64s] = []
    rows = 0
    for delete in events:
        opened = open_delete_file(files, delete)
        try:
            for keys, write_ids in opened.read_dated(visible, after):
                rows += write_ids.size
                if rows * (EVENT_BYTES + _DATE_BYTES) > memory:
                    return None
                runs.append(keys)
                dates.append(write_ids)
        finally:
            opened.close()
    return DatedDeletes(runs, dates)
