"""HDFS by hdfs-native, a client in Rust that needs no Java, as one of pyarrow's file systems."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.fs as pafs

from connectors.toolkit.storage.hdfs.calls import calls_of, hdfs_errors, within

if TYPE_CHECKING:
    from hdfs_native import Client, FileReader, FileStatus, FileWriter

__all__ = ["HdfsCluster", "hdfs_file_system"]

T = TypeVar("T")

_TIMEOUT = "dfs.client.socket-timeout"
_TIMEOUT_MILLIS = 60_000
_UMASK, _DEFAULT_UMASK = "fs.permissions.umask-mode", "022"
_COPIED_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class HdfsCluster:
    """A cluster or a mount table, and who reads it.

    Attributes:
        url: ``hdfs://host:port``, ``hdfs://name-service`` or ``viewfs://mount-table``.
        settings: Hadoop's, by name.
        user: Whom a cluster without Kerberos takes the reader for; ``None`` for the one of the process.
        mounts: Paths of viewfs that lie elsewhere than the folder above them.
        principal: Who reads a cluster with Kerberos; ``None`` for the owner of the process's tickets.
        keytab: File of the principal's keys.
        tickets: File of the principal's tickets.
    """

    url: str
    settings: tuple[tuple[str, str], ...] = field(repr=False)
    user: str | None = None
    mounts: tuple[str, ...] = ()
    principal: str | None = None
    keytab: str | None = None
    tickets: str | None = None


def hdfs_file_system(cluster: HdfsCluster) -> pafs.FileSystem:
    """A file system, whose moves are one step of the NameNode, and never replace what is there.

    Raises:
        OSError: The settings name no NameNode.
    """
    return pafs.PyFileSystem(_Handler(cluster))


class _Handler(pafs.FileSystemHandler):  # type: ignore[misc]
    def __init__(self, cluster: HdfsCluster) -> None:
        self._cluster = cluster
        millis = dict(cluster.settings).get(_TIMEOUT, "")
        self._seconds = (int(millis) if millis.isdigit() and int(millis) else _TIMEOUT_MILLIS) / 1000
        self._client = self._new_client()

    def get_type_name(self) -> str:
        return "hdfs-native"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: Sequence[str]) -> list[pafs.FileInfo]:
        return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector: pafs.FileSelector) -> list[pafs.FileInfo]:
        base = _folder(selector.base_dir)
        inside = [mount for mount in self._cluster.mounts if mount.startswith(base.rstrip("/") + "/")]
        if inside:
            raise OSError(f"{base} holds the mount point {inside[0]}, which hdfs-native's listing would lack")
        found: list[FileStatus] = []

        def read(client: Client) -> None:
            for status in client.list_status(base, selector.recursive):
                found.append(status)

        try:
            self._call(read, lambda: len(found))
        except FileNotFoundError:
            if selector.allow_not_found:
                return []
            raise
        if len(found) == 1 and not found[0].isdir and found[0].path == base:
            raise NotADirectoryError(base)
        return [_file_info(status.path, status) for status in found]

    def open_input_file(self, path: str) -> pa.PythonFile:
        return pa.PythonFile(_File(self._call(lambda client: client.read(path)), self._cluster.user), mode="r")

    def open_input_stream(self, path: str) -> pa.PythonFile:
        return self.open_input_file(path)

    def delete_dir(self, path: str) -> None:
        self._call(lambda client: client.delete(path, True))

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        raise OSError("folders of HDFS are deleted as a whole")

    delete_root_dir_contents = delete_dir_contents

    def delete_file(self, path: str) -> None:
        self._call(lambda client: client.delete(path, False))

    def create_dir(self, path: str, recursive: bool) -> None:
        mode = 0o777 & ~self._umask()
        self._call(lambda client: client.mkdirs(_folder(path), mode, recursive))

    def move(self, src: str, dest: str) -> None:
        self._call(lambda client: client.rename(src, dest, False))

    def copy_file(self, src: str, dest: str) -> None:
        with self.open_input_file(src) as source, self.open_output_stream(dest, None) as sink:
            while block := source.read(_COPIED_BYTES):
                sink.write(block)

    def open_output_stream(self, path: str, metadata: object) -> pa.PythonFile:
        from hdfs_native import WriteOptions  # an optional extra

        options = WriteOptions(permission=0o666 & ~self._umask(), overwrite=True, create_parent=True)
        writer = self._call(lambda client: client.create(path, options))
        return pa.PythonFile(_NewFile(writer, self._cluster.user), mode="w")

    def open_append_stream(self, path: str, metadata: object) -> pa.PythonFile:
        raise OSError("nothing is appended to files of HDFS")

    def _umask(self) -> int:
        """Whoever creates a file or a folder takes these rights from it, as Hadoop's own client does."""
        text = dict(self._cluster.settings).get(_UMASK, _DEFAULT_UMASK)
        try:
            return int(text, 8)
        except ValueError:
            raise OSError(f"{_UMASK} is {text}; expected an octal number such as {_DEFAULT_UMASK}") from None

    def _info(self, path: str) -> pafs.FileInfo:
        try:
            return _file_info(path, self._call(lambda client: client.get_file_info(_folder(path))))
        except FileNotFoundError:
            return pafs.FileInfo(path, pafs.FileType.NotFound)

    def _new_client(self) -> Client:
        from hdfs_native import Client  # an optional extra

        cluster = self._cluster
        with hdfs_errors(), calls_of(cluster.user):
            return Client(
                cluster.url,
                dict(cluster.settings),
                kerberos_principal=cluster.principal,
                kerberos_keytab=cluster.keytab,
                kerberos_cache=cluster.tickets,
            )

    def _call(self, work: Callable[[Client], T], progress: Callable[[], int] = int) -> T:
        client = self._client
        try:
            with hdfs_errors(), calls_of(self._cluster.user):
                return within(self._seconds, lambda: work(client), progress)
        except TimeoutError:
            # Whoever still waits for the old one's answer must not come back to it as another user.
            self._client = self._new_client()
            raise TimeoutError(f"{self._cluster.url} gave no answer for {self._seconds:g} seconds") from None


class _File:
    """What ``pyarrow.PythonFile`` asks of a file; reads no byte that is not asked for."""

    def __init__(self, reader: FileReader, user: str | None) -> None:
        self.closed = False
        self._reader = reader
        self._user = user
        self._size = len(reader)
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        left = max(self._size - self._at, 0)
        count = left if size < 0 else min(size, left)
        if not count:
            return b""
        # Where a DataNode fails, the NameNode is asked for others.
        with hdfs_errors(), calls_of(self._user):
            data: bytes = self._reader.read_range(self._at, count)
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


class _NewFile:
    """What ``pyarrow.PythonFile`` asks of a file that is written."""

    def __init__(self, writer: FileWriter, user: str | None) -> None:
        self.closed = False
        self._writer = writer
        self._user = user
        self._at = 0

    def write(self, data: pa.Buffer) -> int:
        # Arrow's bytes have a sign, of which the client takes none.
        content = memoryview(data).cast("B")
        with hdfs_errors(), calls_of(self._user):
            self._writer.write(content)
        self._at += len(content)
        return len(content)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        """A file is complete when it is closed, and no one reads it before."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            with hdfs_errors(), calls_of(self._user):
                self._writer.close()


def _folder(path: str) -> str:
    return path.rstrip("/") or "/"


def _file_info(path: str, status: FileStatus) -> pafs.FileInfo:
    kind = pafs.FileType.Directory if status.isdir else pafs.FileType.File
    return pafs.FileInfo(path, kind, mtime_ns=status.modification_time * 1_000_000, size=status.length)
