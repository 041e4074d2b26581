"""What readers of compressed data share: parts as a file, errors of codecs. Executor side."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from connector_spi.errors import ConnectorError, CorruptFileError, StorageError

__all__ = ["STEP", "Readable", "codec_errors", "file_of_parts"]

STEP = 1 << 20
"""Bytes that are read or decompressed at a time."""


class Readable(Protocol):
    """What can be read from the front to the end."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""


def file_of_parts(parts: Iterator[bytes]) -> io.BufferedReader:
    """Bytes that come in parts as a file; ``read1`` takes no more than one part at a time."""
    return io.BufferedReader(_Parts(parts), STEP)


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
