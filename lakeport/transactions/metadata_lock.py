"""The lock around calls of a connector's metadata, which also says whose metadata has failed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from lakeport.plugin_errors import ConnectorOrigin

__all__ = ["MetadataLock"]


class MetadataLock:
    """Held around each call of metadata, which serves one thread at a time; re-entrant.

    Args:
        origin: Whose metadata it is.
    """

    def __init__(self, origin: ConnectorOrigin) -> None:
        self.origin = origin
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
        if isinstance(error, Exception) and self.origin.is_silent(error):
            raise self.origin.error("say what it has", error) from error

    @contextmanager
    def asking(self, asked: str) -> Iterator[None]:
        """The lock, held around a call that can be named: as in "failed to ..."."""
        with self._lock, self.origin.errors(asked):
            yield
