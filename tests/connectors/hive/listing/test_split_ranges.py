"""Cutting splits of files."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from connectors.hive.acid.file import AcidFile, DeleteFile
from connectors.hive.handles import HiveSplit
from connectors.toolkit.storage.file_ranges import file_ranges

_HIVE = HiveSplit("f", 100, 1000, file_size=2000, modified_millis=0, format="orc", splittable=True)


@given(st.integers(1, 10_000), st.integers(1, 3000), st.integers(0, 500))
def test_ranges_cover_a_file(size: int, most: int, start: int) -> None:
    ranges = file_ranges(size, most, start)
    ends = [first + length for first, length in ranges]
    assert [first for first, _ in ranges] == [start, *ends[:-1]]
    assert ends[-1] == start + size
    assert all(0 < length <= most * 1.1 for _, length in ranges)


def test_ranges_of_files_are_cut() -> None:
    assert [(one.start, one.length) for one in _HIVE.cut(400)] == [(100, 400), (500, 400), (900, 200)]
    assert replace(_HIVE, splittable=False).cut(400) == [replace(_HIVE, splittable=False)]


def test_deletes_that_every_part_would_read_again_make_parts_larger() -> None:
    deletes = (DeleteFile("d", 5, 0, 1, 1), DeleteFile("e", 7, 0, 2, 2))
    split = replace(_HIVE, acid=AcidFile("f", 2000, 0, 0, deletes=deletes))
    assert [one.length for one in split.cut(400)] == [600, 400]
    assert [one.length for one in split.cut(700)] == [700, 300]
