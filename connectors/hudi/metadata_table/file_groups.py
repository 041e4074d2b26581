"""Reads records of the metadata table by their keys: base HFiles and the log files on them. Driver side."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE
from connectors.hudi.file_group.slices import DataFile, FileSlice
from connectors.hudi.hfile.reader import Cell, HFile
from connectors.hudi.log.block import BlockType, LogBlock
from connectors.hudi.log.block_parser import parse_log_blocks
from connectors.hudi.log.delete_block import RECORD_KEY, read_delete_block
from connectors.hudi.log.scan import scan_log_blocks
from connectors.hudi.metadata_table.file_bytes import KeptFile
from connectors.hudi.metadata_table.records import Record, decode_records
from connectors.hudi.snapshots.table_memory import TableMemory
from connectors.toolkit.storage.byte_source import MemorySource
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["MetadataFileGroups", "Wanted"]

_ANY_INSTANT = "9" * 32
# Of the process: what is kept of a metadata table outlasts the catalog that opened it.
_FETCHES = ThreadPoolExecutor(8, thread_name_prefix="hudi-metadata")

Layers = dict[bytes, list[Record | None]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records are looked up.

    Attributes:
        keys: These keys, sorted.
        prefixes: All whose keys begin so, sorted; none of them begins with another.
    """

    keys: tuple[bytes, ...] = ()
    prefixes: tuple[bytes, ...] = ()

    @classmethod
    def of_keys(cls, keys: Iterable[bytes]) -> Wanted:
        """Some keys."""
        return cls(keys=tuple(sorted(set(keys))))

    def cells(self, file: HFile) -> Iterator[Cell]:
        """The wanted cells of a file."""
        if self.keys:
            yield from file.seek(self.keys)
        for prefix in self.prefixes:
            yield from file.prefix(prefix)

    def holds(self, key: bytes) -> bool:
        """Whether a key is wanted."""
        at = bisect_left(self.keys, key)
        if at < len(self.keys) and self.keys[at] == key:
            return True
        return any(key.startswith(prefix) for prefix in self.prefixes)


class MetadataFileGroups:
    """The file groups of one partition of the metadata table.

    Args:
        files: Storage.
        slices: Their newest slices, by file id.
        is_valid: Whether blocks of an instant count.
        memory: Keeps bytes of the files.
    """

    def __init__(
        self,
        files: FileSystem,
        slices: Sequence[FileSlice],
        is_valid: Callable[[str], bool],
        memory: TableMemory,
    ) -> None:
        self._files = files
        self._slices = slices
        self._is_valid = is_valid
        self._memory = memory

    @property
    def slices(self) -> Sequence[FileSlice]:
        """The newest slices, by file id."""
        return self._slices

    def logged_instants(self) -> frozenset[str]:
        """Requested times of the writes whose blocks count.

        Raises:
            ConnectorError: A log is missing, damaged, or not understood.
        """
        return frozenset(block.instant_time for item in self._slices for block, _ in self._blocks(item.logs))

    def look_up(self, wanted: Wanted) -> Layers:
        """All that is recorded of some keys.

        Args:
            wanted: The keys.

        Returns:
            By key, the records from the oldest to the newest; ``None`` where the key was deleted. Keys that are
            nowhere are left out.

        Raises:
            ConnectorError: A file is missing, damaged, or not understood.
            ValueError: A record is damaged.
        """
        found: Layers = {}
        for file_slice in self._slices:
            if file_slice.base is not None:
                _add_cells(self._opened(file_slice.base), None, wanted, found)
            for block, content in self._blocks(file_slice.logs):
                _add_block(block, content, wanted, found)
        return found

    def key_count(self, most_bytes: int) -> int | None:
        """Number of keys that are there, without their records; ``None`` where logs take more than some bytes.

        Raises:
            ConnectorError: A file is missing, damaged, or not understood.
            ValueError: A record is damaged.
        """
        if sum(log.size for file_slice in self._slices for log in file_slice.logs) > most_bytes:
            return None
        total = 0
        for file_slice in self._slices:
            changed: dict[bytes, bool] = {}
            for block, content in self._blocks(file_slice.logs):
                changed.update(_changed_keys(block, content))
            total += sum(changed.values())
            if file_slice.base is not None:
                file = self._opened(file_slice.base)
                total += file.entry_count - sum(1 for _ in file.seek(changed)) if changed else file.entry_count
        return total

    def _opened(self, base: DataFile) -> HFile:
        return HFile(KeptFile(self._files, base, self._memory), base.path)

    def _blocks(self, logs: Sequence[DataFile]) -> Iterator[tuple[LogBlock, pa.Buffer]]:
        fetched = dict(zip((log.path for log in logs), _FETCHES.map(self._fetch, logs), strict=True))
        every = (block for log in logs for block in parse_log_blocks(MemorySource(fetched[log.path]), log.path))
        scan = scan_log_blocks(every, is_committed=self._is_valid, latest_instant=_ANY_INSTANT)
        if scan.corrupt:
            # Hudi passes over them; what they held is unknown.
            broken = scan.corrupt[0]
            raise CorruptFileError(f"{broken.where}: {broken.reason}", HUDI_BAD_LOG_FILE)
        for block in scan.blocks:
            content = memoryview(fetched[block.path])
            yield block, pa.py_buffer(content[block.content_offset : block.content_offset + block.content_length])

    def _fetch(self, log: DataFile) -> bytes:
        return KeptFile(self._files, log, self._memory).read(0, log.size)


def _changed_keys(block: LogBlock, content: pa.Buffer) -> dict[bytes, bool]:
    """The keys of a block, and whether they are there after it."""
    if block.type is BlockType.DELETE:
        keys = read_delete_block(block, content).column(RECORD_KEY).to_pylist()
        return {str(key).encode(): False for key in keys if key is not None}
    file = HFile(MemorySource(content), block.where)
    return dict.fromkeys(file.read_all()[0], True) if file.entry_count else {}


def _add_block(block: LogBlock, content: pa.Buffer, wanted: Wanted, found: Layers) -> None:
    if block.type is BlockType.DELETE:
        for key in read_delete_block(block, content).column(RECORD_KEY).to_pylist():
            if key is not None and wanted.holds(str(key).encode()):
                found.setdefault(str(key).encode(), []).append(None)
    elif block.type is BlockType.HFILE_DATA:
        _add_cells(HFile(MemorySource(content), block.where), block.schema, wanted, found)
    else:
        raise CorruptFileError(
            f"{block.where}: a {block.type.name} block in the metadata table, expected HFile data", HUDI_BAD_LOG_FILE
        )


def _add_cells(file: HFile, schema: str | None, wanted: Wanted, found: Layers) -> None:
    if not file.entry_count:
        return
    cells = list(wanted.cells(file))
    if not cells:
        return
    if schema is None:
        schema = file.file_info["schema"].decode("utf-8")
    for (key, _), record in zip(cells, decode_records(schema, [value for _, value in cells]), strict=True):
        found.setdefault(key, []).append(record)
