"""Which blocks of a file slice's logs count, and in which order. Pure (invariant I6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from connector_spi.errors import NotSupportedError
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_LOG_BLOCK
from connectors.hudi.log.block import BlockType, LogBlock

__all__ = ["LogScan", "scan_log_blocks"]


@dataclass(frozen=True, slots=True)
class LogScan:
    """The outcome of a scan.

    Attributes:
        blocks: The data and delete blocks that count, in the order in which their rows are merged.
        corrupt: Stretches that are no whole block, passed over.
    """

    blocks: tuple[LogBlock, ...]
    corrupt: tuple[LogBlock, ...] = ()


def scan_log_blocks(
    blocks: Iterable[LogBlock],
    *,
    is_committed: Callable[[str], bool],
    latest_instant: str,
    in_range: Callable[[str], bool] | None = None,
) -> LogScan:
    """Chooses and orders the blocks of one file slice (BaseHoodieLogRecordReader.scanInternal).

    - Corrupt stretches are passed over.
    - Blocks of writes that are not complete are passed over. Hudi asks this of table versions below 8 only, where
      one file holds blocks of several writes; of later ones the file's name says the same, and it does no harm.
    - A rollback command takes back the blocks of its target that stand before it in the slice.
    - A block of log compaction stands for the blocks that it merged, at the position of the newest of them.

    Args:
        blocks: All blocks of all log files of the slice, files in the order of ``FileSlice.logs``.
        is_committed: Whether a write, by its requested time, is complete or older than the active timeline
            (``timeline.view.committed_test``).
        latest_instant: Requested time of the last write that the query sees.
        in_range: Of an incremental query: whether a write's blocks are asked.

    Raises:
        NotSupportedError: A command or block that is not understood.
        CorruptFileError: A block does not say its instant.
    """
    scan = _Scan()
    for block in blocks:
        if block.type is BlockType.CORRUPT:
            scan.corrupt.append(block)
        elif block.type is BlockType.COMMAND:
            # Its own instant is the rollback's, which is on no commits timeline.
            scan.roll_back(block.rolled_back_instant)
        else:
            _check_kind(block)
            if block.instant_time <= latest_instant and is_committed(block.instant_time):
                scan.add(block, in_range is None or in_range(block.instant_time))
    return LogScan(tuple(scan.ordered()), tuple(scan.corrupt))


def _check_kind(block: LogBlock) -> None:
    if not block.type.has_rows and block.type is not BlockType.DELETE:
        raise NotSupportedError(
            f"{block.where}: a {block.type.name} block in a log file of rows, expected data, delete and command "
            "blocks; compact the table with Hudi",
            HUDI_UNSUPPORTED_LOG_BLOCK,
        )


class _Scan:
    def __init__(self) -> None:
        # By instant, in the order of arrival.
        self._blocks: dict[str, list[LogBlock]] = {}
        self._out_of_range: set[str] = set()
        self.corrupt: list[LogBlock] = []

    def add(self, block: LogBlock, asked: bool) -> None:
        if asked:
            self._blocks.setdefault(block.instant_time, []).append(block)
        else:
            self._out_of_range.add(block.instant_time)

    def roll_back(self, instant: str) -> None:
        self._blocks.pop(instant, None)
        self._out_of_range.discard(instant)

    def ordered(self) -> list[LogBlock]:
        instants = self._final_instants()
        return [block for instant in instants for block in self._blocks[instant]]

    def _final_instants(self) -> list[str]:
        """The instants whose blocks count, oldest first: compacted ones replaced by what they were merged into."""
        stands_for: dict[str, str] = {}
        found: dict[str, None] = {}
        for instant in reversed(self._blocks):
            originals = self._blocks[instant][0].compacted_instants
            if not originals:
                found.setdefault(stands_for.get(instant, instant), None)
                continue
            final = stands_for.get(instant, instant)
            stands_for.update(dict.fromkeys(originals, final))
            # Hudi drops a merged block none of whose originals is in the slice any more; rows would go missing.
            if final == instant and not self._has_originals(instant, set()):
                found.setdefault(instant, None)
        return list(reversed(found))

    def _has_originals(self, instant: str, visited: set[str]) -> bool:
        """Whether any ordinary block that this one was merged from, by however many steps, is in the slice."""
        visited.add(instant)
        for original in self._blocks[instant][0].compacted_instants:
            if original in self._out_of_range:
                return True
            if original in self._blocks and original not in visited:
                merged = self._blocks[original][0].compacted_instants
                if not merged or self._has_originals(original, visited):
                    return True
        return False
