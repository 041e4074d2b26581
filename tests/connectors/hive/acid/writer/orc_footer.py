"""Adds to the footer of a finished ORC file what the libraries that wrote it cannot say."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["with_footer"]

_JAVA_WRITER = b"\x48\x00"
"""Field 9 of the footer: written by the Java library, as all files of Hive are."""
_NO_COMPRESSION = 0


def with_footer(content: bytes, metadata: Mapping[str, bytes]) -> bytes:
    """The file with user metadata, and as one of the Java library.

    Fields of a protobuf message may follow in any order, and the last value of a field counts; so they are put behind
    the footer, in a chunk of their own that is not compressed where the file is.

    Args:
        content: Of the file.
        metadata: By key.
    """
    postscript = content[-1 - content[-1] : -1]
    assert postscript[0] == 0x08, "the postscript begins with the length of the footer"
    length, end = _varint(postscript, 1)
    assert postscript[end] == 0x10, "then comes the kind of compression"
    added = _JAVA_WRITER + b"".join(_item(key, value) for key, value in metadata.items())
    if postscript[end + 1] != _NO_COMPRESSION:
        added = (len(added) << 1 | 1).to_bytes(3, "little") + added
    told = b"\x08" + _to_varint(length + len(added)) + postscript[end:]
    return content[: -1 - len(postscript)] + added + told + bytes([len(told)])


def _item(key: str, value: bytes) -> bytes:
    """Field 5 of the footer, with a name and a value."""
    inner = b"".join(tag + _to_varint(len(text)) + text for tag, text in ((b"\x0a", key.encode()), (b"\x12", value)))
    return b"\x2a" + _to_varint(len(inner)) + inner


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """A number, and the place after it."""
    value = shift = 0
    for place in range(start, len(data)):
        value |= (data[place] & 0x7F) << shift
        shift += 7
        if data[place] < 0x80:
            return value, place + 1
    raise AssertionError("a number does not end")


def _to_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
