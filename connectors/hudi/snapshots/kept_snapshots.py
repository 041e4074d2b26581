"""The newest snapshot of a table, kept across transactions while its timeline does not change. Driver side.

Every change of a Hudi table that a reader may see puts a file onto the timeline, so one listing of it says whether
what was read before still holds: names, sizes and modification times of all instants are compared. Properties may
change without an instant (an index that is dropped), so ``hoodie.properties`` is looked at as well: in layout 1 it is
in the same listing, in layout 2 it is asked for at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import cast

from connector_spi.errors import ConnectorError
from connectors.hudi.snapshots.snapshot import HudiSnapshot, open_snapshot, snapshot_of_instants
from connectors.hudi.snapshots.table_memory import PLANNING_CACHE, TableMemory
from connectors.hudi.table_config import TableConfig
from connectors.hudi.table_properties import PROPERTIES_FILE, read_table_config
from connectors.hudi.timeline.instant import parse_instant
from connectors.hudi.timeline.loader import list_timeline, parse_instants
from connectors.hudi.transaction import MemoKey
from connectors.toolkit.caching.settled import is_settled, now_millis
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, join_path

__all__ = ["KeptSnapshots", "forget_tables"]

_STAMP_BYTES = 300

Stamp = tuple[str, int, int]
"""Name, bytes and modification time of a file; the time is not 0."""


@dataclass(frozen=True, slots=True)
class _TableKey(MemoKey["_KeptTable"]):
    """Storage, with what it is reached by: who reaches it otherwise has other keys."""

    files: FileSystem
    location: str


@dataclass(frozen=True, slots=True)
class _KeptTable:
    """What is kept of a table.

    Attributes:
        snapshot: The table.
        properties: Stamp of its properties, from before they were read; ``None`` where they are to be read again.
        instants: Stamps of its timeline's files.
    """

    snapshot: HudiSnapshot
    properties: Stamp | None
    instants: tuple[Stamp, ...]

    @property
    def nbytes(self) -> int:
        """About the memory that it takes."""
        return self.snapshot.nbytes + _STAMP_BYTES * len(self.instants)


class KeptSnapshots:
    """Opens tables at their newest write, by what is kept of them as far as it still holds.

    Args:
        files: Storage.
        pool: Two calls at once are made in it.
        memory: Most bytes that the process keeps for all tables; 0 keeps nothing.
    """

    def __init__(self, files: FileSystem, pool: ThreadPoolExecutor, memory: int) -> None:
        self._files = files
        self._pool = pool
        self._memory = memory

    def newest(self, location: str) -> HudiSnapshot:
        """The table at its newest completed write.

        Raises:
            NotSupportedError: There is no Hudi table, or one that this connector cannot read right.
            CorruptFileError: Properties or timeline are damaged.
        """
        if self._memory <= 0:
            return open_snapshot(self._files, location)
        key = (None, cast("MemoKey[object]", _TableKey(self._files, location)))
        kept = cast("_KeptTable | None", PLANNING_CACHE.find(key, self._memory))
        newest = self._checked(location, kept) if kept is not None else None
        if newest is None:
            newest = self._opened(location, kept)
        if newest is not kept:
            PLANNING_CACHE.put(key, newest, self._memory)
            if kept is not None and kept.snapshot is not newest.snapshot:
                kept.snapshot.memory.drop()
        return newest.snapshot

    def _checked(self, location: str, kept: _KeptTable) -> _KeptTable | None:
        """What is kept, as the timeline is now; ``None`` where properties have to be read again."""
        if kept.properties is None:
            return None
        config = kept.snapshot.config
        asked = self._pool.submit(self._stamp, location) if config.layout != 1 else None
        try:
            listing = list_timeline(self._files, location, config)
            stamp = asked.result() if asked is not None else _properties_stamp(listing)
        except ConnectorError:
            return None
        if stamp != kept.properties:
            return None
        return self._at(location, kept, config, listing, stamp)

    def _opened(self, location: str, kept: _KeptTable | None) -> _KeptTable:
        stamp = self._stamp(location)
        read_at = now_millis()
        config = read_table_config(self._files, location)
        listing = list_timeline(self._files, location, config)
        settled = stamp is not None and is_settled(stamp[2], read_at)
        return self._at(location, kept, config, listing, stamp if settled else None)

    def _at(
        self,
        location: str,
        kept: _KeptTable | None,
        config: TableConfig,
        listing: Sequence[FileInfo],
        properties: Stamp | None,
    ) -> _KeptTable:
        found = [_stamp(info) for info in listing if not info.is_directory and parse_instant(info.name, config.layout)]
        instants = tuple(stamp for stamp in found if stamp is not None)
        is_stamped = len(instants) == len(found)
        same_config = kept is not None and kept.snapshot.config == config
        if kept is not None and same_config and is_stamped and kept.instants == instants:
            return kept if kept.properties == properties else replace(kept, properties=properties)
        snapshot = snapshot_of_instants(self._files, location, config, parse_instants(listing, location, config))
        if is_stamped:
            snapshot.memory = TableMemory(self._memory)
        if kept is not None and same_config:
            same = set(kept.instants) & set(instants)
            snapshot.take_commits(kept.snapshot, {name for name, _, _ in same})
        return _KeptTable(snapshot, properties if is_stamped else None, instants)

    def _stamp(self, location: str) -> Stamp | None:
        info = self._files.info(join_path(location, PROPERTIES_FILE))
        return _stamp(info) if info is not None else None


def forget_tables(files: FileSystem, location: str | None = None) -> int:
    """Drops what is kept of one table, or of all tables of a storage; returns how many answers."""

    def is_about(key: tuple[object, MemoKey[object]]) -> bool:
        table = key[1]
        return isinstance(table, _TableKey) and table.files == files and location in (None, table.location)

    memories: set[object] = set()
    for table in PLANNING_CACHE.values(is_about):
        if isinstance(table, _KeptTable):
            memories.add(table.snapshot.memory)
    return PLANNING_CACHE.drop(lambda key: is_about(key) or key[0] in memories)


def _properties_stamp(listing: Sequence[FileInfo]) -> Stamp | None:
    name = PROPERTIES_FILE.rpartition("/")[2]
    return next((_stamp(info) for info in listing if info.name == name), None)


def _stamp(info: FileInfo) -> Stamp | None:
    """``None`` where storage does not say when the file was written."""
    return (info.name, info.size, info.modified_millis) if info.modified_millis else None
