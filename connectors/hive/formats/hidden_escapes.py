"""Escapes in texts with separators: hidden while the texts are cut, so that cutting may be plain. Executor side.

An escape takes the meaning off the one byte behind it. So each pair of them is replaced by a mark and that byte; of a
separator behind a mark both become one byte that stands for it. Marks and stand-ins are bytes that the texts do not
have: UTF-8 alone leaves thirteen of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError

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
        if rules.escape is None or not _any(pc.match_substring(texts, rules.escape)):
            return cls(rules.null), texts
        free = _free_bytes(texts, rules)
        mark = free.pop()
        pair = b"(?s)" + re.escape(rules.escape) + b"(.)"
        marked = pc.replace_substring_regex(texts, pair, mark + rb"\1")
        null = pc.replace_substring_regex(pa.array([rules.null]), pair, mark + rb"\1")
        stand_ins: list[tuple[bytes, bytes]] = []
        for at in range(len(rules.separators)):
            separator = rules.separators[at : at + 1]
            if not _any(pc.match_substring(marked, mark + separator)):
                continue
            if not free:
                raise NotSupportedError("a text has too many different bytes for its escaped separators to be read")
            stand_in = free.pop()
            marked = pc.replace_substring(marked, mark + separator, stand_in)
            null = pc.replace_substring(null, mark + separator, stand_in)
            stand_ins.append((separator, stand_in))
        return cls(null[0].as_py(), rules.escape, mark, tuple(stand_ins)), marked

    def as_written(self, texts: pa.Array) -> pa.Array:
        """The texts with their escapes."""
        if not self.mark:
            return texts
        for separator, stand_in in self.separators:
            texts = pc.replace_substring(texts, stand_in, self.escape + separator)
        return pc.replace_substring(texts, self.mark, self.escape)

    def without_escapes(self, texts: pa.Array) -> pa.Array:
        """The texts that were meant: an escaped ``r`` or ``n`` is a carriage return or line feed."""
        if not self.mark:
            return texts
        for letter, meant in ((b"r", b"\r"), (b"n", b"\n"), (b"", b"")):
            texts = pc.replace_substring(texts, self.mark + letter, meant)
        for separator, stand_in in self.separators:
            texts = pc.replace_substring(texts, stand_in, separator)
        return texts


def _free_bytes(texts: pa.Array, rules: EscapeRules) -> list[bytes]:
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    seen = np.bincount(data, minlength=256) > 0
    seen[np.frombuffer(rules.separators + rules.null + (rules.escape or b""), np.uint8)] = True
    free = [bytes([value]) for value in range(1, 256) if not seen[value]]
    if not free:
        raise NotSupportedError("a text has all of the 256 bytes, so that its escapes cannot be read; leave them out")
    return free


def _any(mask: pa.Array) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())
