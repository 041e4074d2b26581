"""Moves files to where readers look, and others away from there; all, or none after an error. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from connector_spi.errors import ConnectorError, FileMissingError, StorageError
from connectors.hive.write.publish.storage_requests import for_each
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["MovedFiles"]


class MovedFiles:
    """A block that takes back what it has moved and written where it fails.

    Object stores move nothing: there files are copied by the store, and what is replaced stays until
    ``delete_replaced`` is called, when nothing can fail any more that would have to be taken back.

    Args:
        files: Storage.
        aside: Folder for files that are replaced, into which no reader looks; it is deleted at the end.
    """

    def __init__(self, files: FileSystem, aside: str | None = None) -> None:
        self._files = files
        self._aside = aside
        self._there: list[str] = []
        self._replaced: list[tuple[str, str]] = []
        self._replaced_objects: list[str] = []

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
        for_each(self._files, self._there, self._delete, str)
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
        if not self._files.has_folders(target):
            self._copy(path, target)
            return
        try:
            self._files.move(path, target)
        except ConnectorError:
            with suppress(ConnectorError):  # the first error is the one to tell
                if not self._files.exists(path) and self._files.exists(target):
                    # The answer alone was lost.
                    self._there.append(target)
            raise
        self._there.append(target)

    def move_all(self, moves: Sequence[tuple[str, str]]) -> None:
        """Moves files; in object stores several at once.

        Args:
            moves: Each file, and where it goes.

        Raises:
            StorageError: Something is at a target, or storage refused.
        """
        for_each(self._files, moves, lambda one: self.move(*one), lambda one: one[1])

    def write(self, path: str, content: bytes) -> None:
        """Writes a file.

        Raises:
            StorageError: Storage refused.
        """
        self._there.append(path)
        self._files.write_bytes(path, content)

    def replace(self, path: str) -> None:
        """Takes a file away from where readers look; one of an object store by ``delete_replaced``.

        Raises:
            FileMissingError: It is gone already.
            StorageError: Storage refused.
        """
        assert self._aside is not None, "no folder was given for files that are replaced"
        if not self._files.has_folders(path):
            self._replaced_objects.append(path)
            return
        if not self._files.exists(path):
            raise FileMissingError(f"{path} is not there; it was moved or deleted meanwhile")
        aside = join_path(self._aside, f"{len(self._replaced)}")
        self._files.move(path, aside)
        self._replaced.append((path, aside))

    def delete_replaced(self) -> None:
        """To be called when all is committed: deletes the files of object stores that were replaced.

        Raises:
            StorageError: Storage refused: there are rows that should have gone.
        """
        failed: list[tuple[str, ConnectorError]] = []

        def delete(path: str) -> None:
            try:
                self._files.delete_file(path)
            except ConnectorError as error:
                failed.append((path, error))

        for_each(self._files, self._replaced_objects, delete, str)
        if failed:
            path, error = failed[0]
            raise StorageError(
                f"{path} and {len(failed) - 1} other files were replaced and could not be deleted ({error}); the new "
                "rows are there, and so are theirs: delete these files"
            ) from error

    def _delete(self, path: str) -> None:
        with suppress(ConnectorError):  # the first error is the one to tell
            self._files.delete_file(path)

    def _copy(self, path: str, target: str) -> None:
        if self._files.exists(target):
            raise StorageError(f"cannot write {target}: something is there; expected a free path")
        # Before: of a copy without an answer it is not known whether it is there.
        self._there.append(target)
        self._files.copy(path, target)

    def _is_put_back(self, path: str, aside: str) -> bool:
        try:
            self._files.move(aside, path)
        except ConnectorError:
            return False
        return True

    def _delete_replaced(self) -> None:
        if self._aside is not None and self._replaced:
            with suppress(ConnectorError):  # the rows are as they should be; what is left no reader sees
                self._files.delete_folder(self._aside)
