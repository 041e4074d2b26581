"""Ends waits on a socket from outside: when a call has lasted too long, or when its client is closed."""

from __future__ import annotations

import socket
import time
from contextlib import AbstractContextManager, suppress
from threading import Condition, Lock, Thread

__all__ = ["SocketCanceller", "Watchdog"]

_IDLE_SECONDS = 10.0
_TOO_LONG = "it lasted too long"


class SocketCanceller:
    """Holds the socket below a connection, to cut it from any thread.

    What lies above the socket (TLS, SASL, HTTP) need not know: a read or a handshake that waits ends with an error.

    Attributes:
        why_cut: Why it was cut; ``None`` while it was not.
    """

    def __init__(self) -> None:
        self.why_cut: str | None = None
        self._lock = Lock()
        self._sockets: list[socket.socket] = []

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connects to one of the host's addresses.

        Args:
            host: Name or address.
            port: TCP port.
            timeout: Seconds in all, however many addresses the host has; looking them up is not counted.

        Returns:
            A connected socket whose reads wait for ``timeout`` seconds; who closes it also calls ``release``.

        Raises:
            OSError: No address can be reached, or the canceller was cut.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        deadline = time.monotonic() + timeout
        failure: OSError = OSError(f"{host} has no address")
        for family, kind, protocol, _, address in found:
            handle = socket.socket(family, kind, protocol)
            try:
                self._hold(handle)
                handle.settimeout(max(deadline - time.monotonic(), 0.001))
                handle.connect(address)
                handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                # What a firewall forgets while a connection is idle is found out before the next call.
                handle.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                handle.settimeout(timeout)
                return handle
            except OSError as error:
                handle.close()
                self.release()
                failure = error
            except BaseException:
                handle.close()
                self.release()
                raise
        raise failure

    def cut(self, why: str) -> None:
        """Ends whatever waits on the connection; only the first reason is kept."""
        with self._lock:
            self.why_cut = self.why_cut or why
            for handle in self._sockets:
                with suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        """Lets go of the socket."""
        with self._lock:
            held, self._sockets = self._sockets, []
        for handle in held:
            handle.close()

    def _hold(self, handle: socket.socket) -> None:
        # A copy: TLS takes the socket's descriptor away from its object.
        copy = handle.dup()
        with self._lock:
            self._sockets.append(copy)
            if self.why_cut is not None:
                raise ConnectionAbortedError(self.why_cut)


class Watchdog:
    """Cuts cancellers at their time. Its thread runs while there is something to watch, and a little longer."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._ends: dict[SocketCanceller, float] = {}
        self._wakes = 0.0
        self._thread: Thread | None = None
        self._stopped = False

    def watching(self, canceller: SocketCanceller, deadline: float) -> AbstractContextManager[None]:
        """Cuts the canceller if the block still runs at ``deadline``.

        Args:
            canceller: What to cut.
            deadline: When, by ``time.monotonic``.
        """
        return _Watched(self, canceller, deadline)

    def begin(self, canceller: SocketCanceller, deadline: float) -> None:
        """Begins to watch; see ``watching``."""
        with self._condition:
            self._ends[canceller] = deadline
            if self._thread is None and not self._stopped:
                self._thread = Thread(target=self._run, name="lakeport-metastore-watchdog", daemon=True)
                self._thread.start()
            elif deadline < self._wakes:
                self._condition.notify()

    def end(self, canceller: SocketCanceller) -> None:
        """Watches it no longer."""
        with self._condition:
            self._ends.pop(canceller, None)

    def stop(self) -> None:
        """Ends the thread."""
        with self._condition:
            self._stopped = True
            self._condition.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        with self._condition:
            while not self._stopped:
                now = time.monotonic()
                for canceller in [one for one, end in self._ends.items() if end <= now]:
                    del self._ends[canceller]
                    canceller.cut(_TOO_LONG)
                self._wakes = min(self._ends.values(), default=now + _IDLE_SECONDS)
                if not self._condition.wait(self._wakes - now) and not self._ends:
                    break
            self._thread = None


class _Watched(AbstractContextManager[None]):
    # Not made by contextlib.contextmanager, which writes to exceptions that pass: Thrift's cannot be written to.

    def __init__(self, watchdog: Watchdog, canceller: SocketCanceller, deadline: float) -> None:
        self._watchdog = watchdog
        self._canceller = canceller
        self._deadline = deadline

    def __enter__(self) -> None:
        self._watchdog.begin(self._canceller, self._deadline)

    def __exit__(self, *_: object) -> None:
        self._watchdog.end(self._canceller)
