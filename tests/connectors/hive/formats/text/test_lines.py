"""Lines of text files, whole and in ranges."""

from __future__ import annotations

import io
import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector_spi.errors import CorruptFileError
from connectors.hive.formats.text import lines
from connectors.hive.formats.text.lines import cut_lines, first_line_start, whole_lines, without_last
from tests.sampling import examples

_TEXTS = st.lists(st.sampled_from([b"a", b"b", b"\n", b"\r", b"\r\n", b"\xc3\xa9"]), max_size=40).map(b"".join)


def _model(data: bytes) -> list[bytes]:
    """Hadoop's rule: CR, LF and CRLF end a line; behind the last of them there is none."""
    lines = re.split(rb"\r\n|\r|\n", data)
    return lines if lines[-1] else lines[:-1]


def _lines(data: bytes) -> list[bytes]:
    return [line for array in cut_lines(io.BytesIO(data).read, "f") for line in array.to_pylist()]


@settings(max_examples=examples(150), deadline=None)
@given(_TEXTS, st.integers(1, 7))
def test_lines_are_hadoops_in_blocks_of_any_size(data: bytes, block: int) -> None:
    source = io.BytesIO(data)
    arrays = cut_lines(lambda _: source.read(block), "f")
    assert [line for array in arrays for line in array.to_pylist()] == _model(data)


@settings(max_examples=examples(150), deadline=None)
@given(_TEXTS, st.lists(st.integers(0, 60), max_size=5))
def test_ranges_that_cover_a_file_partition_its_lines(data: bytes, cuts: list[int]) -> None:
    bounds = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    found: list[bytes] = []
    for start, end in itertools.pairwise(bounds):
        first = first_line_start(lambda count, at: data[at : at + count], start, len(data))
        if first < end:
            source = io.BytesIO(data[first:])
            arrays = cut_lines(source.read, "f", length=end - first, mark=first == 0)
            found += [line for array in arrays for line in array.to_pylist()]
    assert found == _model(data)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(_TEXTS.filter(bool), max_size=12), st.lists(st.integers(0, 12), max_size=6))
def test_stretches_of_blocks_that_cover_a_file_partition_its_lines(blocks: list[bytes], cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(blocks)) for cut in cuts), len(blocks)]
    found: list[bytes] = []
    for start, end in itertools.pairwise(bounds):
        parts = ((block, at < end) for at, block in enumerate(blocks) if at >= start)
        # Only from the start of the file on is a stretch of no blocks the first one.
        first = start == 0 and not found
        found += _lines(b"".join(whole_lines(parts, first=first)))
    assert found == _model(b"".join(blocks))


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert _lines(b"\xef\xbb\xbfa\nb\xef\xbb\xbf\n") == [b"a", b"b\xef\xbb\xbf"]


@pytest.mark.parametrize("cut", range(1, 7))
@pytest.mark.parametrize("data", [b"\xef\xbb\xbf\n\na\n", b"\xef\xbb\xbfab\n", b"\xef\xbb\xbfa\r\nb"])
def test_ranges_may_end_in_a_byte_order_mark(data: bytes, cut: int) -> None:
    found: list[bytes] = []
    for start, end in ((0, cut), (cut, len(data))):
        first = first_line_start(lambda count, at: data[at : at + count], start, len(data))
        if first < end:
            arrays = cut_lines(io.BytesIO(data[first:]).read, "f", length=end - first, mark=first == 0)
            found += [line for array in arrays for line in array.to_pylist()]
    # Hadoop's TextInputFormat was asked: a mark alone on its line is an empty line.
    assert found == _model(data.removeprefix(b"\xef\xbb\xbf"))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_last_lines_can_be_left_out(count: int) -> None:
    data = b"a\nb\nc\nd\n"
    source = io.BytesIO(data)
    arrays = without_last(cut_lines(lambda _: source.read(3), "f"), count)
    assert [line for array in arrays for line in array.to_pylist()] == _model(data)[:-count]


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_MOST", 10)
    with pytest.raises(CorruptFileError, match="a line of more than"):
        list(cut_lines(lambda _: b"aaaa", "f"))
