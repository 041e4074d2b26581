"""Writes after which nothing that was remembered before is given any more."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import cast

from catalog.metastore.client import MetastoreWriter

__all__ = ["invalidating_writer"]


def invalidating_writer(writer: MetastoreWriter, forget: Callable[[], object]) -> MetastoreWriter:
    """Writes as ``writer`` does, and calls ``forget`` with each write.

    What failed may have been done, so it is called then, too.
    """
    return cast(MetastoreWriter, _InvalidatingWriter(writer, forget))


class _InvalidatingWriter:
    """Every call of a writer is a write, so none is named here, and none can be forgotten."""

    def __init__(self, writer: MetastoreWriter, forget: Callable[[], object]) -> None:
        self._writer = writer
        self._forget = forget

    def __getattr__(self, name: str) -> object:
        found = getattr(self._writer, name)
        return self._flushing(found) if callable(found) else found

    def _flushing(self, write: Callable[..., object]) -> Callable[..., object]:
        @wraps(write)
        def run(*arguments: object, **named: object) -> object:
            try:
                return write(*arguments, **named)
            finally:
                self._forget()

        return run
