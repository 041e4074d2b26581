"""Moves files to where readers look; all, or none after an error. Driver side."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType

from connector_spi.errors import ConnectorError
from connectors.toolkit.storage.filesystem import FileSystem, storage_errors

__all__ = ["MovedFiles"]


class MovedFiles:
    """A block that takes back what it has moved and written where it fails.

    Args:
        files: Storage.
    """

    def __init__(self, files: FileSystem) -> None:
        self._files = files
        self._there: list[str] = []

    def __enter__(self) -> MovedFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            return
        for path in self._there:
            with suppress(ConnectorError):  # the first error is the one to tell
                self._files.delete_file(path)

    def move(self, path: str, target: str) -> None:
        """Moves a file.

        Raises:
            StorageError: Something is at ``target``, or storage refused.
        """
        self._files.move(path, target)
        self._there.append(target)

    def write(self, path: str, content: bytes) -> None:
        """Writes a file.

        Raises:
            StorageError: Storage refused.
        """
        self._there.append(path)
        with self._files.create(path) as sink, storage_errors(path, "write"):
            sink.write(content)
