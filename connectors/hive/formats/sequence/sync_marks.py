"""The marks between which SequenceFiles and RCFiles can be cut: four bytes of ones, and 16 that each file draws.

What follows a mark up to the next one belongs to the range of the file in which the mark begins, and what stands
between the file's header and its first mark to the range that begins at byte 0: so each record is in one range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connector_spi.errors import CorruptFileError
from connectors.toolkit.codecs.hadoop_vints import read_vint
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["ESCAPE", "SYNC_BYTES", "HeaderReader", "find_mark", "marks_in"]

ESCAPE = b"\xff\xff\xff\xff"
SYNC_BYTES = 16
_STEP = 1 << 20
_MAX_HEADER = 1 << 24


def find_mark(source: ByteSource, mark: bytes, start: int, end: int) -> int | None:
    """Where the first mark in a range begins; ``None`` if none begins there."""
    at = start
    while at < end:
        taken = source.read(at, min(_STEP, end - at) + len(mark) - 1)
        found = taken.find(mark)
        if found >= 0:
            return at + found
        at += _STEP
    return None


def marks_in(data: bytes, mark: bytes) -> list[int]:
    """Where marks begin in bytes, ascending."""
    found = []
    at = data.find(mark)
    while at >= 0:
        found.append(at)
        at = data.find(mark, at + len(mark))
    return found


@dataclass(slots=True)
class HeaderReader:
    """Reads what stands at the front of a file, in Hadoop's ``Writable`` form.

    Attributes:
        source: The file.
        where: Names it for messages.
        at: The byte to be read next.
    """

    source: ByteSource
    where: str
    at: int = 0

    def take(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            CorruptFileError: The file ends before, or the header has no end.
        """
        if size < 0 or self.at + size > _MAX_HEADER:
            raise CorruptFileError(f"{self.where} has a header of more than {_MAX_HEADER} bytes, or is damaged")
        data = self.source.read(self.at, size)
        if len(data) < size:
            raise CorruptFileError(f"{self.where} ends in its header, at byte {self.at + len(data)}")
        self.at += size
        return data

    def flag(self) -> bool:
        """A ``boolean``."""
        return self.take(1) != b"\0"

    def text(self) -> str:
        """A ``Text``."""
        head = self.source.read(self.at, 9)
        try:
            size, behind = read_vint(head, 0)
        except ValueError as error:
            raise CorruptFileError(f"{self.where} ends in its header, at byte {self.at}") from error
        self.at += behind
        return self.take(size).decode("utf-8", "replace")

    def metadata(self) -> Mapping[str, str]:
        """A ``SequenceFile.Metadata``."""
        count = int.from_bytes(self.take(4), "big", signed=True)
        if not 0 <= count <= _MAX_HEADER // 2:
            raise CorruptFileError(f"{self.where} has {count} entries in its header")
        found = {}
        for _ in range(count):
            key = self.text()
            found[key] = self.text()
        return found
