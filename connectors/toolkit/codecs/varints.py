"""Integers of seven bits a byte, least first: of Protocol Buffers, Thrift's compact protocol, Avro and Snappy."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["message_fields", "read_varint", "unzigzag", "varint_bytes", "zigzag_bytes"]

_MOST_BITS = 70


def read_varint(data: bytes, at: int, most_bits: int = _MOST_BITS) -> tuple[int, int]:
    """A number without a sign, and the position behind it.

    Args:
        data: Holds the number.
        at: Its first byte.
        most_bits: A number of more bits is refused.

    Raises:
        ValueError: The data ends in it, or it is too long.
    """
    number, shift, start = 0, 0, at
    try:
        while shift < most_bits:
            byte = data[at]
            at += 1
            if byte < 0x80:
                return number | byte << shift, at
            number |= (byte & 0x7F) << shift
            shift += 7
    except IndexError:
        pass
    raise ValueError(f"a number at byte {start} of {len(data)} does not end")


def unzigzag(number: int) -> int:
    """The number with a sign that stands as ``number``: 0, -1, 1, -2 are 0, 1, 2, 3."""
    return (number >> 1) ^ -(number & 1)


def zigzag_bytes(number: int) -> bytes:
    """A number with a sign, not negative, as bytes."""
    return varint_bytes(number << 1)


def varint_bytes(number: int) -> bytes:
    """A number without a sign as bytes."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def message_fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and values of a message of Protocol Buffers.

    Raises:
        ValueError: It is no such message.
    """
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        kind = key & 7
        if kind == 0:
            number, at = read_varint(message, at)
            yield key >> 3, number
            continue
        length, at = (8, at) if kind == 1 else (4, at) if kind == 5 else read_varint(message, at)
        if kind not in (1, 2, 5) or at + length > len(message):
            raise ValueError("not a protobuf message")
        yield key >> 3, message[at : at + length]
        at += length
