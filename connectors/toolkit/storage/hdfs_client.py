"""HDFS by hdfs-native, a client in Rust that needs no Java, as one of pyarrow's file systems."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.fs as pafs

if TYPE_CHECKING:
    from hdfs_native import Client, FileReader, FileStatus

__all__ = ["HdfsPlace", "hdfs_file_system"]

T = TypeVar("T")

_USER = "HADOOP_USER_NAME"
_TIMEOUT = "dfs.client.socket-timeout"
_TIMEOUT_MILLIS = 60_000
# RPCError("java.class", "message\n\tat a.line(of the stack)"), as Rust writes it.
_REMOTE = re.compile(r'(?:Fatal)?RPCError\("([^"]*)", "((?:[^"\\]|\\.)*)')
# GSSAPIError(codes, number, "message"), likewise.
_KERBEROS = re.compile(r'GSSAPIError\(.*, \d+, "(.*)"\)', re.DOTALL)
# Which of them it is depends on what the client had sent by then.
_HUNG_UP = ("RPC listener disconnected", "Broken pipe", "Connection reset by peer")
_NO_RIGHT = "AccessControlException"


@dataclass(frozen=True, slots=True)
class HdfsPlace:
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


def hdfs_file_system(place: HdfsPlace) -> pafs.FileSystem:
    """A file system that reads, and deletes folders; nothing else.

    Raises:
        OSError: The settings name no NameNode.
    """
    return pafs.PyFileSystem(_Handler(place))


class _Handler(pafs.FileSystemHandler):  # type: ignore[misc]
    def __init__(self, place: HdfsPlace) -> None:
        self._place = place
        millis = dict(place.settings).get(_TIMEOUT, "")
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
        inside = [mount for mount in self._place.mounts if mount.startswith(base.rstrip("/") + "/")]
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
        return [_told(status.path, status) for status in found]

    def open_input_file(self, path: str) -> pa.PythonFile:
        return pa.PythonFile(_File(self._call(lambda client: client.read(path)), self._place.user), mode="r")

    def open_input_stream(self, path: str) -> pa.PythonFile:
        return self.open_input_file(path)

    def delete_dir(self, path: str) -> None:
        self._call(lambda client: client.delete(path, True))

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        raise OSError("HDFS is only read")

    delete_root_dir_contents = delete_file = create_dir = delete_dir_contents

    def move(self, src: str, dest: str) -> None:
        raise OSError("HDFS is only read")

    copy_file = move

    def open_output_stream(self, path: str, metadata: object) -> pa.PythonFile:
        raise OSError("HDFS is only read")

    open_append_stream = open_output_stream

    def _info(self, path: str) -> pafs.FileInfo:
        try:
            return _told(path, self._call(lambda client: client.get_file_info(_folder(path))))
        except FileNotFoundError:
            return pafs.FileInfo(path, pafs.FileType.NotFound)

    def _new_client(self) -> Client:
        from hdfs_native import Client  # an optional extra

        place = self._place
        with _errors_of_hdfs(), _turns.of(place.user):
            return Client(
                place.url,
                dict(place.settings),
                kerberos_principal=place.principal,
                kerberos_keytab=place.keytab,
                kerberos_cache=place.tickets,
            )

    def _call(self, work: Callable[[Client], T], progress: Callable[[], int] = int) -> T:
        client = self._client
        try:
            with _errors_of_hdfs(), _turns.of(self._place.user):
                return _within(self._seconds, lambda: work(client), progress)
        except TimeoutError:
            # Whoever still waits for the old one's answer must not come back to it as another user.
            self._client = self._new_client()
            raise TimeoutError(f"{self._place.url} gave no answer for {self._seconds:g} seconds") from None


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
        with _errors_of_hdfs(), _turns.of(self._user):
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


class _Turns:
    """Lets the calls of one user go side by side, and those of another wait.

    hdfs-native learns who reads from a variable of the environment alone, whenever it connects to a NameNode.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._user: str | None = None
        self._calls = 0
        self._waiting = 0
        self._before: str | None = None

    @contextmanager
    def of(self, user: str | None) -> Iterator[None]:
        with self._changed:
            if self._calls and (self._user != user or self._waiting):
                self._waiting += 1
                self._changed.wait_for(lambda: not self._calls or self._user == user)
                self._waiting -= 1
            if not self._calls:
                self._user = user
                self._before = os.environ.get(_USER)
                _set(user if user is not None else self._before)
            self._calls += 1
        try:
            yield
        finally:
            with self._changed:
                self._calls -= 1
                if not self._calls:
                    _set(self._before)
                    self._changed.notify_all()


_turns = _Turns()


def _set(user: str | None) -> None:
    if user == os.environ.get(_USER):
        return
    if user is None:
        del os.environ[_USER]
    else:
        os.environ[_USER] = user


def _within(seconds: float, work: Callable[[], T], progress: Callable[[], int]) -> T:
    """Waits for an answer in a thread of its own: hdfs-native knows no limit to a NameNode that is silent.

    Raises:
        TimeoutError: There was neither an answer nor progress for so long; the thread is left behind.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="hdfs", daemon=True)
    thread.start()
    before = -1
    while thread.is_alive() and progress() != before:
        before = progress()
        thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]


@contextmanager
def _errors_of_hdfs() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if any(text in str(error) for text in _HUNG_UP):
            raise OSError(
                "the server hung up: it asks for Kerberos (hdfs.kerberos-principal), or is no NameNode's RPC port"
            ) from error
        raise
    except NotImplementedError as error:
        raise OSError(f"hdfs-native cannot do this: {error}") from error
    except RuntimeError as error:
        remote = _REMOTE.match(str(error))
        if remote is None:
            kerberos = _KERBEROS.fullmatch(str(error))
            raise OSError(f"Kerberos: {kerberos[1]}" if kerberos else str(error)) from error
        kind, message = remote[1].rpartition(".")[2], remote[2].partition("\\n")[0].replace('\\"', '"')
        if kind == _NO_RIGHT:
            raise PermissionError(message) from error
        raise OSError(f"{kind}: {message}") from error
    except BaseException as error:
        # Rust's panics are no Exception, so that no handler takes them for one by chance.
        if type(error).__name__ == "PanicException":
            raise OSError(f"hdfs-native failed inside: {error}") from error
        raise


def _folder(path: str) -> str:
    return path.rstrip("/") or "/"


def _told(path: str, status: FileStatus) -> pafs.FileInfo:
    kind = pafs.FileType.Directory if status.isdir else pafs.FileType.File
    return pafs.FileInfo(path, kind, mtime_ns=status.modification_time * 1_000_000, size=status.length)
