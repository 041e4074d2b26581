"""Where the records of a SequenceFile without blocks lie, with no loop over records. Executor side.

The offset of a record is known from the one before it only. Marks stand every few kilobytes, though, and from each
mark a chain of its own goes on: all chains of a window are followed at once, one record of each at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from connector_spi.errors import CorruptFileError
from connectors.hive.formats.sequence.sync_marks import find_mark, marks_in
from connectors.toolkit.cells import Bytes, Positions
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["MAX_RECORD_BYTES", "RecordWindow", "record_windows"]

MAX_RECORD_BYTES = 1 << 28
"""Most bytes of a record, or of a block when it is decompressed; 256 MB."""

_WINDOW = 1 << 23
_HEAD = 8


@dataclass(frozen=True, slots=True)
class RecordWindow:
    """Records that lie in memory.

    Attributes:
        data: The bytes.
        starts: First byte of each value, ascending.
        ends: The byte behind each.
    """

    data: Bytes
    starts: Positions
    ends: Positions


def record_windows(
    source: ByteSource, mark: bytes, header_end: int, start: int, end: int, where: str, window: int = _WINDOW
) -> Iterator[RecordWindow]:
    """The records of a range.

    Args:
        source: The file.
        mark: What stands before the records of a mark.
        header_end: The byte behind the file's header.
        start: First byte of the range.
        end: The byte behind it.
        where: Names the file for messages.
        window: Bytes to read at a time.

    Raises:
        CorruptFileError: A length leaves the file or goes over a mark.
    """
    at = header_end if start <= 0 < end else find_mark(source, mark, max(start, header_end), end)
    size = window
    while at is not None and at < source.size:
        data = source.read(at, size)
        found = _Chains(data, mark, end - at, at + len(data) >= source.size, f"{where}, from byte {at} on")
        if len(found.records):
            yield found.window()
        if found.done:
            return
        # A record that is longer than the window wants a larger one.
        size = max(window, found.wanted)
        at += found.taken


class _Chains:
    """The records of a window.

    Args:
        data: The window, beginning with a record or a mark.
        mark: The mark.
        end: From where on a mark ends the range, counted from the window's first byte.
        last: The window goes to the end of the file.
        where: Names it for messages.

    Attributes:
        records: Where records begin.
        done: The range ends in this window.
        taken: Bytes up to the first record that is not complete.
        wanted: Bytes that this record needs, or 0.
    """

    def __init__(self, data: bytes, mark: bytes, end: int, last: bool, where: str) -> None:
        self._data = np.frombuffer(data, dtype=np.uint8)
        self._where = where
        self._mark_bytes = len(mark)
        self.done = False
        self.wanted = 0
        marks = marks_in(data, mark)
        ending = next((index for index, at in enumerate(marks) if at >= end), None)
        limit = len(data)
        if ending is not None:
            self.done, limit, marks = True, marks[ending], marks[:ending]
        begins = ([] if marks and marks[0] == 0 else [0]) + [at + len(mark) for at in marks]
        limits = [at for at in marks if at] + [limit]
        self._follow(np.array(begins, dtype=np.int64), np.array(limits, dtype=np.int64), last or self.done)

    def _follow(self, begins: Positions, limits: Positions, complete: bool) -> None:
        found: list[Positions] = []
        at, limit = begins, limits
        last = limits[-1]
        self.taken = int(last)
        while True:
            more = at < limit
            at, limit = at[more], limit[more]
            if not len(at):
                break
            whole = self._whole(at, limit, complete)
            behind = np.where(whole, at + _HEAD + self._int(at), limit + 1)
            over = behind > limit
            if over.any():
                if complete or over[:-1].any() or limit[-1] != last:
                    raise CorruptFileError(f"{self._where} is truncated or damaged: a record goes over its limit")
                # The last chain goes on behind the window.
                self.taken = int(at[-1])
                self.wanted = int(behind[-1] - at[-1]) if whole[-1] else self._mark_bytes
                at, limit, behind = at[:-1], limit[:-1], behind[:-1]
            found.append(at)
            at = behind
        self.done |= complete
        self.records = np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    def _whole(self, at: Positions, limit: Positions, complete: bool) -> npt.NDArray[np.bool_]:
        """Whether the lengths of each record are there; checks those that are."""
        whole = at + _HEAD <= limit
        total, key = self._int(at), self._int(at + 4)
        if not complete:
            # Behind the last record that fits a mark may begin that the window cuts.
            whole &= (total != -1) | (at + self._mark_bytes <= len(self._data))
        if (whole & ((total < 0) | (total > MAX_RECORD_BYTES) | (key < 0) | (key > total))).any():
            raise CorruptFileError(f"{self._where} is damaged: a record of a length that cannot be")
        return whole

    def _int(self, at: Positions) -> Positions:
        taken = np.take(self._data, at[:, None] + np.arange(4), mode="clip")
        numbers: Positions = np.ascontiguousarray(taken).view(">i4")[:, 0].astype(np.int64)
        return numbers

    def window(self) -> RecordWindow:
        """The values of the records."""
        starts = self.records + _HEAD + self._int(self.records + 4)
        return RecordWindow(self._data, starts, self.records + _HEAD + self._int(self.records))
