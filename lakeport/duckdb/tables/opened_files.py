"""Files that connectors open, as a file system of DuckDB.

DuckDB takes file systems of fsspec, asks them by paths of their scheme, and calls them from threads of its own, several
of which read one open file: each first moves to an offset and then reads.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from weakref import WeakValueDictionary

from fsspec import AbstractFileSystem  # type: ignore[import-untyped]

from connector_spi.handles import NativeFile
from connector_spi.optional.native_files import OpenedFile

__all__ = ["OpenFiles", "OpenedFileSystem", "Opener"]

Opener = Callable[[NativeFile], OpenedFile]
# An open file of an object store is a request; HDFS keeps a connection for it.
_MOST_IDLE = 256
# DuckDB reads footers by 64 KiB from the end.
_MOST_KEPT_BYTES = 1 << 17
_FRESH_SECONDS = 5.0


@dataclass(slots=True)
class _Shared:
    """An open file, how many read it, and its footer once it was read: DuckDB asks for it two to four times."""

    name: str
    file: OpenedFile
    size: int
    users: int = 0
    opened: float = field(default_factory=time.monotonic)
    _footer: bytes = b""

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the file, all of which are in it."""
        kept, start = self._footer, self.size - len(self._footer)
        if offset >= start:
            return kept[offset - start : offset - start + length]
        found = self.file.read_at(offset, length)
        if offset + length == self.size and length <= _MOST_KEPT_BYTES:
            self._footer = found
        return found


class OpenFiles:
    """The files of one table that DuckDB may open as long as the query that reads them keeps this.

    Args:
        root: How their paths begin.
        opener: Opens them on the connector's storage.
        noting: Called around each use; keeps the connector's errors, of which DuckDB gives the text alone.
    """

    def __init__(self, root: str, opener: Opener, noting: Callable[[], AbstractContextManager[None]]) -> None:
        self.noting = noting
        self._root = root
        self._opener = opener
        self._files: dict[str, NativeFile] = {}
        self._lock = threading.Lock()
        self._opened: OrderedDict[str, _Shared] = OrderedDict()

    def __del__(self) -> None:
        _close(self._opened.values())

    def path(self, file: NativeFile) -> str:
        """By which DuckDB asks for a file."""
        # Names of files may have what DuckDB takes for a pattern.
        name = f"{len(self._files)}.parquet"
        self._files[name] = file
        return f"{self._root}/{name}"

    def file(self, name: str) -> NativeFile:
        """The file of a path's last part."""
        return self._files[name]

    def begin(self) -> None:
        """Before rows are read: what was opened a while ago is opened anew, and so seen to be what was listed."""
        with self._lock:
            old = [one for one in self._opened.values() if time.monotonic() - one.opened > _FRESH_SECONDS]
            for one in old:
                del self._opened[one.name]
        _close(one for one in old if not one.users)

    def acquire(self, name: str) -> _Shared:
        """Opens a file once for all that read it, until each has released it."""
        with self._lock:
            found = self._opened.get(name)
            if found is not None:
                found.users += 1
                return found
        with self.noting():
            made = _Shared(name, self._opener(self._files[name]), self._files[name].file_size)
        with self._lock:
            found = self._opened.setdefault(name, made)
            found.users += 1
        if found is not made:
            made.file.close()
        return found

    def release(self, shared: _Shared) -> None:
        """The opposite; those that were released last stay open, as DuckDB opens each file several times."""
        with self._lock:
            shared.users -= 1
            is_current = self._opened.get(shared.name) is shared
            closed = [] if is_current or shared.users else [shared]
            if is_current:
                self._opened.move_to_end(shared.name)
                idle = [one for one in self._opened.values() if not one.users]
                closed = idle[: max(0, len(idle) - _MOST_IDLE)]
                for one in closed:
                    del self._opened[one.name]
        _close(closed)


class OpenedFileSystem(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The files of the queries of one session. Only a query that has planned to read a file knows its path."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.protocol = f"lakeport{secrets.token_hex(8)}"
        self._numbers = itertools.count()
        self._known: WeakValueDictionary[str, OpenFiles] = WeakValueDictionary()

    def of_query(self, opener: Opener, noting: Callable[[], AbstractContextManager[None]]) -> OpenFiles:
        """Files that DuckDB may open from now on; see ``OpenFiles``."""
        number = str(next(self._numbers))
        made = OpenFiles(f"{self.protocol}://{number}", opener, noting)
        self._known[number] = made
        return made

    def open(self, path: str, mode: str = "rb", **settings: object) -> _Handle:
        """A file to be read."""
        files, name = self._found(path)
        if mode != "rb":
            raise PermissionError(f"{path} is read only")
        return _Handle(files, name)

    def size(self, path: str) -> int:
        """Bytes, as listed."""
        files, name = self._found(path)
        return files.file(name).file_size

    def modified(self, path: str) -> datetime:
        """As listed."""
        files, name = self._found(path)
        return datetime.fromtimestamp(files.file(name).modified_millis / 1000, UTC)

    def exists(self, path: str, **settings: object) -> bool:
        """Whether a query reads it."""
        number, _, name = self._strip_protocol(path).partition("/")
        return number in self._known and bool(name)

    def glob(self, path: str, **settings: object) -> list[str]:
        """The file itself: paths have no patterns."""
        return [path]

    def _found(self, path: str) -> tuple[OpenFiles, str]:
        number, _, name = path.rpartition("://")[2].partition("/")
        files = self._known.get(number)
        if files is None:
            raise FileNotFoundError(f"no query reads {path}")
        return files, name

    def _strip_protocol(self, path: str) -> str:
        return path.rpartition("://")[2]


def _close(files: Iterable[_Shared]) -> None:
    for one in files:
        one.file.close()


class _Handle:
    """An open file as DuckDB uses it. The offset is that of the calling thread."""

    def __init__(self, files: OpenFiles, name: str) -> None:
        self._files = files
        self._shared: _Shared | None = files.acquire(name)
        self._offsets: dict[int, int] = {}

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self.tell(), 0 if self._shared is None else self._shared.size)[whence]
        self._offsets[threading.get_ident()] = base + offset
        return base + offset

    def tell(self) -> int:
        return self._offsets.get(threading.get_ident(), 0)

    def read(self, length: int = -1) -> bytes:
        shared = self._shared
        if shared is None:
            raise ValueError("the file is closed")
        offset = self.tell()
        left = max(shared.size - offset, 0)
        wanted = left if length < 0 else min(length, left)
        with self._files.noting():
            found = shared.read(offset, wanted) if wanted else b""
        self._offsets[threading.get_ident()] = offset + wanted
        return found

    def close(self) -> None:
        shared, self._shared = self._shared, None
        if shared is not None:
            self._files.release(shared)
