"""Texts cut at a separator, against Python's own cutting of each."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connectors.hive.formats.lazy.regular_fields import cut_regular, split_fields

_CELL = st.text("ab é", max_size=3)
_TABLES = st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(_CELL, min_size=width, max_size=width), max_size=6))
_RAGGED = st.lists(st.lists(_CELL, min_size=1, max_size=5), max_size=6)


@given(st.one_of(_TABLES, _RAGGED), st.integers(1, 5), st.sets(st.integers(0, 4), min_size=1), st.integers(0, 1))
def test_fields(rows: list[list[str]], count: int, asked: set[int], skipped: int) -> None:
    wanted = sorted(asked & set(range(count))) or [0]
    records = pa.array(["|".join(row).encode() for row in rows], pa.binary()).slice(skipped)
    for rest in (False, True):
        cut = [text.decode().split("|", count - 1 if rest else -1) for text in records.to_pylist()]
        expected = [[row[at].encode() if at < len(row) else None for row in cut] for at in wanted]
        fields = split_fields(records, b"|", count, wanted, rest=rest)
        assert [field.to_pylist() for field in fields] == expected


def test_only_regular_texts_are_cut_at_once() -> None:
    records = pa.array([b"a|b|c", b"|d|", b"e||"], pa.binary())
    fields = cut_regular(records.slice(1), b"|", [0, 2])
    assert fields is not None
    assert [field.to_pylist() for field in fields] == [[b"", b"e"], [b"", b""]]
    # As many separators in all, and not the same number in each.
    assert cut_regular(pa.array([b"a||", b"b"], pa.binary()), b"|", [0]) is None
    assert cut_regular(records, b"|", [3]) is None
    assert cut_regular(pa.array([b"a|b", None], pa.binary()), b"|", [0]) is None
