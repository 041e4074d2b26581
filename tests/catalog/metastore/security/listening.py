"""A server on loopback that talks with one client after the other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["listening"]


@contextmanager
def listening(talk: Callable[[socket.socket], None]) -> Iterator[int]:
    """A free port, where ``talk`` is called for each who comes; one whose connection breaks is forgotten."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                handle, _ = listener.accept()
            except OSError:
                return
            with handle, suppress(OSError):
                talk(handle)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
