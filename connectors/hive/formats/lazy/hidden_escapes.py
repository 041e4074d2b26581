"""Escapes in texts with separators: hidden while the texts are cut, so that cutting may be plain. Executor side.

An escape takes the meaning off the one byte behind it. So each pair of them is replaced by a mark and that byte; of a
separator behind a mark both become one byte that stands for it. Marks and stand-ins are bytes that the texts do not
have: UTF-8 alone leaves thirteen of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.toolkit.cells import value_bytes

__all__ = ["EscapeRules", "HiddenEscapes"]


class EscapeRules(Protocol):
    """What of the SerDe's parameters is needed here."""

    @property
    def separators(self) -> bytes:
        """One byte for each level."""

    @property
    def null(self) -> bytes:
        """The bytes that stand for NULL."""

    @property
    def escape(self) -> bytes | None:
        """The escape, if there is one."""


@dataclass(frozen=True, slots=True)
class HiddenEscapes:
    """How the escapes of some texts were hidden.

    Attributes:
        null: The bytes that stand for NULL, hidden likewise.
        escape: The escape.
        mark: What stands for it; empty where nothing was hidden.
        separators: Each separator that is escaped somewhere, with what stands for it and the escape.
    """

    null: bytes
    escape: bytes = b""
    mark: bytes = b""
    separators: tuple[tuple[bytes, bytes], ...] = ()

    @classmethod
    def of(cls, texts: pa.Array, rules: EscapeRules) -> tuple[HiddenEscapes, pa.Array]:
        """Hides the escapes of Arrow ``binary`` texts: how, and the texts."""
        held = b"" if rules.escape is None else value_bytes(texts)
        if rules.escape is None or rules.escape not in held:
            return cls(rules.null), texts
        free = _free_bytes(held + rules.separators + rules.null)
        mark = next(free)
        marked, followers = _marked(texts, rules.escape, mark)
        null, _ = _marked(pa.array([rules.null]), rules.escape, mark)
        stand_ins: list[tuple[bytes, bytes]] = []
        for separator in (bytes([one]) for one in dict.fromkeys(rules.separators) if one in followers):
            stand_in = next(free)
            marked = pc.replace_substring(marked, mark + separator, stand_in)
            null = pc.replace_substring(null, mark + separator, stand_in)
            stand_ins.append((separator, stand_in))
        return cls(null[0].as_py(), rules.escape, mark, tuple(stand_ins)), marked

    def as_written(self, texts: pa.Array) -> pa.Array:
        """The texts with their escapes."""
        if not self._is_in(texts):
            return texts
        for separator, stand_in in self.separators:
            texts = pc.replace_substring(texts, stand_in, self.escape + separator)
        return pc.replace_substring(texts, self.mark, self.escape)

    def without_escapes(self, texts: pa.Array) -> pa.Array:
        """The texts that were meant: an escaped ``r`` or ``n`` is a carriage return or line feed."""
        if not self._is_in(texts):
            return texts
        for letter, meant in ((b"r", b"\r"), (b"n", b"\n"), (b"", b"")):
            texts = pc.replace_substring(texts, self.mark + letter, meant)
        for separator, stand_in in self.separators:
            texts = pc.replace_substring(texts, stand_in, separator)
        return texts

    def _is_in(self, texts: pa.Array) -> bool:
        if not self.mark:
            return False
        held = value_bytes(texts)
        return self.mark in held or any(stand_in in held for _, stand_in in self.separators)


def _free_bytes(held: bytes) -> Iterator[bytes]:
    """Bytes that are not among those given; those first that no UTF-8 has."""
    for value in range(255, 0, -1):
        if (free := bytes([value])) not in held:
            yield free
    raise NotSupportedError("a text has too many different bytes for its escapes to be read; leave them out")


def _marked(texts: pa.Array, escape: bytes, mark: bytes) -> tuple[pa.Array, set[int]]:
    """Puts the mark where each escape with a byte behind it is, and says which bytes those are."""
    validity, offsets_buffer, data_buffer = texts.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8)[: offsets[-1]].copy()
    positions = np.flatnonzero(data[offsets[0] :] == escape[0]) + offsets[0]
    rows = np.searchsorted(offsets, positions, side="right") - 1
    numbers = np.arange(len(positions))
    # Of several escapes in a row every other one is behind an escape.
    begins = np.append(True, (np.diff(positions) > 1) | (np.diff(rows) > 0))[: len(positions)]
    is_first = (numbers - np.maximum.accumulate(np.where(begins, numbers, 0))) % 2 == 0
    marks = positions[is_first & (positions + 1 < offsets[rows + 1])]
    data[marks] = mark[0]
    buffers = [validity, offsets_buffer, pa.py_buffer(data)]
    made = pa.Array.from_buffers(texts.type, len(texts), buffers, offset=texts.offset)
    return made, set(np.unique(data[marks + 1]).tolist())
