"""Requests to storage, for many files or directories. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["for_each"]

T = TypeVar("T")

REQUESTS_AT_ONCE = 16


def for_each(files: FileSystem, items: Sequence[T], work: Callable[[T], None], path: Callable[[T], str]) -> None:
    """Works on each in order, or on several at once where all are in object stores, whose answers take long.

    When it ends, none is worked on any more.

    Args:
        files: Storage.
        items: What is worked on.
        work: Is called with each.
        path: Where each is.

    Raises:
        Exception: What ``work`` has raised; some others were worked on, too.
    """
    if len(items) < 2 or any(files.has_folders(path(one)) for one in items):
        for one in items:
            work(one)
        return
    with ThreadPoolExecutor(min(REQUESTS_AT_ONCE, len(items)), "lakeport-commit") as pool:
        for _ in pool.map(work, items):
            pass
