"""Escapes of texts with separators, against a model that goes byte by byte."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.row_serde import RowDecoder, RowLayout
from connectors.hive.formats.row_serdes import find_row_serde

_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


def _decoder(fields: int) -> RowDecoder:
    schema = pa.schema([(f"c{at}", pa.string()) for at in range(fields)])
    layout = RowLayout(schema, tuple(range(fields)), {"field.delim": ",", "escape.delim": "\\"}, "UTC", "the file")
    return find_row_serde(_SERDE, "the file").decoder(layout)


def _fields(text: str, fields: int) -> list[str | None]:
    """Cut at commas that no escape is in front of; then escapes are taken out, and ``\\N`` alone is NULL."""
    parts, at = [""], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            parts[-1] += text[at : at + 2]
            at += 2
        else:
            if text[at] == ",":
                parts.append("")
            else:
                parts[-1] += text[at]
            at += 1
    found = [None if part == "\\N" else _plain(part) for part in parts]
    return [*found, *([None] * fields)][:fields]


def _plain(part: str) -> str:
    out, at = "", 0
    while at < len(part):
        if part[at] == "\\" and at + 1 < len(part):
            at += 1
            out += {"r": "\r", "n": "\n"}.get(part[at], part[at])
        else:
            out += part[at]
        at += 1
    return out


@pytest.mark.parametrize("seed", range(20))
def test_texts_with_escapes(seed: int) -> None:
    chance = random.Random(seed)
    decode = _decoder(3)
    for _ in range(20):
        texts = ["".join(chance.choices("ab,\\Nnr é\x01", k=chance.randrange(12))) for _ in range(9)]
        if seed % 2:
            texts = [text.replace("\\\\", "") for text in texts]
        columns = decode(pa.array([text.encode() for text in texts]))
        expected = [_fields(text, 3) for text in texts]
        assert [list(row) for row in zip(*(column.to_pylist() for column in columns), strict=True)] == expected, texts


def test_a_text_of_all_bytes_is_refused_by_name() -> None:
    with pytest.raises(NotSupportedError, match="too many different bytes"):
        _decoder(2)(pa.array([bytes(range(1, 256))]))
