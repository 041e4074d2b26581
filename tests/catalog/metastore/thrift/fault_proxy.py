"""A proxy on loopback between a client and a server, which does what bad networks and sick servers do."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.catalog.metastore.thrift.loopback import serving


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the way back from the server.

    Attributes:
        name: For people.
        delay: Seconds before each piece of an answer.
        cut_after: Bytes of answers of one connection after which it is cut; ``None`` for never.
        garbage: Sent in place of every answer.
        trickle: Seconds between single bytes; ``None`` sends pieces as they come.
        silent: Nothing ever comes back.
        reset: Connections are reset as soon as they are made.
        unharmed: Bytes of answers that pass before anything is wrong: enough to get past ``set_ugi``.
    """

    name: str = "none"
    delay: float = 0.0
    cut_after: int | None = None
    garbage: bytes = b""
    trickle: float | None = None
    silent: bool = False
    reset: bool = False
    unharmed: int = 0


class FaultProxy:
    """Passes bytes on; ``fault`` may be changed at any time, for connections made from then on.

    Attributes:
        uri: Where clients connect.
        fault: What is wrong.
        lost_requests: So many of the next requests, of connections old and new, are cut off before the server has them.
        lost_answers: So many of the next answers are cut off after the server has done the call.
    """

    def __init__(self, uri: str, fault: Fault) -> None:
        self.uri = uri
        self.fault = fault
        self.lost_requests = 0
        self.lost_answers = 0

    def loses_request(self) -> bool:
        """Whether this request is lost; counts it."""
        self.lost_requests -= 1
        return self.lost_requests >= 0

    def loses_answer(self) -> bool:
        """Whether this answer is lost; counts it."""
        self.lost_answers -= 1
        return self.lost_answers >= 0


@contextmanager
def fault_proxy(backend_port: int, fault: Fault) -> Iterator[FaultProxy]:
    """Serves until the block ends."""
    stopping = threading.Event()

    def handle(client: socket.socket) -> None:
        wrong = proxy.fault
        if wrong.reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        with suppress(OSError), socket.create_connection(("127.0.0.1", backend_port)) as backend:

            def send(data: bytes) -> None:
                if proxy.loses_request():
                    raise ConnectionResetError
                backend.sendall(data)

            forward = threading.Thread(target=_pass_on, args=(client, send, backend))
            forward.start()
            try:
                _pass_back(backend, client, wrong, stopping, proxy)
            finally:
                for end in (client, backend):
                    with suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)
                forward.join()

    with serving(handle) as uri:
        proxy = FaultProxy(uri, fault)
        try:
            yield proxy
        finally:
            stopping.set()


def _pass_on(source: socket.socket, send: Callable[[bytes], object], sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            send(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _pass_back(
    backend: socket.socket, client: socket.socket, fault: Fault, stopping: threading.Event, proxy: FaultProxy
) -> None:
    passed = 0
    while data := backend.recv(1 << 16):
        if proxy.loses_answer():
            return
        if passed < fault.unharmed:
            whole, data = data[: fault.unharmed - passed], data[fault.unharmed - passed :]
            client.sendall(whole)
            passed += len(whole)
        if not data or fault.silent:
            continue
        if stopping.wait(fault.delay):
            return
        if fault.garbage:
            client.sendall(fault.garbage)
            continue
        if fault.cut_after is not None and passed + len(data) >= fault.cut_after:
            client.sendall(data[: max(0, fault.cut_after - passed)])
            return
        if fault.trickle is None:
            client.sendall(data)
        else:
            _trickle(client, data, fault.trickle, stopping)
        passed += len(data)


def _trickle(client: socket.socket, data: bytes, seconds: float, stopping: threading.Event) -> None:
    for position in range(len(data)):
        if stopping.wait(seconds):
            return
        client.sendall(data[position : position + 1])


@contextmanager
def recording(backend_port: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Passes bytes on, and keeps the first answer to each call by its name: the URI, and the answers."""
    answers: dict[str, bytes] = {}

    def handle(client: socket.socket) -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", backend_port)) as backend:
            while request := _whole_message(client):
                backend.sendall(request)
                answer = _whole_message(backend)
                if not answer:  # Hive 2 hangs up after a request that lacks a field
                    return
                if _is_reply(answer):
                    answers.setdefault(_name_of(request), answer)
                client.sendall(answer)

    with serving(handle) as uri:
        yield uri, answers


@contextmanager
def replaying(answer: Callable[[str], bytes]) -> Iterator[str]:
    """Answers each call with the bytes that ``answer`` gives for its name, and gives the URI."""

    def handle(client: socket.socket) -> None:
        with suppress(OSError):
            while request := _whole_message(client):
                client.sendall(answer(_name_of(request)))

    with serving(handle) as uri:
        yield uri


def _whole_message(source: socket.socket) -> bytes:
    """A message, told by that nothing follows for a while: both sides send whole messages and then wait."""
    source.settimeout(None)
    data = source.recv(1 << 20)
    source.settimeout(0.05)
    with suppress(TimeoutError):
        while data and (more := source.recv(1 << 20)):
            data += more
    source.settimeout(None)
    return data


def _name_of(message: bytes) -> str:
    (length,) = struct.unpack_from(">i", message, 4)
    return message[8 : 8 + length].decode()


def _is_reply(message: bytes) -> bool:
    return message[:4] == b"\x80\x01\x00\x02"


def wait_until(true: Callable[[], bool]) -> None:
    """Waits for what threads that end do soon."""
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
