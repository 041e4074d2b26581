"""Files of Azure that are opened with a shared access signature, whose failures tell no signature.

Azure's client names the address that it asked in its messages, and the signature is part of the address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

__all__ = ["signed_file", "without_signatures"]

_SIGNATURE = re.compile(r"(\bsig=)[^&'\"\s]+")


def signed_file(file: pa.NativeFile) -> pa.NativeFile:
    """The same file; at the price of a way through Python for each read."""
    return pa.PythonFile(_SignedFile(file), mode="r")


def without_signatures(text: str) -> str:
    """A message with dots for each signature."""
    return _SIGNATURE.sub(r"\1...", text)


class _SignedFile:
    def __init__(self, file: pa.NativeFile) -> None:
        self._file = file

    @property
    def closed(self) -> bool:
        return bool(self._file.closed)

    def read(self, size: int = -1) -> bytes:
        with _told_without_signatures():
            data: bytes = self._file.read(size if size >= 0 else None)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with _told_without_signatures():
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()


@contextmanager
def _told_without_signatures() -> Iterator[None]:
    message = ""
    try:
        yield
        return
    except (OSError, pa.ArrowException) as error:
        message = without_signatures(str(error))
    raise OSError(message) from None
