"""XXH64, the hash of Parquet's Bloom filters and of the keys of Hudi's metadata table (the xxHash specification)."""

from __future__ import annotations

import struct

__all__ = ["xxh64"]

_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_ALL = (1 << 64) - 1


def xxh64(content: bytes, seed: int = 0) -> int:
    """The hash of some bytes.

    Args:
        content: The bytes.
        seed: 64 bits.
    """
    size, at = len(content), 0
    if size >= 32:
        lanes = [(seed + _P1 + _P2) & _ALL, (seed + _P2) & _ALL, seed, (seed - _P1) & _ALL]
        while at + 32 <= size:
            words = struct.unpack_from("<4Q", content, at)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
            at += 32
        result = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _ALL
        for lane in lanes:
            result = ((result ^ _round(0, lane)) * _P1 + _P4) & _ALL
    else:
        result = (seed + _P5) & _ALL
    result = _rest((result + size) & _ALL, content, at)
    for shift, factor in ((33, _P2), (29, _P3)):
        result = ((result ^ (result >> shift)) * factor) & _ALL
    return result ^ (result >> 32)


def _rest(result: int, content: bytes, at: int) -> int:
    while at + 8 <= len(content):
        result ^= _round(0, int.from_bytes(content[at : at + 8], "little"))
        result = (_rotate(result, 27) * _P1 + _P4) & _ALL
        at += 8
    if at + 4 <= len(content):
        result ^= (int.from_bytes(content[at : at + 4], "little") * _P1) & _ALL
        result = (_rotate(result, 23) * _P2 + _P3) & _ALL
        at += 4
    for byte in content[at:]:
        result = (_rotate(result ^ ((byte * _P5) & _ALL), 11) * _P1) & _ALL
    return result


def _round(lane: int, word: int) -> int:
    return (_rotate((lane + word * _P2) & _ALL, 31) * _P1) & _ALL


def _rotate(number: int, by: int) -> int:
    return ((number << by) | (number >> (64 - by))) & _ALL
