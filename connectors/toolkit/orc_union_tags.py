"""Numbers of branches in ORC's unions, looked at before a stripe is decoded. Executor side.

ORC's C++ library, in pyarrow and in pyorc, counts the values of each branch by the numbers that the file holds, and
does not look whether there are so many branches (``UnionColumnReader::next``): with a damaged file it writes behind its
memory, which ends the process.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping

import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.toolkit.orc_footer import OrcFooter, decompress, message_fields

__all__ = ["asked_unions", "check_union_tags"]

_UNION = 13
_DATA = 1


def asked_unions(footer: OrcFooter, columns: Iterable[int]) -> dict[int, int]:
    """The unions in some of a file's columns: how many branches each has, by its number among the types.

    Args:
        footer: The file's.
        columns: Places of columns among those at the top.
    """
    if not any(one.kind == _UNION for one in footer.types):
        return {}
    numbers = [footer.types[0].children[column] for column in columns]
    for number in numbers:
        # A damaged footer may name a type that is not there, or one inside of itself.
        if number < len(footer.types) and len(numbers) <= len(footer.types):
            numbers += footer.types[number].children
    known = [number for number in numbers if number < len(footer.types)]
    return {number: len(footer.types[number].children) for number in known if footer.types[number].kind == _UNION}


def check_union_tags(file: pa.NativeFile, footer: OrcFooter, index: int, unions: Mapping[int, int], where: str) -> None:
    """Refuses a stripe with a union of a branch that its type does not have.

    Args:
        file: The open file.
        footer: Its footer.
        index: Which stripe.
        unions: Those that will be decoded (``asked_unions``).
        where: Names the file for messages.

    Raises:
        CorruptFileError: There is one, or the stripe's footer or the stream of numbers is damaged.
    """
    if not unions:
        return
    try:
        largest = _largest_tags(file, footer, index, unions)
    except (IndexError, ValueError, OverflowError, zlib.error, pa.ArrowException) as error:
        raise _corrupt(where, index, "that are damaged") from error
    for number, branches in unions.items():
        if largest.get(number, 0) >= max(branches, 1):
            raise _corrupt(where, index, f"of {branches} types, and one has the number {largest[number]}")


def _largest_tags(file: pa.NativeFile, footer: OrcFooter, index: int, unions: Mapping[int, int]) -> dict[int, int]:
    stripe = footer.stripes[index]
    start, end = stripe.offset, stripe.offset + stripe.length
    own = decompress(file.read_at(stripe.footer_length, end - stripe.footer_length), footer.codec, footer.block_size)
    largest: dict[int, int] = {}
    for tag, stream in message_fields(own):
        if tag != 1 or not isinstance(stream, bytes):
            continue
        told = {key: value for key, value in message_fields(stream) if isinstance(value, int)}
        kind, column, length = told.get(1, 0), told.get(2, 0), told.get(3, 0)
        if kind == _DATA and column in unions:
            if start + length > end:
                raise ValueError("a stream that ends behind its stripe")
            content = decompress(file.read_at(length, start), footer.codec, footer.block_size)
            largest[column] = max(largest.get(column, 0), _largest_byte(content))
        start += length
    return largest


def _largest_byte(content: bytes) -> int:
    """The largest of bytes that are run-length encoded; a step for each run, which has up to 130 values."""
    largest = position = 0
    while position < len(content):
        control = content[position]
        count = 1 if control < 128 else 256 - control
        largest = max(largest, max(content[position + 1 : position + 1 + count]))
        position += 1 + count
    return largest


def _corrupt(where: str, index: int, words: str) -> CorruptFileError:
    return CorruptFileError(
        f"{where} has in stripe {index} unions {words}; the file is damaged: restore it, or leave the column out"
    )
