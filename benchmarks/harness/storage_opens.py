"""Counts the files that storage opens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["counted_opens"]


@contextmanager
def counted_opens() -> Iterator[Counter[str]]:
    """How often each path is opened in this process while the block runs."""
    opens: Counter[str] = Counter()
    original = FileSystem.open

    def counting(files: FileSystem, uri: str) -> pa.NativeFile:
        opens[uri] += 1
        return original(files, uri)

    FileSystem.open = counting  # type: ignore[method-assign,assignment]
    try:
        yield opens
    finally:
        FileSystem.open = original  # type: ignore[method-assign]
