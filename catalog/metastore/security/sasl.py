"""The SASL layer of Thrift: a negotiation in messages, then the data in frames.

A message of the negotiation is a status byte, a length of four bytes, and its payload; afterwards each frame is a
length and the bytes as wrapped by the mechanism. Source: ``TSaslTransport`` of Apache Thrift's Java library, which
Hive's metastore uses.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from typing import Protocol

from catalog.metastore.security.errors import AuthenticationError, SecureChannelError

__all__ = ["MAX_FRAME", "ByteChannel", "SaslChannel", "SaslMechanism"]

MAX_FRAME = (1 << 30) - 1
"""Longest frame that is accepted, in bytes: Thrift's own limit."""

_START, _OK, _BAD, _ERROR, _COMPLETE = 1, 2, 3, 4, 5
_MAX_MESSAGE = 1 << 20
_MAX_ROUNDS = 16
_CHUNK = 1 << 16


class ByteChannel(Protocol):
    """A connection that sends and receives bytes."""

    def read(self, size: int) -> bytes:
        """One to ``size`` bytes; none at the end."""

    def write(self, data: bytes) -> None:
        """Sends all of it."""


class SaslMechanism(ABC):
    """The client's side of a SASL mechanism, for one connection.

    Attributes:
        name: Its registered name, such as ``PLAIN``.
    """

    name: str

    @abstractmethod
    def start(self) -> bytes:
        """The initial response; empty if there is none."""

    @abstractmethod
    def respond(self, challenge: bytes) -> bytes:
        """The response to a challenge.

        Raises:
            AuthenticationError: The server did not prove its identity, or the client cannot.
            SecureChannelError: The challenge does not belong to the mechanism.
        """

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether the client's part is done and the server's proof was checked."""

    @property
    def longest(self) -> int | None:
        """Most bytes that ``wrap`` takes at once; ``None`` where bytes are not wrapped."""
        return None

    def wrap(self, data: bytes) -> bytes:
        """Signs or encrypts bytes to send."""
        return data

    def unwrap(self, data: bytes) -> bytes:
        """Checks or decrypts what was received.

        Raises:
            SecureChannelError: The bytes were changed in transit.
        """
        return data


class SaslChannel:
    """A channel that wraps bytes with SASL.

    Args:
        channel: The underlying connection.
        mechanism: The mechanism that authenticates and wraps.
        server: Name of the server, for messages.
    """

    def __init__(self, channel: ByteChannel, mechanism: SaslMechanism, server: str) -> None:
        self._channel = channel
        self._mechanism = mechanism
        self._server = server
        self._unread = memoryview(b"")
        self._left_of_frame = 0

    def negotiate(self) -> None:
        """Authenticates both sides.

        Raises:
            AuthenticationError: One side did not accept the other.
            SecureChannelError: The server violates the protocol.
            OSError: The connection broke.
        """
        mechanism = self._mechanism
        # The mechanism first: the server interprets the rest by it.
        self._send(_START, mechanism.name.encode())
        self._send(_OK, mechanism.start())
        for _ in range(_MAX_ROUNDS):
            status, payload = self._receive()
            if status == _COMPLETE:
                self._finish(payload)
                return
            if self._mechanism.complete:
                raise SecureChannelError(f"{self._server} continues {mechanism.name} after its end")
            response = mechanism.respond(payload)
            self._send(_COMPLETE if mechanism.complete else _OK, response)
        raise SecureChannelError(f"{self._server} sent more than {_MAX_ROUNDS} challenges of {mechanism.name}")

    def read(self, size: int) -> bytes:
        """One to ``size`` bytes; none at the end of the connection."""
        if self._mechanism.longest is None:
            return self._read_bare(size)
        while not self._unread:
            header = self._read_header()
            if header is None:
                return b""
            self._unread = memoryview(self._mechanism.unwrap(self._read_exactly(header)))
        taken, self._unread = self._unread[:size], self._unread[size:]
        return bytes(taken)

    def write(self, data: bytes) -> None:
        """Sends bytes, in frames within the server's limit."""
        longest = self._mechanism.longest or MAX_FRAME
        for start in range(0, len(data), longest):
            frame = self._mechanism.wrap(data[start : start + longest])
            self._channel.write(struct.pack(">I", len(frame)) + frame)

    def _finish(self, payload: bytes) -> None:
        if payload or not self._mechanism.complete:
            self._mechanism.respond(payload)
        if not self._mechanism.complete:
            raise SecureChannelError(f"{self._server} ended {self._mechanism.name} before it proved its identity")

    def _read_bare(self, size: int) -> bytes:
        while not self._left_of_frame:
            header = self._read_header()
            if header is None:
                return b""
            self._left_of_frame = header
        data = self._channel.read(min(size, self._left_of_frame))
        if not data:
            raise SecureChannelError(f"{self._server} closed the connection within a frame")
        self._left_of_frame -= len(data)
        return data

    def _read_header(self) -> int | None:
        first = self._channel.read(4)
        if not first:
            return None
        length = int(struct.unpack(">I", first + self._read_exactly(4 - len(first)))[0])
        if length > MAX_FRAME:
            raise SecureChannelError(
                f"{self._server} announces a frame of {length} bytes; at most {MAX_FRAME} are accepted"
            )
        return length

    def _send(self, status: int, payload: bytes) -> None:
        self._channel.write(struct.pack(">BI", status, len(payload)) + payload)

    def _receive(self) -> tuple[int, bytes]:
        status, length = struct.unpack(">BI", self._read_exactly(5))
        if status not in (_OK, _BAD, _ERROR, _COMPLETE) or length > _MAX_MESSAGE:
            raise SecureChannelError(f"{self._server} does not speak SASL: set hive.metastore.authentication.type=NONE")
        payload = self._read_exactly(length)
        if status in (_BAD, _ERROR):
            reason = payload[:1000].decode("utf-8", "replace") or "no reason given"
            raise AuthenticationError(f"{self._server} refuses {self._mechanism.name}: {reason}")
        return status, payload

    def _read_exactly(self, size: int) -> bytes:
        # Grows with the bytes received, not with the length announced.
        data = bytearray()
        while len(data) < size:
            more = self._channel.read(min(size - len(data), _CHUNK))
            if not more:
                raise SecureChannelError(
                    f"{self._server} closed the connection during {self._mechanism.name}; "
                    "check hive.metastore.authentication.type and the metastore's log"
                )
            data += more
        return bytes(data)
