"""Rows of sorted files that do not fit into memory come in order, each once, and in parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.hive.write.handles import SortedBy
from connectors.hive.write.sink import sorted_runs
from connectors.hive.write.sink.file_rows import FileKey
from connectors.hive.write.sink.sorted_runs import SortedRuns
from connectors.hive.write.sink.spill import SpilledRows

_SCHEMA = pa.schema([("n", pa.int64()), ("f", pa.float64()), ("s", pa.string())])
_ROW = st.tuples(
    st.one_of(st.none(), st.integers(-3, 3)),
    st.one_of(st.none(), st.sampled_from([0.0, 1.5, -2.0, math.nan])),
    st.one_of(st.none(), st.sampled_from(["", "a", "é", "日"])),
)
_ORDER = st.lists(
    st.tuples(st.sampled_from(_SCHEMA.names), st.booleans()), min_size=1, max_size=3, unique_by=lambda one: one[0]
)
_KEY, _OTHER = FileKey(("x",), 1), FileKey(("x",), 2)
Row = tuple[int | None, float | None, str | None]


def table(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], _SCHEMA)


def model_key(row: Row, order: Sequence[SortedBy]) -> tuple[object, ...]:
    """NULL is less than all values; NaN is greater than all, whichever way the order goes."""
    found: list[object] = []
    for one in order:
        value = row[_SCHEMA.names.index(one.column)]
        sign = 1 if one.ascending else -1
        found.append((value is not None) * sign)
        if isinstance(value, str):
            found.append([sign * (ord(letter) + 1) for letter in value] + [0] * (2 - len(value)))
        elif value is None or math.isnan(value):
            found.append((value is not None, 0.0))
        else:
            found.append((False, sign * value))
    return tuple(found)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(_ROW, min_size=1, max_size=25), min_size=1, max_size=5), _ORDER, st.integers(1, 300))
def test_runs_are_merged(chunks: list[list[Row]], columns: list[tuple[str, bool]], piece: int) -> None:
    order = tuple(SortedBy(*one) for one in columns)
    spilled = SpilledRows(_SCHEMA)
    runs = SortedRuns(spilled, order)
    with patch.object(sorted_runs, "PIECE_BYTES", piece):
        for chunk in chunks[:-1]:
            runs.put(_KEY, table(chunk))
            runs.put(_OTHER, table(chunk[:1]))
        last = runs.put_behind({_KEY: table(chunks[-1])})
        parts = list(runs.take(_KEY, last.get(_KEY)))
    found = [tuple(row.values()) for part in parts for row in part.to_pylist()]
    keys = [model_key(row, order) for row in found]
    assert keys == sorted(keys)
    assert sorted(map(repr, found)) == sorted(repr(row) for chunk in chunks for row in chunk)
    spilled.close()


def test_a_part_is_no_larger_than_a_piece_of_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_runs, "PIECE_BYTES", 2400)
    spilled = SpilledRows(_SCHEMA)
    runs = SortedRuns(spilled, (SortedBy("n", ascending=True),))
    for start in range(4):
        runs.put(_KEY, table([(n, 1.0, "abcd") for n in range(start, 4000, 4)]))
    parts = list(runs.take(_KEY, None))
    assert [n for part in parts for n in part.column("n").to_pylist()] == list(range(4000))
    assert len(parts) > 5
    assert max(part.nbytes for part in parts) < 4 * 2 * 2400
    spilled.close()
