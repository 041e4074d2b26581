"""Folders in stores that have none, where Arrow's listings tell them otherwise than a file system would.

Azure: Hadoop writes empty blobs that stand for folders, marked with ``hdi_isfolder``. Arrow lists such a blob as an
empty file, beside the folder of the same name if there is anything in it.

Google: Arrow asks for objects alone, so that a listing of one level lacks folders without an object of their own.
"""

from __future__ import annotations

import pyarrow.fs as pafs

from connectors.toolkit.storage.remote_storage import StorageKind

__all__ = ["delete_folder", "find_object", "list_folder"]

_MARKED = "Not a regular file"


def list_folder(kind: StorageKind | None, storage: pafs.FileSystem, path: str, recursive: bool) -> list[pafs.FileInfo]:
    """Files and folders below a folder.

    Raises:
        FileNotFoundError: There is no such folder.
        OSError: Storage refused, or cannot be reached.
    """
    if kind == StorageKind.AZURE:
        return _list_marked(storage, path, recursive)
    if kind == StorageKind.GCS:
        return _list_implied(storage, path, recursive)
    found: list[pafs.FileInfo] = storage.get_file_info(pafs.FileSelector(path, recursive=recursive))
    return found


def find_object(kind: StorageKind | None, storage: pafs.FileSystem, path: str) -> pafs.FileInfo:
    """What is at a path.

    Raises:
        OSError: Storage refused, or cannot be reached.
    """
    info = storage.get_file_info(path)
    if kind == StorageKind.AZURE and _is_marker(storage, info):
        return pafs.FileInfo(path, pafs.FileType.Directory)
    return info


def delete_folder(kind: StorageKind | None, storage: pafs.FileSystem, path: str) -> None:
    """Deletes a folder with all that is in it.

    Raises:
        OSError: Storage refused, or cannot be reached.
    """
    try:
        storage.delete_dir(path)
    except FileNotFoundError:
        # At the end Arrow deletes the object that stands for the folder, which Google's need not have.
        if find_object(kind, storage, path).type != pafs.FileType.NotFound:
            raise


def _list_marked(storage: pafs.FileSystem, path: str, recursive: bool) -> list[pafs.FileInfo]:
    try:
        found = storage.get_file_info(pafs.FileSelector(path, recursive=recursive))
    except FileNotFoundError:
        if _is_marker(storage, storage.get_file_info(path)):
            return []
        raise
    folders = {info.path for info in found if info.type == pafs.FileType.Directory}
    kept = []
    for info in found:
        if info.type == pafs.FileType.File and not info.size and info.path in folders:
            continue
        # A name with a point is a file's: a timeline is full of empty ones, which are not asked about one by one.
        may_be = not info.size and "." not in info.base_name
        marks = may_be and _is_marker(storage, info)
        kept.append(pafs.FileInfo(info.path, pafs.FileType.Directory) if marks else info)
    return kept


def _is_marker(storage: pafs.FileSystem, info: pafs.FileInfo) -> bool:
    if info.type != pafs.FileType.File or info.size:
        return False
    try:
        # Arrow looks at the mark here, and tells it nowhere else.
        storage.open_input_file(info.path).close()
    except FileNotFoundError:
        return False
    except OSError as error:
        if _MARKED in str(error):
            return True
        raise
    return False


def _list_implied(storage: pafs.FileSystem, path: str, recursive: bool) -> list[pafs.FileInfo]:
    base = path.rstrip("/")
    try:
        found = storage.get_file_info(pafs.FileSelector(base, recursive=True))
    except FileNotFoundError:
        raise
    except OSError as error:
        # Arrow's error for a folder that is not there looks like any other.
        kind = storage.get_file_info(base).type
        if kind == pafs.FileType.Directory:
            raise
        missing = FileNotFoundError if kind == pafs.FileType.NotFound else NotADirectoryError
        raise missing(base) from error
    # The object that stands for a folder with nothing else in it comes as a folder inside of itself.
    found = [info for info in found if info.path.rstrip("/") != base]
    folders = {info.path for info in found if info.type == pafs.FileType.Directory}
    implied = {folder for info in found for folder in _folders_between(base, info.path) if folder not in folders}
    listed = [*found, *(pafs.FileInfo(folder, pafs.FileType.Directory) for folder in implied)]
    return listed if recursive else [info for info in listed if "/" not in info.path[len(base) + 1 :]]


def _folders_between(base: str, path: str) -> list[str]:
    parts = path[len(base) + 1 :].split("/")
    return ["/".join([base, *parts[:count]]) for count in range(1, len(parts)) if parts[count - 1]]
