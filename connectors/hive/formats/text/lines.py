"""Lines of text files, as Hadoop's ``LineRecordReader`` tells them. Executor side.

A line ends with LF, CR or CRLF, or with the file. Bytes of a byte order mark at the front of a file are no part of
its first line.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import numpy as np
import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.toolkit.cells import gather_cells

__all__ = ["cut_lines", "first_line_start", "whole_lines", "without_last"]

BLOCK = 8 << 20
_STEP = 1 << 18
_MOST = 256 << 20
_MARK = b"\xef\xbb\xbf"
_CR, _LF = 13, 10

Read = Callable[[int], bytes]
"""Gives the next bytes, at most so many; none at the end."""


def cut_lines(
    read: Read, where: str, *, length: int | None = None, mark: bool = True
) -> Generator[pa.Array, None, None]:
    """Reads lines in blocks.

    Args:
        read: Gives the bytes from the beginning of a line on.
        where: Names the file for messages.
        length: Lines that begin before so many bytes are given; ``None`` for all.
        mark: A byte order mark may be at the front.

    Returns:
        Arrays of Arrow ``binary``, none of them NULL.

    Raises:
        CorruptFileError: A line has more than 256 MB.
    """
    held = b""
    # Where in the file, from the first line on, the bytes held begin.
    given = 0
    while length is None or given < length:
        block = read(BLOCK)
        data = held + block if held else block
        if mark and not given and len(data) >= len(_MARK):
            data, given, mark = _without_mark(data)
            if given and length:
                # The first line begins before the mark, however short the range is.
                length = max(length, given + 1)
        if not block:
            if data:
                yield from _up_to(_records(data, last=True)[0], data, given, length)
            return
        records, used = _records(data, last=False)
        if len(records):
            yield from _up_to(records, data, given, length)
        held = data[used:]
        given += used
        if len(held) > _MOST:
            raise CorruptFileError(f"{where} has a line of more than {_MOST >> 20} MB; expected lines of text")


def first_line_start(read_at: Callable[[int, int], bytes], start: int, size: int) -> int:
    """The first byte of the first line that begins at ``start`` or behind it; ``size`` where there is none.

    Args:
        read_at: Gives bytes of a file: how many, and from where on.
        start: A byte of the file.
        size: Bytes of the file.
    """
    if start == 0:
        return 0
    at = start - 1
    while at < size:
        data = np.frombuffer(read_at(min(_STEP, size - at), at), np.uint8)
        found = np.flatnonzero((data == _LF) | (data == _CR))
        if not len(found):
            at += len(data)
            if not len(data):
                return size
            continue
        end = at + int(found[0])
        follows = read_at(1, end + 1) if end + 1 < size else b""
        return end + 2 if data[found[0]] == _CR and follows == b"\n" else end + 1
    return size


def whole_lines(parts: Iterator[tuple[bytes, bool]], *, first: bool) -> Generator[bytes, None, None]:
    """The bytes of the lines that belong to a stretch of a file, whose offset in the file is not known.

    Lines belong to it that begin behind its first byte, up to the one that begins right behind its last byte; to the
    first stretch also the first line of all. So stretches that cover a file partition its lines, and none has to know
    what is before it (``LineRecordReader``).

    Args:
        parts: Bytes from the first of the stretch on, each with whether they are in the stretch. Those behind it are
            taken as far as the last line needs.
        first: The stretch is the file's first.
    """
    for part, inside in parts if first else _behind_first_end(parts):
        end = -1 if inside else _line_end(part)
        if end >= 0:
            yield part[: end + 1]
            return
        yield part


def without_last(arrays: Generator[pa.Array, None, None], count: int) -> Generator[pa.Array, None, None]:
    """All lines but the last ``count``."""
    held = pa.array([], pa.binary())
    for array in arrays:
        held = pa.concat_arrays([held, array])
        if len(held) > count:
            yield held.slice(0, len(held) - count)
            held = held.slice(len(held) - count)


def _behind_first_end(parts: Iterator[tuple[bytes, bool]]) -> Iterator[tuple[bytes, bool]]:
    """What follows the first end of a line in a stretch; nothing where the next line begins farther behind it."""
    found = after_return = False
    for part, inside in parts:
        if found:
            yield part, inside
            continue
        if after_return:
            # The end was a CR at the end of the part before: an LF here belongs to it.
            if part.startswith(b"\n") and not inside:
                return
            found = True
            yield part.removeprefix(b"\n"), inside
            continue
        if not inside:
            return
        end = _line_end(part)
        if end >= 0:
            after_return = part[end] == _CR and end + 1 == len(part)
            found = not after_return
            behind = part[end + 1 :]
            yield behind.removeprefix(b"\n") if part[end] == _CR else behind, True


def _line_end(data: bytes) -> int:
    """The first CR or LF; -1 where there is none."""
    feed = data.find(b"\n")
    carriage = data.find(b"\r", 0, len(data) if feed < 0 else feed)
    return feed if carriage < 0 else carriage


def _without_mark(data: bytes) -> tuple[bytes, int, bool]:
    return (data[len(_MARK) :], len(_MARK), False) if data.startswith(_MARK) else (data, 0, False)


def _records(data: bytes, *, last: bool) -> tuple[pa.Array, int]:
    """The lines of some bytes, and how many bytes they take; those of an unfinished line only at the end of a file."""
    buffer = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(buffer == _LF)
    returns = np.flatnonzero(buffer == _CR) if b"\r" in data else ends[:0]
    if len(returns):
        # Of CRLF the line feed is the end; what follows a CR at the very end is not known yet.
        follows = np.append(buffer, _CR if last else _LF)[returns + 1]
        ends = np.union1d(ends, returns[follows != _LF])
    if last and (not len(ends) or ends[-1] != len(buffer) - 1):
        ends = np.append(ends, len(buffer))
    if not len(ends):
        return pa.array([], pa.binary()), 0
    starts = np.concatenate(([0], ends[:-1] + 1))
    contents = ends
    if len(returns):
        before = buffer[np.maximum(ends - 1, 0)]
        feeds = np.append(buffer, 0)[ends] == _LF
        contents = ends - ((ends > starts) & feeds & (before == _CR))
    return gather_cells(buffer, starts, contents), min(int(ends[-1]) + 1, len(buffer))


def _up_to(records: pa.Array, data: bytes, given: int, length: int | None) -> Generator[pa.Array, None, None]:
    """The lines that begin within the range."""
    if length is None or given + len(data) <= length:
        yield records
        return
    buffer = np.frombuffer(data, np.uint8)
    is_end = (buffer == _LF) | ((buffer == _CR) & ~np.append(buffer[1:] == _LF, False))
    starts = np.concatenate(([0], np.flatnonzero(is_end) + 1))[: len(records)]
    yield records.slice(0, int(np.searchsorted(starts + given, length)))
