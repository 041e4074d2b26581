"""Moves files to where readers look, and others away from there; all, or none after an error. Driver side."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType

from connector_spi.errors import ConnectorError, FileMissingError, StorageError
from connectors.toolkit.storage.filesystem import FileSystem, join_path, storage_errors

__all__ = ["MovedFiles"]


class MovedFiles:
    """A block that takes back what it has moved and written where it fails.

    Args:
        files: Storage.
        aside: Folder for files that are replaced, into which no reader looks; it is deleted at the end.
    """

    def __init__(self, files: FileSystem, aside: str | None = None) -> None:
        self._files = files
        self._aside = aside
        self._there: list[str] = []
        self._replaced: list[tuple[str, str]] = []

    def __enter__(self) -> MovedFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._delete_replaced()
            return
        # First what was there: at no moment a reader finds neither.
        kept = [path for path, aside in self._replaced if not self._is_put_back(path, aside)]
        if kept:
            raise StorageError(
                f"{kept[0]} could not be put back after an error ({error}), nor could {len(kept) - 1} other files; "
                f"they are in {self._aside}, from where they have to be moved back, and the new rows are there, too"
            ) from error
        for path in self._there:
            with suppress(ConnectorError):  # the first error is the one to tell
                self._files.delete_file(path)
        self._delete_replaced()

    @property
    def there(self) -> frozenset[str]:
        """The files that were moved to where readers look."""
        return frozenset(self._there)

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

    def replace(self, path: str) -> None:
        """Takes a file away from where readers look.

        Raises:
            FileMissingError: It is gone already.
            StorageError: Storage refused.
        """
        assert self._aside is not None, "no folder was given for files that are replaced"
        if not self._files.exists(path):
            raise FileMissingError(f"{path} is not there; it was moved or deleted meanwhile")
        aside = join_path(self._aside, f"{len(self._replaced)}")
        self._files.move(path, aside)
        self._replaced.append((path, aside))

    def _is_put_back(self, path: str, aside: str) -> bool:
        try:
            self._files.move(aside, path)
        except ConnectorError:
            return False
        return True

    def _delete_replaced(self) -> None:
        if self._aside is not None:
            with suppress(ConnectorError):  # the rows are as they should be; what is left no reader sees
                self._files.delete_folder(self._aside)
