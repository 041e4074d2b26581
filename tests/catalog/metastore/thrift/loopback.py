"""Small servers on loopback: one that speaks Thrift through another party's bindings, and some that misbehave."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pymetastore.hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore as OurMetastore


@contextmanager
def serving(handle: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serves every connection with ``handle``, in a thread each, and gives the server's URI."""
    connections: list[socket.socket] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            connections.append(self.request)
            handle(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"thrift://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
            for connection in connections:
                connection.close()


def never_answer(connection: socket.socket) -> None:
    """Reads and reads, and says nothing."""
    try:
        while connection.recv(4096):
            pass
    except OSError:
        pass


def speak_thrift(
    handler: object, calls: int | None = None, lacking: str = "", newer: bool = False
) -> Callable[[socket.socket], None]:
    """Answers with ``handler``'s methods.

    Args:
        handler: Has a method for each call.
        calls: After so many calls of one connection, dies in the middle of an answer.
        lacking: Name of a call that the server does not know.
        newer: Whether requests have the fields of Hive 4, which the other party's bindings do not know.
    """
    processor = (OurMetastore if newer else ThriftHiveMetastore).Processor(handler)
    processor._processMap.pop(lacking, None)

    def handle(connection: socket.socket) -> None:
        transport = TSocket()
        transport.setHandle(connection)
        buffered = TBufferedTransport(transport)
        protocol = TBinaryProtocol(buffered)
        answered = 0
        try:
            while calls is None or answered < calls:
                processor.process(protocol, protocol)
                answered += 1
            connection.recv(4)
            # The first half of a message of version 1.
            connection.sendall(b"\x80\x01\x00\x02\x00\x00")
            connection.shutdown(socket.SHUT_RDWR)
        except (OSError, EOFError, TTransportException):
            return

    return handle
