"""What readers of compressed data share: parts as a file, errors of codecs. Executor side."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from connector_spi.errors import ConnectorError, CorruptFileError, StorageError

__all__ = ["MAX_BLOCK_BYTES", "STEP", "ExactReader", "Readable", "codec_errors", "file_of_parts"]

MAX_BLOCK_BYTES = 1 << 28
"""Most bytes that a block inside of a file may have, compressed or not, unless the caller says otherwise."""

STEP = 1 << 20
"""Bytes that are read or decompressed at a time."""


class Readable(Protocol):
    """What can be read from the front to the end."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""


def file_of_parts(parts: Iterator[bytes]) -> io.BufferedReader:
    """Bytes that come in parts as a file; ``read1`` takes no more than one part at a time."""
    return io.BufferedReader(_Parts(parts), STEP)


class ExactReader:
    """Reads as many bytes as are asked, or says that the file is too short.

    Args:
        file: The file; not closed.
        where: Names it for messages.

    Attributes:
        front: Bytes that come before those of the file.
    """

    def __init__(self, file: Readable, where: str) -> None:
        self.front = b""
        self._file = file
        self._where = where

    def peek(self, size: int) -> bytes:
        """The next bytes, which stay to be read; fewer at the end."""
        self.front = self.up_to(size)
        return self.front

    def up_to(self, size: int) -> bytes:
        """The next bytes; fewer at the end."""
        parts, self.front = [self.front[:size]], self.front[size:]
        missing = size - len(parts[0])
        # Not all at once: a damaged length must not ask for memory that the file cannot fill.
        while missing and (part := self._file.read(min(missing, STEP))):
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def exact(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            CorruptFileError: There are fewer, or more are asked than a block may have.
        """
        if size > MAX_BLOCK_BYTES:
            raise CorruptFileError(f"{self._where} has a chunk of {size} bytes; at most {MAX_BLOCK_BYTES} are read")
        data = self.up_to(size)
        if len(data) < size:
            raise CorruptFileError(f"{self._where} ends in the middle of its compressed data")
        return data

    def rest(self, limit: int) -> bytes:
        """All bytes that are left.

        Raises:
            CorruptFileError: There are more than ``limit``.
        """
        data = self.up_to(limit + 1)
        if len(data) > limit:
            raise CorruptFileError(f"{self._where} is one raw Snappy block of more than {limit} bytes")
        return data


@contextmanager
def codec_errors(where: str, codec: str) -> Iterator[None]:
    """Maps what codecs raise about data, and storage about a file.

    Raises:
        CorruptFileError: The data is damaged.
        StorageError: Storage failed.
    """
    try:
        yield
    except ConnectorError:
        raise
    except (zlib.error, pa.ArrowException, ValueError, EOFError) as error:
        raise CorruptFileError(f"{where} is not compressed by {codec}, or damaged: {error}") from error
    except OSError as error:
        # The codecs of Arrow and bz2 raise it, too, for damaged data; those of storage carry a number.
        if error.errno is not None:
            raise StorageError(f"cannot read {where}: {error}") from error
        raise CorruptFileError(f"{where} is not compressed by {codec}, or damaged: {error}") from error


class _Parts(io.RawIOBase):
    def __init__(self, parts: Iterator[bytes]) -> None:
        super().__init__()
        self._parts = parts
        self._held = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._held:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._held = memoryview(part)
        taken = min(len(buffer), len(self._held))
        buffer[:taken] = self._held[:taken]
        self._held = self._held[taken:]
        return taken
