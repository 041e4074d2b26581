"""Stands between clients and a metastore: changes texts that pass, or cuts connections at a call."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import BinaryIO

__all__ = ["Cut", "ThriftProxy", "running_proxy"]

_ONE_WAY = 4
_STRING, _STRUCT, _MAP, _SET, _LIST = 11, 12, 13, 14, 15
_SIZES = {2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8, 16: 16}
"""Bytes of the types that have always as many (Thrift's binary protocol)."""


class Cut(Enum):
    """What becomes of a call."""

    NEVER = 0
    BEFORE = 1
    """The connection ends, and the server does not see the call."""
    AFTER = 2
    """The server answers, and the connection ends before the client sees the answer."""


@dataclass(frozen=True, slots=True)
class ThriftProxy:
    """A proxy that listens on loopback.

    Attributes:
        port: Where it listens.
        server: The port of the metastore.
        asked: Changes texts of calls.
        answered: Changes texts of answers.
        cut: What becomes of a call, by its name.
    """

    port: int
    server: int
    asked: Callable[[bytes], bytes]
    answered: Callable[[bytes], bytes]
    cut: Callable[[str], Cut]

    @property
    def uri(self) -> str:
        """Its address, as ``hive.metastore.uri`` takes it."""
        return f"thrift://127.0.0.1:{self.port}"


@contextmanager
def running_proxy(
    server: int,
    *,
    asked: Callable[[bytes], bytes] = bytes,
    answered: Callable[[bytes], bytes] = bytes,
    cut: Callable[[str], Cut] = lambda _: Cut.NEVER,
) -> Iterator[ThriftProxy]:
    """Runs a proxy until the block ends; the arguments are those of ``ThriftProxy``."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = ThriftProxy(listening.getsockname()[1], server, asked, answered, cut)
        threading.Thread(target=_accept, args=(proxy, listening), daemon=True).start()
        try:
            yield proxy
        finally:
            # A thread that waits for a client would wait on.
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)


def _accept(proxy: ThriftProxy, listening: socket.socket) -> None:
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            threading.Thread(target=_serve, args=(proxy, client), daemon=True).start()


def _serve(proxy: ThriftProxy, client: socket.socket) -> None:
    with client, suppress(EOFError, OSError), socket.create_connection(("127.0.0.1", proxy.server)) as server:
        calls, answers = client.makefile("rb"), server.makefile("rb")
        while True:
            call = _read_message(calls, proxy.asked)
            cut = proxy.cut(call.name)
            if cut is Cut.BEFORE:
                return
            server.sendall(call.content)
            if call.kind == _ONE_WAY:
                continue
            answer = _read_message(answers, proxy.answered)
            if cut is Cut.AFTER:
                return
            client.sendall(answer.content)


@dataclass(frozen=True, slots=True)
class _Message:
    name: str
    kind: int
    content: bytes


def _read_message(stream: BinaryIO, text: Callable[[bytes], bytes]) -> _Message:
    copy = _Copy(stream, text)
    kind = copy.take(4)[3]
    name = copy.text().decode()
    copy.take(4)
    copy.value(_STRUCT)
    return _Message(name, kind, bytes(copy.copied))


class _Copy:
    """Reads values, and writes them again with changed texts."""

    def __init__(self, stream: BinaryIO, text: Callable[[bytes], bytes]) -> None:
        self._stream = stream
        self._text = text
        self.copied = bytearray()

    def take(self, size: int) -> bytes:
        data = self._read(size)
        self.copied += data
        return data

    def text(self) -> bytes:
        changed = self._text(self._read(int.from_bytes(self._read(4), "big")))
        self.copied += len(changed).to_bytes(4, "big") + changed
        return changed

    def value(self, kind: int) -> None:
        if kind == _STRING:
            self.text()
        elif kind == _STRUCT:
            while field := self.take(1)[0]:
                self.take(2)
                self.value(field)
        elif kind in (_MAP, _SET, _LIST):
            kinds = self.take(2 if kind == _MAP else 1)
            for _ in range(int.from_bytes(self.take(4), "big")):
                for one in kinds:
                    self.value(one)
        else:
            self.take(_SIZES[kind])

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise EOFError
        return data
