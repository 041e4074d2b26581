"""Damage to files: bits flipped, pieces gone or doubled, lengths inflated. The same number gives the same damage."""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["mutate"]

_LENGTHS = (
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    # Variable-length numbers: of ProtocolBuffers, Thrift and Avro, and of Hadoop.
    b"\xfe\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x8c\x7f\xff\xff\xff",
    b"\x00\x00\x00\x00",
    b"\x80\x00\x00\x00",
)
_EDGE = 96


def mutate(content: bytes, seed: str) -> bytes:
    """Damages a file.

    Args:
        content: The sound file.
        seed: Chooses the damage.

    Returns:
        A file that differs.
    """
    choice = random.Random(seed)
    kinds: tuple[Callable[[bytes, random.Random], bytes], ...] = (
        _flip_bits,
        _flip_bits_at_an_edge,
        _truncate,
        _inflate,
        _inflate_at_an_edge,
        _cut_out,
        _double,
        _overwrite,
    )
    for _ in range(8):
        damaged = choice.choice(kinds)(content, choice)
        if damaged != content:
            return damaged
    return content + b"\xff"


def _flip_bits(content: bytes, choice: random.Random) -> bytes:
    return _flip(content, choice, 0, len(content))


def _flip_bits_at_an_edge(content: bytes, choice: random.Random) -> bytes:
    start, end = _edge(content, choice)
    return _flip(content, choice, start, end)


def _flip(content: bytes, choice: random.Random, start: int, end: int) -> bytes:
    damaged = bytearray(content)
    for _ in range(choice.choice((1, 1, 2, 8))):
        if start < end:
            damaged[choice.randrange(start, end)] ^= 1 << choice.randrange(8)
    return bytes(damaged)


def _truncate(content: bytes, choice: random.Random) -> bytes:
    return content[: choice.randrange(len(content))] if content else content


def _inflate(content: bytes, choice: random.Random) -> bytes:
    return _place(content, choice.randrange(len(content) + 1), choice.choice(_LENGTHS))


def _inflate_at_an_edge(content: bytes, choice: random.Random) -> bytes:
    start, end = _edge(content, choice)
    return _place(content, choice.randrange(start, end + 1), choice.choice(_LENGTHS))


def _cut_out(content: bytes, choice: random.Random) -> bytes:
    at = choice.randrange(len(content) + 1)
    return content[:at] + content[at + choice.choice((1, 2, 4, 64, 1024)) :]


def _double(content: bytes, choice: random.Random) -> bytes:
    at = choice.randrange(len(content) + 1)
    piece = content[at : at + choice.choice((1, 4, 64, 1024))]
    return content[:at] + piece + content[at:]


def _overwrite(content: bytes, choice: random.Random) -> bytes:
    return _place(content, choice.randrange(len(content) + 1), choice.randbytes(choice.choice((1, 4, 16, 64))))


def _place(content: bytes, at: int, piece: bytes) -> bytes:
    return content[:at] + piece + content[at + len(piece) :]


def _edge(content: bytes, choice: random.Random) -> tuple[int, int]:
    # Footers and headers hold the lengths of the rest.
    size = min(_EDGE, len(content))
    return (0, size) if choice.random() < 0.4 else (len(content) - size, len(content))
