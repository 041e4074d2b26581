"""Copies of files: by the store itself, or through this process where the store does not. Used on both sides."""

from __future__ import annotations

import pyarrow.fs as pafs

from connectors.toolkit.storage.remote_storage import StorageKind

__all__ = ["copy_file"]

MOST_COPIED_BYTES = {StorageKind.S3: 5 << 30, StorageKind.AZURE: 256 << 20}
"""What one request copies at most, by the references of ``CopyObject`` and of ``Copy Blob From URL``."""
_BLOCK_BYTES = 8 << 20


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
    # Closed only where all was read: of an object store's part of a file nothing is seen.
    with storage.open_input_stream(path, compression=None) as source:
        sink = target_storage.open_output_stream(target, compression=None)
        while block := source.read(_BLOCK_BYTES):
            sink.write(block)
        sink.close()
