"""Copies of files: by the store itself, or through this process where the store does not. Used on both sides."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pyarrow.fs as pafs

from connectors.toolkit.storage.remote_storage import StorageKind

__all__ = ["copy_file"]

MOST_COPIED_BYTES = {StorageKind.S3: 5 << 30, StorageKind.AZURE: 256 << 20}
"""What one request copies at most, by the references of ``CopyObject`` and of ``Copy Blob From URL``."""
BLOCK_BYTES = 8 << 20


def copy_file(
    kind: StorageKind | None, storage: pafs.FileSystem, path: str, target_storage: pafs.FileSystem, target: str
) -> None:
    """Makes another file of the same bytes. What is at the target is replaced.

    Of a copy that a store makes itself all is there, or nothing.

    Args:
        kind: Of the storage of the target.
        storage: Where the file is.
        path: The file.
        target_storage: Where the copy is to be.
        target: The copy.

    Raises:
        FileNotFoundError: There is no such file.
        OSError: Storage refused, or cannot be reached.
    """
    limit = MOST_COPIED_BYTES.get(kind) if kind is not None else None
    if storage == target_storage and (limit is None or (storage.get_file_info(path).size or 0) <= limit):
        storage.copy_file(path, target)
        return
    with storage.open_input_stream(path, compression=None) as source:
        sink = target_storage.open_output_stream(target, compression=None)
        try:
            while block := source.read(BLOCK_BYTES):
                sink.write(block)
            sink.close()
        except BaseException:
            _remove(sink, target_storage, target)
            raise


def _remove(sink: pa.NativeFile, storage: pafs.FileSystem, target: str) -> None:
    """Of a file that is not closed Arrow makes an object by itself, when its memory is freed."""
    for step in (sink.close, lambda: storage.delete_file(target)):
        with suppress(OSError, pa.ArrowException):  # the first error is the one to tell
            step()
