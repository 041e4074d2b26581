"""What SerDes of Hive 4.0.1 itself read and wrote in columns of uniontype (``union_answers/UnionAnswers.java``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from catalog.metastore.types import parse_hive_type

__all__ = ["REFUSED", "UnionCase", "union_cases"]

REFUSED = "refused"
"""In the place of a row: what Hive cannot read, or reads by what lies around the record."""
# Damage that Hive does not see: a length that goes beyond the row, and texts without the number of a type, of which it
# shows the bytes from the beginning of the row.
_STRICTER = {rb"\x01\x00\x00\x00\x09\x00\x05", rb"k\x03x", rb"0\x03a\x020\x03b\x02c"}


@dataclass(frozen=True)
class UnionCase:
    """A SerDe with columns, and records of it.

    Attributes:
        serde: Java class.
        types: Hive types of the columns.
        properties: What the SerDe is told.
        rows: Records (of columnar SerDes the cell of the first column), with the rows that are expected, as Hive prints
            them, or ``REFUSED``.
        written: Hive wrote them.
    """

    serde: str
    types: tuple[str, ...]
    properties: dict[str, str]
    rows: tuple[tuple[bytes, str], ...]
    written: bool

    @property
    def schema(self) -> pa.Schema:
        """The columns ``c0``, ``c1`` and so on."""
        return pa.schema([(f"c{at}", parse_hive_type(text)) for at, text in enumerate(self.types)])


def union_cases() -> Iterator[UnionCase]:
    """All cases."""
    text = (Path(__file__).parent / "union_answers" / "answers.tsv").read_text()
    for block in text.removeprefix("case\t").split("\ncase\t"):
        first, *lines = [line.split("\t") for line in block.splitlines()]
        serde, types, told = first
        pairs = [pair.split("=", 1) for pair in told.split(";") if pair]
        properties = {key: _bytes(value).decode() for key, value in pairs}
        rows = tuple(_row(serde, line) for line in lines)
        yield UnionCase(serde, tuple(types.split(";")), properties, rows, lines[0][0] == "write")


def _row(serde: str, line: Sequence[str]) -> tuple[bytes, str]:
    if line[0] == "write" and "Json" not in serde:
        said, record, answer = line[2:]
        # Of a value that is NULL the binary SerDes write nothing, and read the bytes of what follows.
        assert answer == said or ":null}" in said, line
        return _bytes(record), said
    record, answer = line[-2:]
    refused = answer in ("ERROR", "VARIES") or record.encode() in _STRICTER
    return _bytes(record), REFUSED if refused else answer


def _bytes(text: str) -> bytes:
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
