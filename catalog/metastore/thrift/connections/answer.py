"""The bytes of one answer at a time, and no more of them than allowed."""

from __future__ import annotations

from io import BytesIO
from typing import Protocol

from thrift.transport.TTransport import CReadableTransport, TTransportBase, TTransportException

__all__ = ["AnswerTransport", "ByteTransport"]

_CHUNK = 1 << 16
_MOST_AT_ONCE = 1 << 20


class ByteTransport(Protocol):
    """What Thrift's transports have in common."""

    def isOpen(self) -> bool:  # noqa: N802  # Thrift's name
        """Whether the other side has not hung up."""

    def close(self) -> None:
        """Ends the connection."""

    def read(self, sz: int) -> bytes:
        """At least one byte, at most ``sz``."""

    def write(self, buf: bytes) -> None:
        """Takes bytes to send."""

    def flush(self) -> None:
        """Sends them."""


class AnswerTransport(TTransportBase, CReadableTransport):  # type: ignore[misc]  # thrift has no types
    """Reads answers for Thrift's decoder, the one in C included, within a limit of bytes.

    Lengths that a message claims are believed only as far as bytes arrive, so a wrong one costs no memory.

    Args:
        inner: Where bytes come from.
        limit: Most bytes of one answer.

    Attributes:
        received: Bytes of this answer so far.
    """

    def __init__(self, inner: ByteTransport, limit: int) -> None:
        self.received = 0
        self._inner = inner
        self._limit = limit
        self._buffer = BytesIO(b"")

    def begin(self) -> None:
        """Starts counting anew; what is left of the last answer is forgotten."""
        self.received = 0
        self._buffer = BytesIO(b"")

    def isOpen(self) -> bool:  # noqa: N802  # Thrift's name
        """Whether the other side has not hung up."""
        return self._inner.isOpen()

    def open(self) -> None:
        """Nothing: it is."""

    def close(self) -> None:
        """Ends the connection."""
        self._inner.close()

    def read(self, sz: int) -> bytes:
        """At least one byte, at most ``sz``."""
        found = self._buffer.read(sz)
        if found or not sz:
            return found
        self._buffer = BytesIO(self._more(sz))
        return self._buffer.read(sz)

    def write(self, buf: bytes) -> None:
        """Takes bytes to send."""
        self._inner.write(buf)

    def flush(self) -> None:
        """Sends them."""
        self._inner.flush()

    @property
    def cstringio_buf(self) -> BytesIO:
        """What the decoder in C reads from."""
        return self._buffer

    def cstringio_refill(self, partialread: bytes, reqlen: int) -> BytesIO:
        """Gives the decoder in C a buffer of at least ``reqlen`` bytes that begins with ``partialread``."""
        pieces, have = [partialread], len(partialread)
        while have < reqlen:
            pieces.append(self._more(reqlen - have))
            have += len(pieces[-1])
        self._buffer = BytesIO(b"".join(pieces))
        return self._buffer

    def _more(self, wanted: int) -> bytes:
        if self.received + wanted > self._limit:
            raise TTransportException(
                TTransportException.SIZE_LIMIT,
                f"its answer has more than {self._limit} bytes (hive.metastore.thrift.client.max-message-size)",
            )
        found = self._inner.read(min(max(wanted, _CHUNK), _MOST_AT_ONCE))
        self.received += len(found)
        return found
