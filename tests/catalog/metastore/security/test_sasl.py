"""The frames of Thrift's SASL, against a server's side written here from its facts."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.metastore.security.errors import AuthenticationError, SecureChannelError
from catalog.metastore.security.plain import PlainMechanism
from catalog.metastore.security.sasl import SaslChannel, SaslMechanism
from tests.sampling import examples

OK, BAD, ERROR, COMPLETE = 2, 3, 4, 5


class Line:
    """A connection whose other side has said all already, a few bytes at a time."""

    def __init__(self, said: bytes, pieces: list[int] | None = None) -> None:
        self.sent = b""
        self._said = said
        self._pieces = pieces or []

    def read(self, size: int) -> bytes:
        take = min(size, self._pieces.pop(0) if self._pieces else size)
        found, self._said = self._said[:take], self._said[take:]
        return found

    def write(self, data: bytes) -> None:
        self.sent += data


class Reversing(SaslMechanism):
    """Wraps by turning around; at most ``longest`` bytes."""

    name = "REVERSING"

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def start(self) -> bytes:
        return b""

    def respond(self, challenge: bytes) -> bytes:
        return b""

    @property
    def complete(self) -> bool:
        return True

    @property
    def longest(self) -> int | None:
        return self._longest

    def wrap(self, data: bytes) -> bytes:
        assert len(data) <= self._longest
        return data[::-1] + b"!"

    def unwrap(self, data: bytes) -> bytes:
        assert data[-1:] == b"!"
        return data[-2::-1]


def message(status: int, payload: bytes) -> bytes:
    return struct.pack(">BI", status, len(payload)) + payload


def frame(payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + payload


def read_all(channel: SaslChannel, size: int) -> bytes:
    found = b""
    while more := channel.read(size):
        assert len(more) <= size
        found += more
    return found


def test_plain() -> None:
    line = Line(message(COMPLETE, b""))
    SaslChannel(line, PlainMechanism("b\u00f6b", "s\u00e9cret"), "it").negotiate()
    assert line.sent == message(1, b"PLAIN") + message(OK, "\0b\u00f6b\0s\u00e9cret".encode())


@pytest.mark.parametrize("status", [BAD, ERROR])
def test_refused(status: int) -> None:
    channel = SaslChannel(Line(message(status, b"no such user")), PlainMechanism("u", "planted"), "it")
    with pytest.raises(AuthenticationError, match="no such user") as caught:
        channel.negotiate()
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\x05\0\0",
        message(9, b""),
        b"\x80\x01\x00\x02\0\0\0\0",
        struct.pack(">BI", COMPLETE, 1 << 30),
        message(OK, b""),
        message(OK, b"") * 100,
    ],
)
def test_what_is_no_sasl(said: bytes) -> None:
    with pytest.raises((SecureChannelError, AuthenticationError)):
        SaslChannel(Line(said), PlainMechanism("u", "p"), "it").negotiate()


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.binary(max_size=50)), st.lists(st.integers(1, 30), max_size=40), st.integers(1, 20))
def test_frames_of_any_size_in_any_pieces(texts: list[bytes], pieces: list[int], size: int) -> None:
    bare = SaslChannel(Line(b"".join(map(frame, texts)), list(pieces)), PlainMechanism("u", "p"), "it")
    assert read_all(bare, size) == b"".join(texts)
    wrapped = b"".join(frame(text[::-1] + b"!") for text in texts)
    assert read_all(SaslChannel(Line(wrapped, list(pieces)), Reversing(5), "it"), size) == b"".join(texts)


@settings(max_examples=examples(50), deadline=None)
@given(st.binary(max_size=200), st.integers(1, 30))
def test_what_is_written_fits_the_other_sides_limit(data: bytes, longest: int) -> None:
    line = Line(b"")
    SaslChannel(line, Reversing(longest), "it").write(data)
    assert read_all(SaslChannel(Line(line.sent), Reversing(longest), "it"), 7) == data


@pytest.mark.parametrize("said", [b"\0\0", frame(b"abc")[:-1], b"\xff\xff\xff\xff", struct.pack(">I", (1 << 30) - 1)])
def test_frames_that_are_cut_or_too_long(said: bytes) -> None:
    for mechanism in (PlainMechanism("u", "p"), Reversing(5)):
        with pytest.raises(SecureChannelError):
            read_all(SaslChannel(Line(said), mechanism, "it"), 1000)
