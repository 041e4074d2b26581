"""A connected socket, with or without TLS, as a channel of bytes."""

from __future__ import annotations

import socket
import ssl

__all__ = ["SocketChannel", "is_quiet"]


class SocketChannel:
    """Bytes through a socket.

    Args:
        handle: A connected one; closed with the channel.
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
    """Whether a socket that nothing is expected from is still connected: nothing came, not even its end."""
    if handle.fileno() < 0:
        return False
    before = handle.gettimeout()
    handle.settimeout(0)
    try:
        # Whatever can be read is the end, or out of step. With TLS this also takes in the tickets of the handshake.
        handle.recv(1)
        return False
    except (BlockingIOError, InterruptedError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    finally:
        if handle.fileno() >= 0:
            handle.settimeout(before)
