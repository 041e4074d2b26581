"""An object store in memory, as Arrow shows one: no folders, no renames, and objects that are there as a whole."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from connectors.toolkit.storage import filesystem

__all__ = ["ObjectStore"]


class ObjectStore(pafs.FileSystemHandler):  # type: ignore[misc]
    """The objects of all buckets. What ends in ``/`` stands for a folder.

    Attributes:
        objects: Content and time of each, by ``bucket/key``.
        before: Called with the name of an operation that changes something, and the object, before it is done.
        after: The same, when it is done and the answer is on its way.
    """

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, int]] = {}
        self.before: Callable[[str, str], None] = lambda name, path: None
        self.after: Callable[[str, str], None] = lambda name, path: None
        self._lock = threading.RLock()

    @classmethod
    def installed(cls, patch: pytest.MonkeyPatch) -> ObjectStore:
        """A store where all paths with a scheme lead to."""
        made = cls()
        shown = pafs.PyFileSystem(made)
        patch.setattr(filesystem, "open_storage", lambda scheme, authority, options: shown)
        return made

    def names(self, *, hidden: bool) -> list[str]:
        """Objects that are no folders; those that readers pass over, or the others."""
        found = (path for path in self.objects if not path.endswith("/"))
        return sorted(path for path in found if any(map(filesystem.is_hidden, path.split("/"))) is hidden)

    def get_type_name(self) -> str:
        return "objects"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: Sequence[str]) -> list[pafs.FileInfo]:
        with self._lock:
            return [self._info(path) for path in paths]

    def get_file_info_selector(self, selector: pafs.FileSelector) -> list[pafs.FileInfo]:
        base = selector.base_dir.rstrip("/") + "/"
        with self._lock:
            inside = [path[len(base) :] for path in self.objects if path.startswith(base)]
            if not inside:
                raise FileNotFoundError(base)
            found = set()
            for path in inside:
                parts = path.rstrip("/").split("/")
                found |= {"/".join(parts[: count + 1]) for count in range(len(parts) if selector.recursive else 1)}
            return [self._info(base + path) for path in sorted(found - {""})]

    def create_dir(self, path: str, recursive: bool) -> None:
        self._change("create_dir", path, lambda: self._put(path + "/", b""))

    def delete_dir(self, path: str) -> None:
        def delete() -> None:
            for one in [one for one in self.objects if one.startswith(path + "/")]:
                del self.objects[one]

        self._change("delete_dir", path, delete)

    def delete_file(self, path: str) -> None:
        def delete() -> None:
            self._content(path)
            del self.objects[path]
            # As Arrow does, so that a folder does not go with its last file.
            parent = path.rpartition("/")[0]
            if self._info(parent).type == pafs.FileType.NotFound:
                self._put(parent + "/", b"")

        self._change("delete_file", path, delete)

    def copy_file(self, src: str, dest: str) -> None:
        self._change("copy_file", dest, lambda: self._put(dest, self._content(src)))

    def move(self, src: str, dest: str) -> None:
        raise NotImplementedError("an object store renames nothing")

    def open_input_file(self, path: str) -> pa.PythonFile:
        with self._lock:
            return pa.PythonFile(io.BytesIO(self._content(path)), mode="r")

    open_input_stream = open_input_file

    def open_output_stream(self, path: str, metadata: object) -> pa.PythonFile:
        self.before("open", path)
        return pa.PythonFile(_Upload(self, path), mode="w")

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        raise NotImplementedError

    delete_root_dir_contents = open_append_stream = delete_dir_contents

    def put(self, path: str, content: bytes) -> None:
        """An upload is complete."""
        self._change("put", path, lambda: self._put(path, content))

    def _change(self, name: str, path: str, change: Callable[[], None]) -> None:
        self.before(name, path)
        with self._lock:
            change()
        self.after(name, path)

    def _put(self, path: str, content: bytes) -> None:
        self.objects[path] = (content, time.time_ns())

    def _content(self, path: str) -> bytes:
        if path not in self.objects:
            raise FileNotFoundError(path)
        return self.objects[path][0]

    def _info(self, path: str) -> pafs.FileInfo:
        if path in self.objects:
            content, made = self.objects[path]
            return pafs.FileInfo(path, pafs.FileType.File, size=len(content), mtime_ns=made)
        if any(one.startswith(path + "/") for one in self.objects):
            return pafs.FileInfo(path, pafs.FileType.Directory)
        return pafs.FileInfo(path, pafs.FileType.NotFound)


class _Upload(io.BytesIO):
    """Nothing of it is seen until it is closed."""

    def __init__(self, store: ObjectStore, path: str) -> None:
        super().__init__()
        self._store = store
        self._path = path

    def close(self) -> None:
        if not self.closed:
            content = self.getvalue()
            super().close()
            self._store.put(self._path, content)
