"""Texts of Hive's ``uniontype``: the number of the branch, a separator, the value. Executor side."""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError
from connectors.hive.formats.lazy.hidden_escapes import HiddenEscapes
from connectors.hive.formats.lazy.regular_fields import split_fields

__all__ = ["cut_unions"]

_Tags: TypeAlias = npt.NDArray[np.int8]
# LazyByte.parseByte: without digits it is 0, and a fraction is left out.
_NUMBER = re.compile(rb"([+-]?[0-9]*)(?:\.[0-9]*)?")
_MISSING, _BAD = -1, -2


def cut_unions(
    texts: pa.Array, separator: bytes, branches: int, hidden: HiddenEscapes, where: str
) -> tuple[_Tags, pa.Array]:
    """Cuts unions into the numbers of their branches and the texts of their values (``LazyUnion.parse``).

    A text that begins with the separator has the number 0, as Hive takes it. One without a separator is refused: Hive
    fails or takes its value from other bytes of the row.

    Args:
        texts: Arrow ``binary``; NULL where the union is.
        separator: One byte.
        branches: How many types the union has.
        hidden: How the escapes of the texts were hidden.
        where: Names the file for messages.

    Returns:
        The numbers, with any number where a text is NULL, and the texts behind the first separator.

    Raises:
        CorruptFileError: A text does not begin with the number of a branch.
    """
    names, values = split_fields(texts, separator, 2, (0, 1), rest=True)
    encoded = names.dictionary_encode()
    known = np.array([*map(_number, encoded.dictionary.to_pylist()), 0], np.int16)
    tags = known[pc.fill_null(encoded.indices, len(known) - 1).to_numpy(zero_copy_only=False)]
    missing = tags == _MISSING
    if missing.any():
        tags[missing] = np.where(_follows_text(values.filter(pa.array(missing)), separator, hidden), 0, _BAD)
    cut = np.asarray(values.is_valid().to_numpy(zero_copy_only=False))
    wrong = ((tags < 0) | (tags >= branches) | ~cut) & texts.is_valid().to_numpy(zero_copy_only=False)
    if wrong.any():
        met = hidden.as_written(texts.slice(int(np.argmax(wrong)), 1))[0].as_py()
        raise CorruptFileError(
            f"{where} has a union {met[:50]!r}; expected the number of one of its {branches} types, the byte "
            f"{separator[0]} and a value; without them Hive cannot read it either: correct it, or leave the column out"
        )
    return tags.astype(np.int8), values


def _number(text: bytes) -> int:
    if not text:
        return _MISSING
    match = _NUMBER.fullmatch(text)
    if match is None or text in (b"+", b"-"):
        return _BAD
    digits = match.group(1).lstrip(b"+-").lstrip(b"0")
    if match.group(1).startswith(b"-") and digits:
        return _BAD
    return int(digits or b"0") if len(digits) < 4 else _BAD


def _follows_text(values: pa.Array, separator: bytes, hidden: HiddenEscapes) -> npt.NDArray[np.bool_]:
    """Which values hold a byte that is no separator; those with escapes are left out."""
    written = hidden.as_written(values)
    found = pc.less(pc.count_substring(written, separator), pc.binary_length(written))
    if hidden.mark:
        found = pc.and_(found, pc.invert(pc.match_substring(written, hidden.escape)))
    follows: npt.NDArray[np.bool_] = pc.fill_null(found, False).to_numpy(zero_copy_only=False)
    return follows
