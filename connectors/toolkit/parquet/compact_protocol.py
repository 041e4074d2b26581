"""Thrift's compact protocol, in which footers of Parquet are written. Executor side."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.toolkit.codecs.varints import read_varint, unzigzag

__all__ = ["LISTS", "STRUCT", "CompactReader"]

LISTS, STRUCT = (9, 10), 12
"""Types of fields: lists and sets, and structs."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _PAIRS = 1, 2, 3, 7, 8, 11
_MOST_NESTED = 32


class CompactReader:
    """Walks through a message of Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and type of each field of a struct; the value has to be read before the next is asked."""
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self.integer()
            yield number, header & 15

    def list_header(self) -> tuple[int, int]:
        """How many items a list has, and of which type."""
        header = self._byte()
        return (header >> 4 if header >> 4 < 15 else self.varint()), header & 15

    def varint(self) -> int:
        """A number without a sign."""
        number, self.at = read_varint(self._data, self.at)
        return number

    def integer(self) -> int:
        """A number."""
        return unzigzag(self.varint())

    def pass_over(self, length: int) -> None:
        """Goes some bytes on."""
        self.at += length
        if self.at > len(self._data):
            raise IndexError(self.at)

    def skip(self, kind: int, depth: int = 0) -> None:
        """Passes over a value."""
        if depth > _MOST_NESTED:
            raise ValueError("a footer that is nested too deeply")
        if kind in (_BYTE, _DOUBLE):
            self.pass_over(1 if kind == _BYTE else 8)
        elif kind == _BINARY:
            self.pass_over(self.varint())
        elif kind in LISTS:
            count, inner = self.list_header()
            for _ in range(count):
                self.skip(_BYTE if inner in (_TRUE, _FALSE) else inner, depth + 1)
        elif kind == STRUCT:
            for _, inner in self.fields():
                self.skip(inner, depth + 1)
        elif kind == _PAIRS:
            raise ValueError("a footer with a map, which Parquet's does not have")
        elif kind not in (_TRUE, _FALSE):
            self.varint()

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]
