"""A connected socket, with or without TLS, as a byte channel."""

from __future__ import annotations

import socket
import ssl

__all__ = ["SocketChannel", "is_quiet"]


class SocketChannel:
    """A byte channel over a socket.

    Args:
        handle: A connected socket.
    """

    def __init__(self, handle: socket.socket) -> None:
        self.handle = handle

    def read(self, size: int) -> bytes:
        """One to ``size`` bytes; none at the end."""
        return self.handle.recv(size)

    def write(self, data: bytes) -> None:
        """Sends all of it."""
        self.handle.sendall(data)


def is_quiet(handle: socket.socket) -> bool:
    """Whether an idle socket is still connected and has nothing to read."""
    if handle.fileno() < 0:
        return False
    before = handle.gettimeout()
    handle.settimeout(0)
    try:
        # Anything readable is the end, or out of step. With TLS this also consumes the session tickets.
        handle.recv(1)
        return False
    except (BlockingIOError, InterruptedError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    finally:
        if handle.fileno() >= 0:
            handle.settimeout(before)
