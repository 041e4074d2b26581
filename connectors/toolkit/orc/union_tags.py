"""Which unions of an ORC stripe are NULL, and of which branch others are, by the stripe's own streams. Executor side.

A union of ORC has a stream of bits, whether it is there, unless all are, and a stream of the numbers of branches for
those that are (ORC v1 specification, "Union Columns"); both have an entry for each union whose parent is there.

Neither pyarrow nor pyorc tells NULL from a branch that is NULL. And ORC's C++ library, which is in both, counts the
values of each branch by the numbers that the file holds, and does not look whether there are so many branches
(``UnionColumnReader::next``): with a damaged file it writes behind its memory, which ends the process.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.toolkit.codecs.varints import message_fields
from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.orc.wire import decompress

__all__ = ["UnionSlots", "asked_unions", "read_union_slots"]

_Bits: TypeAlias = npt.NDArray[np.bool_]
_UNION = 13
_PRESENT, _DATA = 0, 1


@dataclass(frozen=True, slots=True)
class UnionSlots:
    """The unions of one type in a stripe, in the order of rows.

    Attributes:
        present: Whether each is there, with up to seven bits behind the last one; ``None`` where all are.
        tags: The numbers of the branches of those that are there.
        where: Names the stripe for messages.
    """

    present: _Bits | None
    tags: npt.NDArray[np.uint8]
    where: str

    def nulls(self, exists: _Bits) -> _Bits:
        """Which entries hold no union.

        Args:
            exists: Which entries have a parent that is there.

        Raises:
            CorruptFileError: There are fewer bits than entries.
        """
        if self.present is None:
            return ~exists
        count = int(np.count_nonzero(exists))
        if len(self.present) < count:
            raise self.corrupt()
        nulls = np.ones(len(exists), bool)
        nulls[exists] = ~self.present[:count]
        return nulls

    def corrupt(self) -> CorruptFileError:
        """The error where there are fewer unions than the rows want."""
        return _corrupt(self.where, "that are damaged")


def asked_unions(footer: OrcFooter, columns: Iterable[int]) -> dict[int, int]:
    """The unions in some of a file's columns: how many branches each has, by its number among the types.

    Args:
        footer: The file's.
        columns: Positions of columns among those at the top.
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


def read_union_slots(
    file: pa.NativeFile, footer: OrcFooter, index: int, unions: Mapping[int, int], where: str
) -> Mapping[int, UnionSlots]:
    """Reads which unions of a stripe are there, and of which branch, by the unions' numbers among the types.

    Args:
        file: The open file.
        footer: Its footer.
        index: Which stripe.
        unions: Those that will be decoded (``asked_unions``).
        where: Names the file for messages.

    Raises:
        CorruptFileError: A union is of a branch that its type does not have, or the stripe's footer or a stream is
            damaged.
    """
    if not unions:
        return {}
    where = f"{where} has in stripe {index} unions"
    present: dict[int, _Bits] = {}
    tags: dict[int, npt.NDArray[np.uint8]] = {}
    nothing = np.zeros(0, np.uint8)
    try:
        for kind, column, content in _streams(file, footer, index, unions):
            if kind == _PRESENT:
                present[column] = np.unpackbits(_run_lengths(content)).astype(bool)
            else:
                tags[column] = np.concatenate([tags.get(column, nothing), _run_lengths(content)])
    except (IndexError, ValueError, OverflowError, zlib.error, pa.ArrowException) as error:
        raise _corrupt(where, "that are damaged") from error
    for number, branches in unions.items():
        largest = int(tags.get(number, nothing).max(initial=0))
        if largest >= max(branches, 1):
            raise _corrupt(where, f"of {branches} types, and one has the number {largest}")
    return {number: UnionSlots(present.get(number), tags.get(number, nothing), where) for number in unions}


def _streams(
    file: pa.NativeFile, footer: OrcFooter, index: int, unions: Mapping[int, int]
) -> Iterator[tuple[int, int, bytes]]:
    """The streams of unions: the kind, the number of the type, and the bytes, decompressed."""
    stripe = footer.stripes[index]
    start, end = stripe.offset, stripe.offset + stripe.length
    own = decompress(file.read_at(stripe.footer_length, end - stripe.footer_length), footer.codec, footer.block_size)
    for tag, stream in message_fields(own):
        if tag != 1 or not isinstance(stream, bytes):
            continue
        fields = {key: value for key, value in message_fields(stream) if isinstance(value, int)}
        kind, column, length = fields.get(1, 0), fields.get(2, 0), fields.get(3, 0)
        if kind in (_PRESENT, _DATA) and column in unions:
            if start + length > end:
                raise ValueError("a stream that ends behind its stripe")
            yield kind, column, decompress(file.read_at(length, start), footer.codec, footer.block_size)
        start += length


def _run_lengths(content: bytes) -> npt.NDArray[np.uint8]:
    """Bytes that are run-length encoded; a step for each run, which has up to 130 values."""
    parts: list[bytes] = []
    position = 0
    while position < len(content):
        control = content[position]
        count = 1 if control < 128 else 256 - control
        value = content[position + 1 : position + 1 + count]
        if not value:
            raise ValueError("a run without a value")
        parts.append(value * (control + 3) if control < 128 else value)
        position += 1 + count
    return np.frombuffer(b"".join(parts), np.uint8)


def _corrupt(where: str, words: str) -> CorruptFileError:
    return CorruptFileError(f"{where} {words}; the file is damaged: restore it, or leave the column out")
