"""Numbers and messages of Protocol Buffers, by the examples of its documentation ("Encoding")."""

from __future__ import annotations

import pytest

from connectors.toolkit.codecs.varints import message_fields, read_varint, unzigzag, zigzag_bytes


@pytest.mark.parametrize(
    ("encoded", "number"),
    [("01", 1), ("9601", 150), ("ffffffffffffffffff01", (1 << 64) - 1)],
)
def test_numbers(encoded: str, number: int) -> None:
    data = b"x" + bytes.fromhex(encoded) + b"\x07"
    assert read_varint(data, 1) == (number, len(data) - 1)


@pytest.mark.parametrize("encoded", ["", "96", "ff" * 10 + "01"])
def test_numbers_that_do_not_end(encoded: str) -> None:
    with pytest.raises(ValueError, match="does not end"):
        read_varint(bytes.fromhex(encoded), 0)


def test_a_number_of_more_bits_than_it_may_have() -> None:
    assert read_varint(b"\xff\xff\xff\xff\x0f", 0, 35) == ((1 << 32) - 1, 5)
    with pytest.raises(ValueError, match="does not end"):
        read_varint(b"\xff\xff\xff\xff\xff\x01", 0, 35)


@pytest.mark.parametrize(("stored", "number"), [(0, 0), (1, -1), (2, 1), (3, -2), (0xFFFFFFFE, 0x7FFFFFFF)])
def test_signs(stored: int, number: int) -> None:
    assert unzigzag(stored) == number
    if number >= 0:
        assert read_varint(zigzag_bytes(number), 0)[0] == stored


def test_messages() -> None:
    # Test1 {a: 150}, Test4 {e: [3, 270, 86942]}, and numbers of fixed size.
    assert dict(message_fields(bytes.fromhex("089601"))) == {1: 150}
    assert dict(message_fields(bytes.fromhex("3206038e029ea705"))) == {6: bytes.fromhex("038e029ea705")}
    assert dict(message_fields(b"\x0d1234\x1112345678")) == {1: b"1234", 2: b"12345678"}


@pytest.mark.parametrize("message", [b"\x0a\x05four", b"\x0b", b"\x0d123", b"\x08"])
def test_damaged_messages(message: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a protobuf message|does not end"):
        list(message_fields(message))
