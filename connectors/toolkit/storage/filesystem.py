"""Listing and opening files on any storage that pyarrow reaches. Used on both sides; picklable.

Paths are Hadoop's: ``scheme://authority/path`` with nothing percent-encoded, ``file:/a/b``, or a plain ``/a/b``.
A ``%`` in a path is a ``%`` in the file's name, as in the partition folder ``p=a%2Fb``.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec

import pyarrow as pa
import pyarrow.fs as pafs

from connector_spi.errors import ConnectorError, FileMissingError, StorageError
from connector_spi.serializable import Serializable
from connectors.toolkit.caching.block_store import BlockStore, StoreDirectory
from connectors.toolkit.caching.cache_state import registered
from connectors.toolkit.caching.cached_file import cached_file
from connectors.toolkit.caching.settled import is_settled, now_millis
from connectors.toolkit.storage.file_copies import copy_file
from connectors.toolkit.storage.object_directories import delete_folder, find_object, list_folder
from connectors.toolkit.storage.properties import cache_directories, typed_options
from connectors.toolkit.storage.remote_storage import (
    StorageKind,
    is_signed,
    open_storage,
    setting_prefixes,
    storage_kind,
    storage_path,
)
from connectors.toolkit.storage.signed_files import signed_file, without_signatures

__all__ = ["FileInfo", "FileSystem", "block_store", "is_hidden", "join_path", "raise_storage_failure", "storage_errors"]

_CLIENTS = ("AWS Error", "google::cloud::Status", "Azure Error")
# An object that was there when it was opened; Arrow says so of opening alone by an error of its own.
_VANISHED = ("AWS Error RESOURCE_NOT_FOUND during GetObject", "AWS Error NO_SUCH_KEY during GetObject")
_LOCAL = ("", "file")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):(?://([^/]*))?(/.*)?")


@dataclass(frozen=True, slots=True)
class FileInfo(Serializable):
    """A file or folder on storage.

    Attributes:
        path: As the caller's root is written: listing ``file:/a`` gives ``file:/a/b``.
        size: Bytes; 0 for a folder.
        modified_millis: Modification time, milliseconds since 1970 in UTC; 0 where storage does not say.
        is_directory: Whether it is a folder.
    """

    path: str
    size: int
    modified_millis: int
    is_directory: bool

    @property
    def name(self) -> str:
        """The last component of the path."""
        return self.path.rstrip("/").rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class FileSystem(Serializable):
    """Storage by the scheme of each path.

    Attributes:
        options: Settings by Trino's keys, such as ``s3.endpoint``; from ``storage_options``. They hold secrets.
            Without them pyarrow finds its own.
    """

    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def list(self, uri: str, recursive: bool = False) -> list[FileInfo]:
        """Files and folders below a folder, sorted by path, hidden ones included.

        Args:
            uri: The folder.
            recursive: Whether to go into its folders.

        Raises:
            FileMissingError: There is no such folder.
            StorageError: Storage refused, or cannot be reached.
        """
        storage, path = self._resolve(uri)
        with storage_errors(uri):
            found = list_folder(storage_kind(_split(uri)[0]), storage, path, recursive)
        root, base = uri.rstrip("/"), path.rstrip("/")
        infos = [_file_info(f"{root}{info.path[len(base) :]}", info) for info in found]
        return sorted(infos, key=lambda info: info.path)

    def info(self, uri: str) -> FileInfo | None:
        """What is at the path, or ``None``."""
        storage, path = self._resolve(uri)
        with storage_errors(uri):
            info = find_object(storage_kind(_split(uri)[0]), storage, path)
        return None if info.type == pafs.FileType.NotFound else _file_info(uri, info)

    def exists(self, uri: str) -> bool:
        """Whether a file or folder is at the path."""
        return self.info(uri) is not None

    def open(self, uri: str) -> pa.NativeFile:
        """Opens a file for random access.

        Where it is read through Python (HDFS, Azure by a signature) ``read_at`` moves the offset that ``read`` goes on
        from: use ``seek`` before it.

        Raises:
            FileMissingError: There is no such file.
            StorageError: Storage refused, or cannot be reached.
        """
        kept_in = None if self.is_local(uri) else block_store(self.options)
        return self._open(uri) if kept_in is None else self._open_cached(uri, kept_in)

    def _open(self, uri: str) -> pa.NativeFile:
        storage, path = self._resolve(uri)
        with storage_errors(uri):
            file = storage.open_input_file(path)
        return signed_file(file) if is_signed(_split(uri)[0], self.options) else file

    def _open_cached(self, uri: str, kept_in: BlockStore) -> pa.NativeFile:
        """Asks storage for the file each time: for whether it may be read, and whether it is the one that is known."""
        asked = now_millis()
        found = self.info(uri)
        if found is None or found.is_directory or not is_settled(found.modified_millis, asked):
            return self._open(uri)
        identity = repr((self.options, uri, found.size, found.modified_millis))
        return cached_file(kept_in, identity, found.size, lambda: self._open(uri))

    def forget_blocks(self) -> int:
        """Deletes what is kept of files of far storage on local disks; returns how many blocks."""
        kept_in = block_store(self.options)
        return 0 if kept_in is None else kept_in.flush()

    def read_bytes(self, uri: str) -> bytes:
        """All bytes of a file."""
        with self.open(uri) as file, storage_errors(uri):
            content: bytes = file.read()
        return content

    def read_text(self, uri: str) -> str:
        """All of a file as UTF-8 text."""
        return self.read_bytes(uri).decode("utf-8")

    def delete_folder(self, uri: str) -> None:
        """Deletes a folder with all that is in it; one that is not there is no error.

        Raises:
            StorageError: Storage refused, or the path is the root of a storage.
        """
        storage, path = self._resolve(uri)
        if not path.strip("/"):
            raise StorageError(f"{uri} is the root of a storage, which is not deleted")
        found = self.info(uri)
        if found is not None and found.is_directory:
            with storage_errors(uri, "delete"):
                delete_folder(storage_kind(_split(uri)[0]), storage, path)

    def create_folder(self, uri: str) -> None:
        """A folder, with those above it; one that is there is no error.

        In an object store it is an empty object. Files need none.

        Raises:
            StorageError: Storage refused, or cannot be reached.
        """
        storage, path = self._resolve(uri)
        with storage_errors(uri, "write"):
            storage.create_dir(path, recursive=True)

    def create(self, uri: str) -> pa.NativeFile:
        """A new file to be written, with the folders above it; what is at the path is replaced.

        In an object store it is there when it is closed; on Azure it is empty until then.

        Raises:
            StorageError: Storage refused, or cannot be reached.
        """
        storage, path = self._resolve(uri)
        with storage_errors(uri, "write"):
            if self.has_folders(uri):
                storage.create_dir(path.rpartition("/")[0], recursive=True)
            return storage.open_output_stream(path, compression=None)

    def write_bytes(self, uri: str, content: bytes) -> None:
        """A new file of these bytes; as ``create``."""
        with storage_errors(uri, "write"), self.create(uri) as sink:
            sink.write(content)

    def move(self, uri: str, target: str) -> None:
        """Moves a file within one storage; the folders above ``target`` are made. In one step where ``has_folders``.

        Raises:
            FileMissingError: There is no such file.
            StorageError: Something is at ``target``, or storage refused.
        """
        storage, path = self._resolve(uri)
        other, target_path = self._resolve(target)
        if storage != other or self.exists(target):
            raise StorageError(f"cannot move {uri} to {target}: expected a free path of the same storage")
        with storage_errors(target, "write"):
            if not self.has_folders(target):
                copy_file(storage_kind(_split(target)[0]), storage, path, other, target_path)
                storage.delete_file(path)
                return
            storage.create_dir(target_path.rpartition("/")[0], recursive=True)
            if self.is_local(uri) and _linked(path, target_path):
                os.unlink(path)
            else:
                storage.move(path, target_path)

    def copy(self, uri: str, target: str) -> None:
        """Makes another file of the same bytes; on local disks a link, where there can be one: nothing changes files.

        Elsewhere what is at ``target`` is replaced. Object stores copy within themselves, in one step.

        Raises:
            FileMissingError: There is no such file.
            StorageError: Something is at ``target`` on a local disk, or storage refused.
        """
        storage, path = self._resolve(uri)
        other, target_path = self._resolve(target)
        with storage_errors(target, "write"):
            if self.has_folders(target):
                other.create_dir(target_path.rpartition("/")[0], recursive=True)
            if not (self.is_local(uri) and self.is_local(target) and _linked(path, target_path)):
                copy_file(storage_kind(_split(target)[0]), storage, path, other, target_path)

    def delete_file(self, uri: str) -> None:
        """Deletes a file; one that is not there is no error.

        Raises:
            StorageError: Storage refused.
        """
        storage, path = self._resolve(uri)
        if self.exists(uri):
            with storage_errors(uri, "delete"), suppress(FileNotFoundError):  # another may have been faster
                storage.delete_file(path)

    def is_local(self, uri: str) -> bool:
        """Whether a path is on this machine."""
        return _split(uri)[0] in _LOCAL

    def has_folders(self, uri: str) -> bool:
        """Whether storage has folders, and moves files in one step: local disks and HDFS, not object stores."""
        return storage_kind(_split(uri)[0]) in (None, StorageKind.HDFS)

    def why_not_written(self, uri: str) -> str | None:
        """Why no files can be written below a path; ``None`` where they can, for all that is known here."""
        scheme = _split(uri)[0]
        kind = storage_kind(scheme)
        if kind is None and scheme not in _LOCAL:
            return f"storage of the scheme {scheme} is not known"
        if kind == StorageKind.HDFS and find_spec("hdfs_native") is None:
            return "HDFS is written by hdfs-native alone (pip install 'lakeport[hdfs]')"
        return None

    def has_settings(self, uri: str) -> bool:
        """Whether the storage of a path is reached by settings of this catalog, which no other reader has."""
        scheme, authority, _ = _split(uri)
        prefixes = setting_prefixes(scheme)
        if storage_kind(scheme) == StorageKind.HDFS and "@" in authority:
            return True
        return any(name.startswith(prefixes) for name, _ in self.options if prefixes)

    def reads_at_once(self, uri: str) -> bool:
        """Whether several threads may read an open file at any offsets; files that come through Python have one."""
        is_kept = not self.is_local(uri) and block_store(self.options) is not None
        through_python = is_kept or is_signed(_split(uri)[0], self.options)
        return not through_python and not isinstance(self._resolve(uri)[0], pafs.PyFileSystem)

    def _resolve(self, uri: str) -> tuple[pafs.FileSystem, str]:
        scheme, authority, path = _split(uri)
        if scheme in _LOCAL:
            return _local(), path
        with storage_errors(uri):
            return open_storage(scheme, authority, self.options), storage_path(scheme, authority, path)


def _linked(path: str, target: str) -> bool:
    """Links a file on a local disk unless something is at ``target``, in one step, where the disk has hard links."""
    try:
        os.link(path, target)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:
        return False
    return True


def is_hidden(name: str) -> bool:
    """Whether Hive and Spark pass over a file or folder of this name."""
    return name.startswith(("_", "."))


def join_path(root: str, relative: str) -> str:
    """Puts a relative path behind a folder's path."""
    return f"{root.rstrip('/')}/{relative.lstrip('/')}"


def _split(uri: str) -> tuple[str, str, str]:
    if uri.startswith("/"):
        return "", "", uri
    match = _SCHEME.fullmatch(uri)
    if match is None or (match.group(2) is None and match.group(3) is None):
        raise StorageError(
            f"cannot read the path {uri!r}: expected an absolute path or a URI such as s3://bucket/folder"
        )
    return match.group(1).lower(), match.group(2) or "", match.group(3) or "/"


def _file_info(path: str, info: pafs.FileInfo) -> FileInfo:
    modified = (info.mtime_ns or 0) // 1_000_000
    return FileInfo(path, info.size or 0, modified, info.type == pafs.FileType.Directory)


@lru_cache(maxsize=64)
def block_store(options: tuple[tuple[str, str], ...]) -> BlockStore | None:
    """Where blocks of files on far storage are kept by settings; ``None`` where they are not kept.

    Args:
        options: Of a ``FileSystem``.

    Raises:
        ConnectorError: The settings do not fit together, or the directories cannot be used.
    """
    return _store(cache_directories(typed_options(options)))


@lru_cache(maxsize=64)
def _store(directories: tuple[StoreDirectory, ...]) -> BlockStore | None:
    return registered(BlockStore(directories)) if directories else None


@lru_cache(maxsize=1)
def _local() -> pafs.FileSystem:
    return pafs.LocalFileSystem()


def raise_storage_failure(error: Exception, uri: str) -> None:
    """Raises what storage failed with while a file was decoded; nothing where the file's content is the reason.

    Of damaged data Arrow raises ``OSError``, too. What the system says has a number, and a damaged file may ask for
    bytes at an impossible offset (``EINVAL``); what Arrow's clients of object stores say has none and names the client.

    Args:
        error: What was raised.
        uri: The file.

    Raises:
        FileMissingError: It is not there any more.
        StorageError: Storage refused, or cannot be reached.
    """
    if isinstance(error, OSError) and (
        error.errno not in (None, errno.EINVAL) or any(client in str(error) for client in _CLIENTS)
    ):
        with storage_errors(uri):
            raise error


@contextmanager
def storage_errors(uri: str, what: str = "read") -> Iterator[None]:
    """What storage fails with while a file or folder is used, as errors of ours that name it.

    Args:
        uri: The file or folder.
        what: Is done with it.

    Raises:
        FileMissingError: It is not there.
        StorageError: Anything else.
    """
    try:
        yield
    except ConnectorError:
        raise
    except FileNotFoundError as error:
        raise FileMissingError(f"{uri} is not there; it was moved or deleted, or its location is wrong") from error
    except NotADirectoryError as error:
        raise FileMissingError(f"{uri} is no folder") from error
    except (OSError, pa.ArrowException) as error:
        text = without_signatures(str(error))
        if any(words in text for words in _VANISHED):
            raise FileMissingError(f"{uri} is not there any more; it was moved or deleted while it was open") from error
        # What is shown of the cause must hold no secret either.
        cause = error if text == str(error) else OSError(text)
        raise StorageError(f"cannot {what} {uri}: {text.strip().partition(chr(10))[0]}") from cause
