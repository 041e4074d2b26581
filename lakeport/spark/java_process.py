"""The Java process that a local Spark starts in, which can be ended before Spark has started."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["JavaProcess"]

_GRACE = 2.0
"""Seconds that Java has to remove its temporary directories."""


class JavaProcess:
    """Java while it starts. May be ended by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    @property
    def is_ended(self) -> bool:
        """Whether it was ended here."""
        return self._ended

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Learns the process of a ``launch_gateway`` inside, which names it only when Java has answered.

        One thread at a time may be inside, since PySpark's module is changed meanwhile.
        """
        # Imported here, so that a start can be ended while PySpark is still imported.
        from pyspark import java_gateway

        names = vars(java_gateway)
        original: Callable[..., subprocess.Popen[bytes]] = names["Popen"]

        def launch(command: list[str], **options: object) -> subprocess.Popen[bytes]:
            with self._lock:
                if self._ended:
                    raise InterruptedError("Spark was stopped while it started")
                self._process = original(command, **options)
                return self._process

        names["Popen"] = launch
        try:
            yield
        finally:
            names["Popen"] = original

    def end(self) -> None:
        """Ends the process; what has not been launched is not launched any more."""
        with self._lock:
            self._ended = True
            process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
